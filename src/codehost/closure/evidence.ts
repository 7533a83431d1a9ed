/**
 * Evidence for every effect of a follow-through job that may have happened: a protected read of
 * now, or an earlier sealed readback of the very same serialized intent. Nothing is written here
 * (C-021, C-154, C-192, C-241, C-242).
 */
import { digestOf } from '../../base/canonical.js'
import { SallyportError } from '../../base/errors.js'
import { readArtifact } from '../../governance/artifacts.js'
import type { Gov } from '../../governance/context.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import type { Contact, HostWindow } from '../adapter/host-time.js'
import type { Provenance } from '../adapter/provenance.js'
import { readbackOf } from '../adapter/readback.js'
import { codehostActions, planLabel } from '../constants.js'
import type { CloseRequest } from '../jobs/closed/request.js'
import { effectLedger, type LedgerEffect } from '../jobs/effects.js'
import { effectHistory, jobEntries, type EffectEntry } from '../jobs/histories.js'
import { ledgerOf, provenanceOf } from '../jobs/ledger.js'
import { effectOf, openPlan, type FollowPlan, type PlannedEffect } from '../jobs/plan.js'
import { mintReceipt, provesAnother, type ReadReceipt, type ReceiptRow } from '../jobs/receipt.js'
import { jobCollection, jobsByState, type Job, type JobState } from '../jobs/rows.js'
import { closureBlocked, type ClosureBlocker } from './blockers.js'
import { earlierReadbacks } from './earlier.js'
import type { ClosureGet } from './get.js'
import type { ChangedPaths } from './publication/changed-paths.js'
import { blockerOf } from './readback.js'
import { requireSameRepository } from './same-repository.js'

// The whole original inventory of a follow-through job: exactly one complete effect of a known
// kind, as plan, ledger and row agree on it, and nothing besides. Pure (C-199, C-200, C-204,
// C-240, C-273 to C-275).

/** What the one effect of a follow-through job may be. */
const followActions: readonly unknown[] = ['issue.create', 'comment.create']

/** The one effect of a follow-through job that may have happened. */
interface FollowInventory {
  readonly effect: LedgerEffect
}

type Inventory = FollowInventory | { readonly blocked: ClosureBlocker }

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Kinds of the effects of a plan as they stand there; null where it lists none. */
const kindsOf = (plan: unknown): readonly unknown[] | null =>
  (isRecord(plan) && Array.isArray(plan['effects'])
    ? plan['effects'].map((one: unknown) => (isRecord(one) ? one['action'] : undefined)) : null)

/**
 * Whether a plan holds effects of known kinds alone, whatever became of them: what nobody knows the
 * kind of blocks, also where it was never sent.
 */
const hasUnknownKind = (plan: unknown): boolean =>
  kindsOf(plan)?.some((kind) => !(codehostActions as readonly unknown[]).includes(kind)) ?? false

const namesOther = (entry: EffectEntry, planned: number): boolean =>
  'effect' in entry && entry.effect > planned

/** The inventory of a follow-through job, out of plan (as it lies there), ledger and row. */
export const followInventory = (
  job: Pick<Job, 'contacted' | 'created' | 'plan'>, plan: unknown, entries: readonly EffectEntry[],
): Inventory => {
  if (hasUnknownKind(plan)) return { blocked: 'effect_kind_unknown' }
  const kinds = kindsOf(plan)
  const ledger = effectLedger(entries)
  const planned = ledger.plan?.effects ?? 0
  if (entries.some((entry) => namesOther(entry, planned))) return { blocked: 'unidentified_intent' }
  // A fixed kind without local work; a line that tells of some is not its own.
  if (ledger.producer !== null) return { blocked: 'producer_unproved' }
  const [effect] = ledger.effects
  const agrees = kinds?.length === 1 && followActions.includes(kinds[0])
    && planned === 1 && job.plan.effects === 1 && ledger.plan?.sha256 === job.plan.sha256
    && ledger.contacted === job.contacted && ledger.created === job.created
  if (!agrees || effect === undefined) return { blocked: 'inventory_incomplete' }
  // A mark without an outcome, or none: not one complete effect.
  const complete = effect.standing !== 'planned' && effect.standing !== 'contacted'
  return complete ? { effect } : { blocked: 'inventory_incomplete' }
}

// Whether another job sent the same text to the same place by the same account within the moments
// of one: time and author tell them apart then no more, and a number that a person found may be
// of either. A mark does. Pure, out of rows of one view.

/** States in which an effect that may have happened has no number and no proof. */
const openStates: readonly JobState[] = ['running', 'unknown_external_effect', 'blocked', 'failed']

const saysTheSame = (one: Job, other: Job): boolean => one.job_id !== other.job_id
  && other.closed === null && other.contacted > 0 && one.repository_id === other.repository_id
  && one.native_kind === other.native_kind && one.input_sha256 === other.input_sha256
  && digestOf(one.author ?? null) === digestOf(other.author ?? null)

/** Of it nobody knows whether it happened, nor under which number. */
const isOpen = ({ standing, remoteId }: LedgerEffect): boolean =>
  remoteId === null && (standing === 'unknown' || standing === 'contacted')

const overlap = (one: HostWindow | null, other: HostWindow | null): boolean =>
  one === null || other === null || (one.fromMs <= other.toMs && other.fromMs <= one.toMs)

/** Whether a follow-through job that was sent in this contact is one of several of one text. */
const isRepeated = (
  view: View, job: Job, contact: Contact | null,
): boolean => {
  // One that was closed has its number by its proof.
  if (job.mark !== undefined || job.closed !== null) return false
  const { window } = provenanceOf(job, contact)
  return openStates.flatMap((state) =>
    rowsUnder(view, jobCollection, jobsByState, { under: [state] }))
    .filter(({ doc }) => saysTheSame(job, doc))
    .some(({ doc }) => ledgerOf(view, doc.job_id).effects.some((effect) => isOpen(effect)
      && overlap(window, provenanceOf(doc, effect.contact).window)))
}

/** What has to be proved of a follow-through job. */
interface FollowTarget {
  readonly job: Job
  readonly plan: FollowPlan
  readonly effect: PlannedEffect
  /** The host's number: recorded, or else given as a hint. */
  readonly remoteId: number
  readonly provenance: Provenance
  /** A sealed readback of before, which serves in place of a read. */
  readonly earlier: ReceiptRow | null
}

/** What proves it. */
export interface Evidence {
  /** Of this closure. */
  readonly receipts: readonly ReadReceipt[]
  /** Of earlier operations. */
  readonly earlier: readonly ReceiptRow[]
  /** Of a pull request: what its pages of changed paths were. */
  readonly changedPaths?: ChangedPaths
}

/** The plan as it lies there, whatever it says. */
const rawPlan = (gov: Pick<Gov, 'store'>, view: View, job: Job): unknown => {
  try {
    const bytes = readArtifact(gov, view, job.plan.artifact_id, planLabel)
    return JSON.parse(bytes.toString('utf8')) as unknown
  } catch (error) {
    const missing = error instanceof SallyportError
      && (error.kind === 'not_found' || error.code === 'evidence_missing')
    throw closureBlocked(
      missing ? 'prepared_bytes_missing' : 'prepared_bytes_altered', job.job_id, error)
  }
}

const openedPlan = (gov: Pick<Gov, 'store'>, view: View, job: Job): FollowPlan => {
  const raw = rawPlan(gov, view, job)
  if (hasUnknownKind(raw)) throw closureBlocked('effect_kind_unknown', job.job_id)
  try {
    return openPlan(gov, view, job)
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    throw closureBlocked('prepared_bytes_altered', job.job_id, error)
  }
}

/**
 * What has to be proved, out of rows and sealed content. Throws `blocked` `closure_blocked` for
 * what no read can prove.
 */
export const followTarget = (
  gov: Pick<Gov, 'store'>, view: View, job: Job, { remote_id: hint }: CloseRequest,
): FollowTarget => {
  const plan = openedPlan(gov, view, job)
  const inventory = followInventory(job, plan, jobEntries(view, effectHistory, job.job_id))
  if ('blocked' in inventory) throw closureBlocked(inventory.blocked, job.job_id)
  const { number, remoteId: recorded, contact } = inventory.effect
  const effect = effectOf(plan, number)
  if (recorded !== null && hint !== undefined && hint !== recorded) {
    throw closureBlocked('remote_id_differs', job.job_id)
  }
  const remoteId = recorded ?? hint
  if (remoteId === undefined) throw closureBlocked('remote_id_required', job.job_id)
  if (provesAnother(view, job, [{ action: effect.action, remote_id: remoteId }])) {
    throw closureBlocked('remote_taken', job.job_id)
  }
  if (recorded === null && isRepeated(view, job, contact)) {
    throw closureBlocked('effect_repeated', job.job_id)
  }
  return {
    job, plan, effect, remoteId, provenance: provenanceOf(job, contact),
    earlier: earlierReadbacks(gov, view, job)({ effect, remoteId }),
  }
}

/** Reads the evidence; `view` gives rows of the moment at which a receipt is made. */
export const readFollow = async (
  gov: Gov, { job, plan, effect, remoteId, provenance }: FollowTarget, get: ClosureGet,
  readRevision: number,
): Promise<Evidence> => {
  await requireSameRepository(get, job)
  const at = readbackOf(plan, effect, remoteId, provenance)
  const verdict = await get(at.path, at.judge)
  if (verdict.kind === 'no_evidence') {
    throw closureBlocked(blockerOf[verdict.reason], job.job_id, undefined, verdict.back)
  }
  const receipt = mintReceipt(gov, gov.store.read(), job, {
    effect, remoteId, path: at.path, verdict, readRevision,
  })
  return { receipts: [receipt], earlier: [] }
}
