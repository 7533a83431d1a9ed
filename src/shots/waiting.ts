/**
 * What of the images goes on only when a person acts. One rule for the page and for reports, so
 * that one never says that nothing waits where the other tells of something.
 */
import { overspentBy } from '../observations/budget.js'
import type { View } from '../state/types.js'
import {
  blockedAnywhere, blockedNext, groupsOf, isNobodysMatter, reasonGone,
} from './analysis/blocked.js'
import { keptNow } from './analysis/restore.js'
import { notRecorded, ReasonCounts } from './analysis/reason-counts.js'
import { dayStatus } from './budget.js'
import type { ShotsContext } from './context.js'
import { disputedOf, undisputed, type Disputed } from './disputed.js'
import { gateTextOf, routeStatusOf } from './gates.js'
import { classificationNow, currentFacts, type CurrentFacts } from './observations/as-of-now.js'
import { findObservations } from './observations/find.js'
import type { CountKey, Observation } from './observations/observation-rows.js'
import { savedSettings, type SavedShotSettings } from './source/settings.js'

/** What a person does about images that failed. */
const retryNext = 'One more request for each, which costs again: '
  + '`sallyport shots reanalyze --failed --reason provider_failure_retry`.'

/** No folder can be told, and so none of its images is sent. */
const folderNext = 'Name their folder first: `sallyport shots setup --folder DIR`.'

/** What is told of images that failed. */
interface FailedNext {
  readonly next: string
  readonly needsPerson: boolean
}

/**
 * What a person does about failed images: only those of the folder in force and captures that may
 * leave are sent again. Of any other what was analysed stays, and they wait for nobody.
 */
export const failedNext = (
  ctx: ShotsContext, view: View, { folderDigest }: CurrentFacts = currentFacts(ctx, view),
): ((row: Pick<Observation, 'root_digest' | 'edge'>) => FailedNext) => {
  const standing = routeStatusOf(ctx, view)
  return (row) => {
    const kept = keptNow(view, standing, row)
    if (kept !== null) return { next: blockedNext(kept, undisputed), needsPerson: false }
    if (folderDigest === null) return { next: folderNext, needsPerson: true }
    return row.edge !== undefined || row.root_digest === folderDigest
      ? { next: retryNext, needsPerson: true } : {
        next: 'Their folder is not in force; what was analysed of them stays.', needsPerson: false,
      }
  }
}

/** What a person has switched off waits for nobody; what was never set does. */
export const isSwitchedOff = (
  reason: string, { analysis, cloud_upload: upload }: SavedShotSettings,
): boolean => (reason === 'analysis_off' && analysis === 'off')
  || (reason === 'cloud_upload_off' && upload === 'off')

/** Whether images that are blocked so go on only when a person acts. */
type WaitsForPerson = (reason: string) => boolean

/** The rule as of a view: the day of a budget moves on by itself, and a pass takes up the rest. */
export const waitsForPerson = (
  ctx: ShotsContext, view: View, disputed: Disputed = disputedOf(ctx, view),
): WaitsForPerson => {
  const saved = savedSettings(view)
  return (reason) => (reason === 'budget_exhausted' ? disputed.budget_exhausted.length > 0
    // A person chose that it is so, and a later image stands for each; captures stay here.
    : reason !== reasonGone && !isNobodysMatter(reason) && !isSwitchedOff(reason, saved))
}

/**
 * Whether a pass ends blocked where a gate that is closed for all images keeps some here. Whoever
 * has none analysed, or has switched the sending off, has no failing job.
 */
export const endsBlocked = (ctx: ShotsContext, view: View, gate: string): boolean =>
  gate !== 'analysis_off' && waitsForPerson(ctx, view)(gate)

/** Images that wait for one step of a person. */
export interface WaitingImages {
  readonly status: 'blocked' | 'failed'
  /** A code; null where it was not looked at. */
  readonly reason: string | null
  readonly count: number
  /** A sentence for people; null where there is none. */
  readonly text: string | null
  /** What helps; commands stand between backticks. */
  readonly next: string
}

const failed = (
  ctx: ShotsContext, view: View, now: CurrentFacts,
): readonly WaitingImages[] => {
  const groups = groupsOf(view, 'failed')
  if (groups.length === 0) return []
  const nextOf = failedNext(ctx, view, now)
  const reasons = new ReasonCounts()
  const isMeant = (key: CountKey): boolean => classificationNow(key, now) === null
  for (const group of groups) {
    const { edge, root_digest, reason, count } = group
    const told = edge !== true && isMeant(group) && nextOf({ root_digest }).needsPerson
    if (told) reasons.add(reason ?? notRecorded, count)
  }
  // Whether a capture may still leave, each says by itself.
  for (const row of findObservations(view, {
    statuses: ['failed'], meant: (key) => key.edge === true && isMeant(key),
  })) if (nextOf(row).needsPerson) reasons.add(row.analyzer.reason ?? notRecorded, 1)
  const next = now.folderDigest === null ? folderNext : retryNext
  return reasons.list().map((one) => ({ ...one, status: 'failed', text: null, next }))
}

const blocked = (
  ctx: ShotsContext, view: View, now: CurrentFacts,
): readonly WaitingImages[] => {
  const { reasons, unseen } = blockedAnywhere(ctx, view, now)
  if (reasons.length === 0 && unseen === 0) return []
  const disputed = disputedOf(ctx, view)
  const isWaiting = waitsForPerson(ctx, view, disputed)
  const told = reasons.filter(({ reason }) => isWaiting(reason))
    .map(({ reason, count }): WaitingImages => ({
      status: 'blocked', reason, count, text: gateTextOf(reason)?.text ?? null,
      next: blockedNext(reason, disputed),
    }))
  return unseen === 0 ? told : [...told, {
    status: 'blocked', reason: null, count: unseen, text: null,
    next: 'See `sallyport shots list --status blocked`.',
  }]
}

/** By how much the budget of the day is overspent, micro-USD, as a report tells it; else null. */
export const overspent = ({ gov }: ShotsContext, view: View): number | null => {
  const day = dayStatus(view, gov.clock.wallMs())
  return overspentBy({
    budget_microusd: day.budgetMicrousd, spent_microusd: day.settledMicrousd,
    held_microusd: day.heldMicrousd, disputed_charges: day.disputedCharges,
  })
}

/** All of them, of whatever age: a report tells those of its period. Counters tell nearly all. */
export const waitingImages = (
  ctx: ShotsContext, view: View, now: CurrentFacts = currentFacts(ctx, view),
): readonly WaitingImages[] => [...failed(ctx, view, now), ...blocked(ctx, view, now)]
