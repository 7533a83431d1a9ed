/**
 * The whole original inventory of a follow-through job: exactly one complete effect of a known
 * kind, as plan, ledger and row agree on it, and nothing besides. Pure (C-199, C-200, C-204, C-240,
 * C-273 to C-275).
 */
import { codehostActions } from '../constants.js'
import { effectLedger, type LedgerEffect } from '../jobs/effects.js'
import type { EffectEntry } from '../jobs/histories.js'
import type { Job } from '../jobs/job-rows.js'
import type { ClosureBlocker } from './blockers.js'

/** What the one effect of a follow-through job may be. */
const followActions: readonly unknown[] = ['issue.create', 'comment.create']

/** The one effect of a follow-through job that may have happened. */
interface FollowInventory { readonly effect: LedgerEffect }

type Inventory = FollowInventory | { readonly blocked: ClosureBlocker }

/** Whether a part of a plan, whatever that is, is an object. */
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Kinds of the effects of a plan as they stand there; null where it lists none. */
const kindsOf = (plan: unknown): readonly unknown[] | null =>
  (isRecord(plan) && Array.isArray(plan['effects'])
    ? plan['effects'].map((one: unknown) => (isRecord(one) ? one['action'] : undefined)) : null)

/**
 * Whether a plan holds effects of known kinds alone, whatever became of them: what nobody knows the
 * kind of blocks, also where it was never sent.
 */
export const hasUnknownKind = (plan: unknown): boolean =>
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
