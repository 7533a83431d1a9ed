/** What goes in and comes out of `codehost publish`. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, nullableText, text } from '../../base/schema.js'
import type { Gov } from '../../governance/context.js'
import { orUndefined } from '../../governance/judge/fact.js'
import { codehostBase } from '../context.js'
import { hostPath, repositoryOf } from '../repository.js'
import { jobDocument, jobShape } from './jobs-contract.js'
import { previewDocument, previewShape } from './preview-contract.js'
import type { Preview } from './preview.js'
import { openPublication } from './publication/open.js'
import type { Job } from './job-rows.js'
import { onItsWay, type JobOnItsWay } from './next-step-now.js'

/** The public host has its pages under another name; one of one's own has them beside `/api/v3`. */
const pagesOf = (base: string): string => {
  const { protocol, host, pathname } = new URL(base)
  if (host === 'api.github.com') return 'https://github.com'
  return `${protocol}//${host}${pathname.replace(/\/(?:api\/v3\/?)?$/, '')}`
}

/** Address of the page of a pull request; `base` is the host's, as the sealed profile has it. */
export const pullAddress = (base: string, repository: string, number: number): string => {
  const [, , owner, name, , pull] = hostPath.pull(repositoryOf(repository), number).split('/')
  return `${pagesOf(base)}/${owner}/${name}/pull/${pull}`
}

const { state, reason, connection, repository, effects, way_on: nextStep } = jobShape.entries

const publishShape = v.strictObject({
  job: text,
  /** What an approval names. */
  digest: text,
  state, reason, connection, repository,
  /** The branch that it makes; null where its plan is not kept any more. */
  branch: nullableText,
  effects,
  /** Null until the host has numbered it. */
  pull_request: v.nullable(v.strictObject({ number: v.number(), url: text })),
  /** The readback that proved it; null until one did. */
  receipt: nullableText,
  way_on: nextStep,
  /** With `--prepare`, where it waits for an approval: everything that this stands for. */
  preview: v.nullable(previewShape),
})
/** A publication on its way, or at its end. */
export type PublishDocument = v.InferOutput<typeof publishShape>

/** A publication with what is told of it beside its row. */
export interface Published extends JobOnItsWay {
  readonly branch: string | null
  /** Address of its pull request; null without a number. */
  readonly url: string | null
  readonly preview: Preview | null
}

const branchOf = (gov: Gov, job: Job): string | null => orUndefined(() => {
  const open = openPublication(gov, gov.store.read(), job)
  open.close()
  return open.branch
}) ?? null

/** The same of a job as it is now. */
export const publishedNow = (gov: Gov, job: Job, preview: Preview | null = null): Published => ({
  ...onItsWay(gov, gov.store.read(), job), preview, branch: branchOf(gov, job),
  url: job.remote === null ? null
    : pullAddress(codehostBase(gov), job.repository, job.remote.id),
})

const publishDocument = ({ job, way, branch, url, preview }: Published): PublishDocument => {
  const of = jobDocument(job, way)
  return {
    job: of.id, digest: of.preview_digest, state: of.state, reason: of.reason,
    connection: of.connection, repository: of.repository, branch, effects: of.effects,
    pull_request: of.remote_id === null || url === null ? null : { number: of.remote_id, url },
    receipt: of.receipt, way_on: of.way_on,
    preview: preview === null ? null : previewDocument({ ...preview, diff: null }),
  }
}

/** From a folder to a pull request, or one half of that way. */
export const codehostPublish = contract({
  name: 'codehost.publish', output: publishShape, toDocument: publishDocument,
  input: closedObject({
    /** The folder, or with `preview_digest` the job. */
    target: text,
    prepare: v.optional(v.boolean()),
    preview_digest: v.optional(text),
    connection: v.optional(text),
    base: v.optional(text),
    branch: v.optional(text),
    title: v.optional(text),
    body: v.optional(text),
    author: v.optional(text),
    message: v.optional(text),
    mark: v.optional(v.boolean()),
    goal: v.optional(text),
    idempotency_key: v.optional(text),
  }),
})
