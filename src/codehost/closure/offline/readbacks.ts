/**
 * What must hold of sealed readbacks by themselves: each is as it was made, lies in the journal
 * that it names, is told by the READ history, and is of this very job and of what was sealed to be
 * sent. Nobody is contacted.
 */
import { digestOf } from '../../../base/canonical.js'
import { SallyportError } from '../../../base/errors.js'
import { readArtifact } from '../../../governance/artifacts.js'
import type { Gov } from '../../../governance/context.js'
import type { View } from '../../../state/types.js'
import { readbackPath } from '../../adapter/readback.js'
import { journalLabel } from '../../constants.js'
import { commitId } from '../../git/commit.js'
import { objectHash, type ObjectId } from '../../git/object-id.js'
import { jobEntries, readHistory } from '../../jobs/histories.js'
import { followThroughKind } from '../../jobs/kinds.js'
import { openPlan } from '../../jobs/plan.js'
import {
  openPublication, type OpenPublication, type RegisteredPost,
} from '../../jobs/publication/open.js'
import {
  isSealed, isWhole, type EffectIdentity, type ReadReceipt, type ReceiptRow,
} from '../../jobs/receipt.js'
import type { Job } from '../../jobs/job-rows.js'

/** Throws a defect for nothing: contents that are not whole give another id, or are refused. */
const blobId = (plan: OpenPublication, id: ObjectId, bytes: number): ObjectId => {
  const hash = objectHash('blob', bytes)
  for (const piece of plan.piecesOf(id)) hash.update(piece)
  return hash.id()
}

/** Every content that was sent has the id under which trees and blobs name it. */
const haveTheirIds = (plan: OpenPublication): boolean =>
  plan.manifest.files.every(([id, bytes]) => blobId(plan, id, bytes) === id)

/**
 * The id of what a POST makes; null where the host chooses a number, and for all of them where a
 * content is not what its id says. Contents are hashed once, at the first question.
 */
export const objectIdsOf = (plan: OpenPublication): ((post: RegisteredPost) => ObjectId | null) => {
  let whole: boolean | undefined
  return ({ kind, id, tree }) => {
    whole ??= haveTheirIds(plan)
    if (!whole) return ''
    if (kind === 'chunk' || kind === 'growth') return tree?.id ?? ''
    if (kind === 'commit' || kind === 'ref') return commitId(plan.draft)
    return id
  }
}

/** Where readbacks are looked at. */
export interface Rows {
  readonly gov: Pick<Gov, 'store'>
  readonly view: View
  readonly job: Job
}

/** False for what the state refuses to give out: lost, altered, or of another record. */
export const holds = (question: () => boolean): boolean => {
  try {
    return question()
  } catch (error) {
    if (error instanceof SallyportError) return false
    throw error
  }
}

/** Artifacts of the journals that the READ history of a job names, by their digest. */
export const namedJournals = ({ view, job }: Rows): ReadonlyMap<string, string> =>
  new Map(jobEntries(view, readHistory, job.job_id).flatMap(({ journals }) =>
    journals.map(({ sha256, artifact_id: id }) => [sha256, id] as const)))

/** Receipts within a sealed journal, in their order. */
export const receiptsIn = ({ gov, view }: Rows, artifactId: string): readonly ReadReceipt[] => {
  const bytes = readArtifact(gov, view, artifactId, journalLabel)
  return (JSON.parse(bytes.toString('utf8')) as { receipts: readonly ReadReceipt[] }).receipts
}

/** Every readback lies in its journal, and the READ history names journal and readback. */
export const areKept = (rows: Rows, readbacks: readonly ReceiptRow[]): boolean => {
  const told = new Set(jobEntries(rows.view, readHistory, rows.job.job_id)
    .flatMap(({ receipts, journals }) =>
      journals.flatMap(({ artifact_id: id, sha256 }) =>
        receipts.map((digest) => `${id} ${sha256} ${digest}`))))
  return readbacks.every(({ receipt, journal: { artifact_id: id, sha256 } }) =>
    told.has(`${id} ${sha256} ${receipt.readback_sha256}`)
    && receiptsIn(rows, id).some((held) => digestOf(held) === digestOf(receipt)))
}

/** Every readback is as this store sealed it. */
export const areSealed = ({ gov }: Rows, readbacks: readonly ReceiptRow[]): boolean =>
  readbacks.every((row) => isSealed(gov.store, row))

const isOfJob = (receipt: ReadReceipt, job: Job): boolean =>
  isWhole(receipt) && receipt.job_id === job.job_id && receipt.principal === job.owner
  && receipt.root === job.root
  && receipt.native_kind === job.native_kind && receipt.capability === job.capability
  && receipt.attempt === job.attempt && receipt.authority_sha256 === job.authority_sha256
  && receipt.input_sha256 === job.input_sha256 && receipt.run_sha256 === job.run_sha256
  && digestOf(receipt.write_binding) === digestOf(job.consent)
  && digestOf(receipt.vault) === digestOf(job.vault)
  && receipt.connection_id === job.connection_id && receipt.repository === job.repository
  && receipt.repository_id === job.repository_id

/** Every readback is of this very job, session, consent, credential and connection. */
export const areOfJob = ({ job }: Rows, readbacks: readonly ReadReceipt[]): boolean =>
  readbacks.every((receipt) => isOfJob(receipt, job))

const isOfIntent = ({ effect: told }: ReadReceipt, sealed: EffectIdentity): boolean =>
  told.effect_id === sealed.effect_id && told.action === sealed.action
  && told.path === sealed.path && told.body_sha256 === sealed.body_sha256
  && told.idempotency === sealed.idempotency

const areOfFollow = ({ gov, view, job }: Rows, readbacks: readonly ReadReceipt[]): boolean => {
  const plan = openPlan(gov, view, job)
  return readbacks.every((receipt) => {
    const { effect: told, get_path: path } = receipt
    const sealed = plan.effects.find(({ number }) => number === told.number)
    return sealed !== undefined && isOfIntent(receipt, sealed) && told.object_id === undefined
      && told.remote_id !== null && readbackPath(plan, sealed, told.remote_id) === path
  })
}

const areOfPublication = ({ gov, view, job }: Rows, readbacks: readonly ReadReceipt[]): boolean => {
  const plan = openPublication(gov, view, job)
  try {
    const idOf = objectIdsOf(plan)
    return readbacks.every((receipt) => {
      const { effect: told } = receipt
      const sealed = plan.posts.find(({ number }) => number === told.number)
      return sealed !== undefined && isOfIntent(receipt, sealed)
        && idOf(sealed) === (told.object_id ?? null)
    })
  } finally {
    plan.close()
  }
}

/**
 * Every readback is of what was sealed to be sent; ids of git objects are computed anew out of the
 * sealed contents, by git's own rule.
 */
export const areOfPlan = (rows: Rows, readbacks: readonly ReadReceipt[]): boolean =>
  (rows.job.native_kind === followThroughKind
    ? areOfFollow(rows, readbacks) : areOfPublication(rows, readbacks))
