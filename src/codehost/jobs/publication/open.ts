/**
 * Opens the sealed plan of a publication. Everything in it is computed anew by the rules that made
 * it and compared with what was registered, before anything is sent: base, changes, every POST, the
 * ids that the host must answer with, and what the producer is given. Contents stay sealed until
 * they are asked for, one piece at a time.
 */
import { createHash } from 'node:crypto'
import { canonicalJson, sha256Hex } from '../../../base/canonical.js'
import { fail, SallyportError } from '../../../base/errors.js'
import { openArtifactPack, requireArtifact } from '../../../governance/artifacts.js'
import type { Gov } from '../../../governance/context.js'
import { historyPage } from '../../../state/history/read-history.js'
import type { PackReader, View } from '../../../state/types.js'
import { publicationLabel, sourceLabel } from '../../constants.js'
import type { CommitDraft } from '../../git/commit.js'
import type { ObjectId } from '../../git/object-id.js'
import { GitTree, treeOfListing } from '../../git/tree.js'
import { bodyPieces } from '../../plan/body.js'
import type { Change } from '../../plan/changes.js'
import { postsOf, type PlannedPost } from '../../plan/posts.js'
import { manifestBytes, manifestOf, type ProducerManifest } from '../../producer/manifest.js'
import { repositoryOf } from '../../repository.js'
import type { SourceMark } from '../../source/marks.js'
import { isWholeAuthority } from '../digests.js'
import { effectHistory } from '../histories.js'
import type { Job } from '../job-rows.js'
import {
  bodyNames, documentOf, listingOfBytes, type PlannedProducer, type PublicationDocument,
} from './document.js'

/** One POST with what was registered for it. */
export interface RegisteredPost extends PlannedPost {
  /** SHA-256 of its whole body. */
  readonly body_sha256: string
  /** Made once for this effect; it tells two effects of the same bytes apart. */
  readonly idempotency: string
  readonly effect_id: string
}

/** An open plan; close it when done. */
export interface OpenPublication {
  /** Base of the host's addresses, without a slash at its end. */
  readonly host: string
  /** `OWNER/NAME`. */
  readonly repository: string
  readonly base: {
    readonly branch: string
    readonly commit: ObjectId
    readonly tree: GitTree
  }
  readonly branch: string
  readonly title: string
  readonly body: string
  /** The commit that is made: people, message, final tree, and the base as its one parent. */
  readonly draft: CommitDraft
  /** How many files the folder had. */
  readonly files: number
  readonly changes: readonly Change[]
  readonly marks: ReadonlyMap<string, readonly SourceMark[]>
  /** In the order in which they are sent. */
  readonly posts: readonly RegisteredPost[]
  /** The final tree, and the id of the commit that will hold it. */
  readonly tree: GitTree
  readonly commit: ObjectId
  readonly producer: PlannedProducer
  readonly manifest: ProducerManifest
  /** The contents of a changed file by the id of its blob. */
  piecesOf(id: ObjectId): Iterable<Buffer>
  /** The bytes of a POST in pieces; throws at the end where they are not the registered ones. */
  bodyPieces(post: RegisteredPost): AsyncGenerator<Buffer>
  /** The bytes of a POST; throws where they are not the registered ones. */
  bodyOf(post: RegisteredPost): Promise<Buffer>
  /**
   * Opens every content once and compares it with its digest; the bodies follow from these and from
   * what was computed anew.
   */
  verify(): void
  close(): void
}

/** `damaged` `plan_altered`. */
const altered = (cause?: unknown): SallyportError =>
  fail.damaged('plan_altered', 'The sealed plan of a job is not its own.', {
    next: 'Run `sallyport state check`.', cause,
  })

/** What damage of a sealed file, and every refusal of a rule, is here: the plan is not its own. */
const orAltered = <T>(work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof SallyportError) || error.kind === 'blocked') throw error
    throw error.code === 'plan_altered' ? error : altered(error)
  }
}

/** The plan's own bytes: of this very job, as its ledger registered them. */
const loaded = (gov: Pick<Gov, 'store'>, view: View, job: Job) => {
  const [first] = historyPage(view, effectHistory, job.job_id, { after: 0, limit: 1 })
  const registered = first?.entry.type === 'plan' ? first.entry : null
  const { ref } = requireArtifact(view, job.plan.artifact_id)
  const named = [registered?.sha256, ref.sha256].every((one) => one === job.plan.sha256)
    && registered?.artifact_id === job.plan.artifact_id
    && registered.authority_sha256 === job.authority_sha256
    && isWholeAuthority(job)
    && registered.effects === job.plan.effects
  if (!named) throw altered()
  const pack = openArtifactPack(gov, view, job.plan.artifact_id, publicationLabel)
  try {
    const document = documentOf(pack.read(bodyNames.plan))
    const listing = listingOfBytes(pack.read(bodyNames.base))
    if (document === null || listing === null) throw altered()
    return { document, listing }
  } finally {
    pack.close()
  }
}

type Loaded = ReturnType<typeof loaded>

const changesOf = ({ changes }: PublicationDocument, base: GitTree): readonly Change[] =>
  changes.map(([path, mode, id, bytes, text, jsonBytes]) => {
    const there = base.at(path)
    const before = there === undefined || there instanceof GitTree ? null : there
    return { path, mode, id, bytes, text, jsonBytes, before }
  })

/** The POSTs by today's rules, each with its registration; throws where one differs. */
const registeredPosts = (
  planned: readonly PlannedPost[], { posts }: PublicationDocument,
): readonly RegisteredPost[] => {
  if (planned.length !== posts.length) throw altered()
  return planned.map((post, at) => {
    const one = posts[at]
    const same = one !== undefined && one.number === post.number && one.action === post.action
      && one.path === post.path && one.id === post.id && one.bytes === post.bytes
    if (!same) throw altered()
    const { body_sha256, idempotency, effect_id } = one
    return { ...post, body_sha256, idempotency, effect_id }
  })
}

/** Everything that follows from the plan's own bytes, compared with what it says of itself. */
const recomputed = (job: Job, { document, listing }: Loaded) => {
  const { base, branch, title, body, people, message } = document
  const tree = treeOfListing(base.tree, listing.map(([path, mode, id]) => ({ path, mode, id })))
  const changes = changesOf(document, tree)
  const planned = postsOf({
    repository: repositoryOf(document.repository), base: { ...base, tree }, changes, branch, title,
    body, commit: { ...people, message },
  })
  const posts = registeredPosts(planned, document)
  const final = posts.findLast(({ tree: made }) => made !== null)?.tree ?? tree
  const commit = posts.find(({ kind }) => kind === 'commit')?.id ?? ''
  const draft = { ...people, message, tree: final.id, parents: [base.commit] }
  const manifest = manifestOf({ changes, posts, tree: final, commit }, tree, draft)
  const own = document.job_id === job.job_id && document.repository === job.repository
    && posts.length === job.plan.effects && final.id === document.tree
    && commit === document.commit
    && sha256Hex(manifestBytes(manifest)) === document.producer.manifest_sha256
  if (!own) throw altered()
  return { base: { ...base, tree }, changes, posts, tree: final, commit, draft, manifest }
}

/** The contents: the very pack that the plan names, with a body for every file that is sent. */
const openContents = (
  gov: Pick<Gov, 'store'>, view: View, { contents }: PublicationDocument,
  { files }: ProducerManifest,
): PackReader => {
  const { artifact_id: id, ...named } = contents
  if (canonicalJson(requireArtifact(view, id).ref) !== canonicalJson(named)) throw altered()
  const pack = openArtifactPack(gov, view, id, sourceLabel)
  const bodies = new Map(pack.bodies.map(({ name, bytes }) => [name, bytes]))
  if (files.every(([blob, bytes]) => bodies.get(blob) === bytes)) return pack
  pack.close()
  throw altered()
}

const contentsOf = function* (pack: PackReader, id: ObjectId): Generator<Buffer> {
  const chunks = orAltered(() => pack.chunks(id))
  for (;;) {
    const next = orAltered(() => chunks.next())
    if (next.done === true) return
    yield next.value
  }
}

/** Bodies out of sealed pieces, each compared with its digest. */
const bodiesOf = (pack: PackReader, changes: readonly Change[]) => {
  const piecesOf = (id: ObjectId): Iterable<Buffer> => contentsOf(pack, id)
  const pieces = async function* (post: RegisteredPost): AsyncGenerator<Buffer> {
    const digest = createHash('sha256')
    for await (const piece of bodyPieces(post, (at) => piecesOf(changes[at]?.id ?? ''))) {
      digest.update(piece)
      yield piece
    }
    if (digest.digest('hex') !== post.body_sha256) throw altered()
  }
  const bodyOf = async (post: RegisteredPost): Promise<Buffer> => {
    const all: Buffer[] = []
    for await (const piece of pieces(post)) all.push(piece)
    return Buffer.concat(all)
  }
  return { piecesOf, bodyPieces: pieces, bodyOf }
}

/**
 * Opens the plan of a publication. Throws `damaged` `plan_altered` where anything in it is not what
 * was registered, `blocked` `evidence_missing` where its file is gone; nothing is sent, shown or
 * approved without it.
 */
export const openPublication = (
  gov: Pick<Gov, 'store'>, view: View, job: Job,
): OpenPublication => orAltered(() => {
  const parts = loaded(gov, view, job)
  const { document } = parts
  const made = recomputed(job, parts)
  const contents = openContents(gov, view, document, made.manifest)
  const bodies = bodiesOf(contents, made.changes)
  const { host, repository, branch, title, body, files, producer } = document
  return {
    host, repository, branch, title, body, files, producer, ...made, ...bodies,
    marks: new Map(document.marks),
    verify: () => orAltered(() => contents.verify()),
    close: () => contents.close(),
  }
})
