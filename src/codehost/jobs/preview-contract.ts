/** A preview as a document: what will be public, and everything that an approval names. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, nullableText, text } from '../../base/schema.js'
import { codehostActions } from '../constants.js'
import { hostPath, repositoryOf } from '../repository.js'
import { sourceMarks } from '../source/marks.js'
import { consentDocument } from './jobs-contract.js'
import type { FollowPlan } from './plan.js'
import type { Preview } from './preview.js'
import type { PublicationDiff } from './publication/diff.js'
import type { ShownPublication } from './publication/shown.js'
import { jobStates } from './job-rows.js'

const number = v.number()
const texts = v.array(text)
const file = v.strictObject({ path: text, sha256: text })
const program = v.strictObject({ path: text, version: text, sha256: text })
const variables = v.record(v.string(), v.string())

const effectShape = v.strictObject({
  number, action: v.picklist(codehostActions), method: v.literal('POST'), path: text,
  body_bytes: number, body_sha256: text,
  /** Null where the host chooses a number. */
  predicted_id: nullableText,
  /** Of a publication: what it makes, and how many files it names or carries. */
  kind: nullableText, files: number,
})

const changeShape = v.strictObject({
  what: v.picklist(['new', 'changed', 'mode']),
  path: text, mode: text, id: text, bytes: number, text: v.boolean(),
  /** What the base has there; null for a new file. */
  mode_before: nullableText, id_before: nullableText,
  /** Why a person should look at it. */
  marks: v.array(v.picklist(sourceMarks)),
})

const publicationShape = v.strictObject({
  base: v.strictObject({ branch: text, commit: text, tree: text }),
  branch: text,
  /** Predicted ids of the commit that the branch will have, and of its tree. */
  commit: text, tree: text,
  author: text, message: text,
  files: v.strictObject({ in_folder: number, new: number, changed: number, bytes: number }),
  changes: v.array(changeShape),
  /** What makes the objects on this machine once before anything is sent. */
  producer: v.strictObject({
    helper: file, node: program, git: program, addon: file,
    arguments: v.strictObject({ blobs: texts, trees: texts, commit: texts }),
    environment: v.strictObject({ supervisor: variables, git: variables }),
    manifest_sha256: text,
  }),
  /** With `--diff`: what changes on the base, as a patch, and what it took to tell. */
  diff: v.nullable(v.strictObject({ patch: text, gets: number, left_out: number })),
})

/** Shape of a preview, for documents that hold one. */
export const previewShape = v.strictObject({
  job: text,
  state: v.picklist(jobStates),
  connection: text,
  host: text,
  repository: text,
  /** The original consent, the session and the revision that it rests on. */
  consent: v.strictObject({ id: text, revision: number, expires_at: text }),
  root: text,
  /** What `approve` names. */
  digest: text,
  /** Every POST in order; nothing else is sent but the reads. */
  effects: v.array(effectShape),
  gets: texts,
  posts: number,
  bytes: number,
  /** What it takes at least, and what is left of what it rests on. */
  needed_ms: number,
  consent_left_ms: number,
  session_left_ms: number,
  /** Of an issue or a pull request. */
  title: nullableText,
  text,
  issue: v.nullable(number),
  /** Whose the token is; null where the host does not tell, and who made it proves nothing. */
  author: v.nullable(v.strictObject({ id: number, via_app: v.boolean() })),
  /** The nonce in the last line of its text; null where it has none. */
  mark: nullableText,
  /** Null for an issue or a comment. */
  publication: v.nullable(publicationShape),
})
/** A preview as a document; it shows what will be public. */
export type PreviewDocument = v.InferOutput<typeof previewShape>
/** What it shows of a publication. */
export type PublicationDocument = NonNullable<PreviewDocument['publication']>

type Effects = PreviewDocument['effects']

const followEffects = (plan: FollowPlan): Effects =>
  plan.effects.map(({ number: at, action, path, body, body_sha256 }) => ({
    number: at, action, method: 'POST', path, body_bytes: Buffer.byteLength(body), body_sha256,
    predicted_id: null, kind: null, files: 0,
  }))

const followGets = (plan: FollowPlan): string[] => {
  const repository = repositoryOf(plan.repository)
  const target = plan.issue === null ? [] : [hostPath.issue(repository, plan.issue)]
  return [hostPath.repository(repository), ...target, ...plan.effects.map(({ action }) =>
    `${action === 'issue.create' ? hostPath.issues(repository)
      : `${hostPath.issues(repository)}/comments`}/N`)]
}

const publicationEffects = ({ posts }: ShownPublication): Effects =>
  posts.map(({ number: at, kind, action, path, id, files, bytes, body_sha256 }) => ({
    number: at, action, method: 'POST', path, body_bytes: bytes, body_sha256, predicted_id: id,
    kind, files,
  }))

const publicationDocument = (
  shown: ShownPublication, diff: PublicationDiff | null,
): PublicationDocument => {
  const { base, branch, commit, tree, author, message, changes, files, producer } = shown
  const isNew = changes.filter(({ what }) => what === 'new').length
  return {
    base: { ...base }, branch, commit, tree, author, message,
    files: {
      in_folder: files, new: isNew, changed: changes.length - isNew,
      bytes: changes.reduce((sum, { bytes }) => sum + bytes, 0),
    },
    changes: changes.map(({ what, path, mode, id, bytes, text: isText, before, marks }) => ({
      what, path, mode, id, bytes, text: isText, mode_before: before?.mode ?? null,
      id_before: before?.id ?? null, marks: [...marks],
    })),
    producer,
    diff: diff === null ? null
      : { patch: diff.patch, gets: diff.gets, left_out: diff.leftOut },
  }
}

/** What is previewed, with its diff where one was asked for. */
interface PreviewAnswer extends Preview { readonly diff: PublicationDiff | null }

const wantedOf = ({ plan, publication }: Preview) => {
  const one = publication ?? plan
  if (one === null) throw new TypeError('a preview is of one plan')
  return one
}

const textsOf = ({ plan, publication }: Preview) => ({
  title: publication?.title ?? plan?.title ?? null,
  text: publication?.body ?? plan?.text ?? '', issue: plan?.issue ?? null,
})

export const previewDocument = (preview: PreviewAnswer): PreviewDocument => {
  const { job, plan, publication, time, diff } = preview
  const { host, repository } = wantedOf(preview)
  const effects = publication === null
    ? (plan === null ? [] : followEffects(plan)) : publicationEffects(publication)
  const gets = publication === null ? (plan === null ? [] : followGets(plan)) : publication.gets
  return {
    job: job.job_id, state: job.state, connection: job.connection_id, host, repository,
    consent: consentDocument(job), root: job.root, digest: job.preview_sha256, effects,
    gets: [...gets], posts: effects.length,
    bytes: effects.reduce((sum, { body_bytes: of }) => sum + of, 0),
    needed_ms: time.neededMs, consent_left_ms: time.consentLeftMs,
    session_left_ms: time.sessionLeftMs, ...textsOf(preview), author: job.author ?? null,
    mark: job.mark ?? null,
    publication: publication === null ? null : publicationDocument(publication, diff),
  }
}

/** Looking at what a job will send. */
export const codehostPreview = contract({
  name: 'codehost.preview', output: previewShape, toDocument: previewDocument,
  input: closedObject({ job: text, diff: v.optional(v.boolean()) }),
})
