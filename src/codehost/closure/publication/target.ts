/**
 * What has to be proved of a publication, and what proves it already: out of rows, the sealed plan
 * and its sealed contents. Contacts nobody (C-126, C-199, C-224 to C-226, C-249).
 */
import { SallyportError } from '../../../base/errors.js'
import { openArtifactPack } from '../../../governance/artifacts.js'
import type { Gov } from '../../../governance/context.js'
import type { View } from '../../../state/types.js'
import { publicationLabel } from '../../constants.js'
import type { LedgerEffect } from '../../jobs/effects.js'
import { effectHistory, jobEntries } from '../../jobs/histories.js'
import { bodyNames } from '../../jobs/publication/document.js'
import {
  openPublication, type OpenPublication, type RegisteredPost,
} from '../../jobs/publication/open.js'
import { provesAnother, type ReceiptRow } from '../../jobs/receipt.js'
import type { Job } from '../../jobs/job-rows.js'
import { closureBlocked, type ClosureBlocker } from '../blockers.js'
import { earlierReadbacks } from '../earlier.js'
import type { PublicationReadLimits } from '../closure-limits.js'
import type { CloseRequest } from '../../jobs/closed/request.js'
import { publicationInventory, type PublicationInventory } from './inventory.js'

/** What has to be proved. */
export interface PublicationTarget {
  readonly job: Job
  readonly inventory: PublicationInventory
  readonly publication: OpenPublication
  /** POSTs that may have left, in their order. */
  readonly posts: readonly RegisteredPost[]
  /** Those of them that have to be read now. */
  readonly unread: readonly RegisteredPost[]
  /** Sealed readbacks of before that serve for the others. */
  readonly earlier: readonly ReceiptRow[]
  /** The number of the pull request: recorded, or else given; null where none was contacted. */
  readonly pullNumber: number | null
}

const isMissing = (error: SallyportError): boolean =>
  error.kind === 'not_found' || [error, error.cause].some((one) =>
    one instanceof SallyportError && one.code === 'evidence_missing')

/** Throws `blocked` `closure_blocked` for what is wrong with the sealed bytes. */
const orBlocked = <T>({ job_id: jobId }: Job, work: () => T): T => {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    throw closureBlocked(
      isMissing(error) ? 'prepared_bytes_missing' : 'prepared_bytes_altered', jobId, error)
  }
}

/** The plan as it lies there, whatever it says. */
const rawPlan = (gov: Pick<Gov, 'store'>, view: View, job: Job): unknown => {
  const pack = openArtifactPack(gov, view, job.plan.artifact_id, publicationLabel)
  try {
    return JSON.parse(pack.read(bodyNames.plan).toString('utf8'))
  } finally {
    pack.close()
  }
}

/** The inventory. Throws `blocked` `closure_blocked`. */
export const inventoryOf = (
  gov: Pick<Gov, 'store'>, view: View, job: Job,
): PublicationInventory => {
  const plan = orBlocked(job, () => rawPlan(gov, view, job))
  const found = publicationInventory(job, plan, jobEntries(view, effectHistory, job.job_id))
  if ('blocked' in found) throw closureBlocked(found.blocked, job.job_id)
  return found
}

const exceeded = (
  { changes }: OpenPublication, limits: PublicationReadLimits,
): ClosureBlocker | null => {
  const bytes = changes.map((change) => change.bytes)
  if (changes.length > limits.filesMax) return 'files_exceeded'
  if (bytes.some((one) => one > limits.fileBytesMax)) return 'file_bytes_exceeded'
  return bytes.reduce((sum, one) => sum + one, 0) > limits.filesBytesMax
    ? 'files_bytes_exceeded' : null
}

const pullNumberOf = (
  view: View, job: Job, pull: RegisteredPost | undefined, recorded: LedgerEffect | undefined,
  hint: number | undefined,
): number | null => {
  if (pull === undefined) return null
  const known = recorded?.remoteId ?? null
  if (known !== null && hint !== undefined && hint !== known) {
    throw closureBlocked('pr_number_differs', job.job_id)
  }
  const number = known ?? hint
  if (number === undefined) throw closureBlocked('remote_id_required', job.job_id)
  if (provesAnother(view, job, [{ action: pull.action, remote_id: number }])) {
    throw closureBlocked('remote_taken', job.job_id)
  }
  return number
}

/** What an earlier readback serves for; of a pull request none tells of the changed paths. */
const earlierOf = (
  gov: Pick<Gov, 'store'>, view: View, job: Job, posts: readonly RegisteredPost[],
): ReadonlyMap<number, ReceiptRow> => {
  const find = earlierReadbacks(gov, view, job)
  return new Map(posts.flatMap((post): [number, ReceiptRow][] => {
    if (post.id === null) return []
    const found = find({ effect: post, remoteId: null, objectId: post.id })
    return found === null ? [] : [[post.number, found]]
  }))
}

const targetOf = (
  gov: Pick<Gov, 'store'>, view: View, job: Job, publication: OpenPublication,
  inventory: PublicationInventory, request: CloseRequest,
): PublicationTarget => {
  const { pr_number: pull, remote_commit_id: commit } = request
  if (commit !== undefined && commit !== publication.commit) {
    throw closureBlocked('remote_commit_differs', job.job_id)
  }
  const { contacted } = inventory
  const posts = publication.posts.slice(0, contacted.length)
  const pullPost = posts.find(({ kind }) => kind === 'pull_request')
  const pullNumber = pullNumberOf(
    view, job, pullPost, contacted.find(({ number }) => number === pullPost?.number), pull)
  const earlier = earlierOf(gov, view, job, posts)
  return {
    job, inventory, publication, posts, pullNumber, earlier: [...earlier.values()],
    unread: posts.filter(({ number }) => !earlier.has(number)),
  }
}

/**
 * What has to be proved; whoever has it closes its publication. Throws `blocked` `closure_blocked`
 * for what no read can prove.
 */
export const publicationTarget = (
  gov: Pick<Gov, 'store'>, view: View, job: Job, inventory: PublicationInventory,
  request: CloseRequest, limits: PublicationReadLimits,
): PublicationTarget => {
  const publication = orBlocked(job, () => openPublication(gov, view, job))
  try {
    const over = exceeded(publication, limits)
    if (over !== null) throw closureBlocked(over, job.job_id)
    orBlocked(job, () => publication.verify())
    return targetOf(gov, view, job, publication, inventory, request)
  } catch (error) {
    publication.close()
    throw error
  }
}
