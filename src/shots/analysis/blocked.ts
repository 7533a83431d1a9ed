/**
 * Why blocked images are not analysed, as of now. A row keeps the reason of the moment in which it
 * was blocked; what is told is what stands in its way today, so that nobody mends what is mended.
 */
import type { View } from '../../state/types.js'
import { isFinalOfCapture, placeReason } from '../captures/gate.js'
import { isTakenUp } from '../captures/places.js'
import type { AnalysisStatus } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { disputedOf, isRoomReason, roomNext, undisputed, type Disputed } from '../disputed.js'
import { classificationNow, currentFacts, type CurrentFacts } from '../observations/as-of-now.js'
import { sampleObservations, type ObservationFilter } from '../observations/find.js'
import {
  consentReaches, gateTextOf, isProofReason, routeStatusOf, type RouteStatus,
} from '../gates.js'
import {
  shotCollections as c, type CountKey, type Observation, type ShotCount,
} from '../observations/observation-rows.js'
import { unsettled } from '../observations/unsettled.js'
import type { BlockedReasons } from '../receipts/analysis.js'
import { ReasonCounts } from './reason-counts.js'
import { keptNow, lasting, reasonHolds, stillHolds } from './restore.js'

/**
 * Rows that are read where counters cannot tell, at most; the first few are read however long they
 * take.
 */
const looksMax = 1_000
const looksMin = 5
/** How long a job may look beyond them, in ms. */
const looksMsMax = 250
/** The same for a status, which many a prompt and script waits for. */
export const quickLooksMs = 15

/** What is blocked and in nobody's way: a later image stands for it, or it stays here for good. */
export const isNobodysMatter = (reason: string | null): boolean =>
  reason === unsettled || reason === 'device_not_named' || isFinalOfCapture(reason)

/** What nothing stands in the way of any more: a later pass of the job takes it up. */
export const reasonGone = 'reason_gone'

/** What is told of a blocked row depends on these alone, in nearly all cases. */
type Blocked = Pick<ShotCount, 'reason' | 'observed_revision' | 'edge' | 'root_digest'>

/** Whether the consent in force reaches rows; null where each has to be asked. */
const reaches = ({ route }: RouteStatus, group: Blocked): boolean | null => {
  if (route === null) return false
  const { observed_revision: revision = null } = group
  return revision === null ? null
    : consentReaches(route.consent, { observed_at: '', observed_revision: revision })
}

/**
 * What is told where the route is open or only its proof is not: the proof last, since no proof is
 * worth its price for what stays here without it, too.
 */
const toldBehindGates = (
  { closed }: RouteStatus, reason: string | null,
  { isHeld, isReached }: { readonly isHeld: boolean, readonly isReached: boolean },
): string => {
  if (reason !== null && isHeld && !isProofReason(reason)) return reason
  return isReached ? closed ?? reasonGone : 'before_consent'
}

/** What is told of all rows of a group; null where each has to be asked. */
const groupReader = (
  ctx: ShotsContext, view: View, standing: RouteStatus,
): ((group: Blocked) => string | null) => {
  const holds = reasonHolds(ctx, view, standing)
  return (group) => {
    const { reason = null } = group
    if (reason !== null && lasting(reason)) return reason
    if (group.edge === true) return placeReason(view, group.root_digest, standing.consentId)
    if (!standing.ready) return standing.closed
    const isHeld = reason === null ? false : holds(reason)
    const isReached = reaches(standing, group)
    return isHeld === null || isReached === null
      ? null : toldBehindGates(standing, reason, { isHeld, isReached })
  }
}

/** What is told of a blocked row of the current folder, as of a view. */
export const blockedRowReader = (
  ctx: ShotsContext, view: View, standing: RouteStatus,
): ((row: Observation) => string) => {
  const holds = stillHolds(ctx, view, standing)
  return (row) => {
    const { reason } = row.analyzer
    if (reason !== null && lasting(reason)) return reason
    const kept = keptNow(view, standing, row)
    if (kept !== null) return kept
    const { route, ready, closed } = standing
    if (!ready && closed !== null) return closed
    return toldBehindGates(standing, reason, {
      isHeld: holds(row), isReached: route === null || consentReaches(route.consent, row),
    })
  }
}

/** Which rows to look at, and for how many milliseconds. */
interface BlockedLook extends Pick<ObservationFilter, 'since' | 'until'> {
  readonly msMax?: number
  /** Captures of devices are left out. */
  readonly folderAlone?: boolean
}

/** Why the blocked rows of these groups are so; of some it may not have been looked at. */
const reasonsOfGroups = (
  ctx: ShotsContext, view: View, isMeant: (key: CountKey) => boolean,
  { msMax = looksMsMax, folderAlone: _alone, ...period }: BlockedLook,
): BlockedReasons => {
  const standing = routeStatusOf(ctx, view)
  const ofGroup = groupReader(ctx, view, standing)
  const isWhole = period.since === undefined && period.until === undefined
  const reasons = new ReasonCounts()
  const toldOf = (key: CountKey): string | null => (isWhole ? ofGroup(key) : null)
  for (const group of blockedGroups(view, isMeant)) {
    const told = toldOf(group)
    if (told !== null) reasons.add(told, group.count)
  }
  const { clock } = ctx.gov
  const untilMs = clock.monotonicMs() + msMax
  const goesOn = (looks: number): boolean =>
    looks < looksMin || (looks < looksMax && clock.monotonicMs() < untilMs)
  const filter: ObservationFilter = {
    ...period, statuses: ['blocked'], meant: (key) => isMeant(key) && toldOf(key) === null,
  }
  const ofRow = blockedRowReader(ctx, view, standing)
  for (const row of sampleObservations(view, filter, goesOn)) reasons.add(ofRow(row), 1)
  return reasons.list()
}

/** What passes may take up: of the folder in force and, unless left out, of named devices. */
const isHere = (ctx: ShotsContext, view: View, folderAlone = false) => {
  const now = currentFacts(ctx, view)
  const { folderDigest: folder } = now
  const isUp = folder === null ? () => false : isTakenUp(view, routeStatusOf(ctx, view), folder)
  return (key: CountKey): boolean => isUp(key) && classificationNow(key, now) === null
    && !(folderAlone && key.edge === true)
}

/**
 * Why images of the current folder and of named devices are blocked: of all of them, from counters;
 * with a period those that were captured in it, as far as some were looked at.
 */
export const blockedReasons = (
  ctx: ShotsContext, view: View, look: BlockedLook = {},
): BlockedReasons =>
  reasonsOfGroups(ctx, view, isHere(ctx, view, look.folderAlone), look)

/**
 * The same of every image that a report may hold, of whatever folder, and how many of them were not
 * looked at.
 */
export const blockedAnywhere = (
  ctx: ShotsContext, view: View, known?: CurrentFacts,
): { readonly reasons: BlockedReasons; readonly unseen: number } => {
  if (groupsOf(view, 'blocked').length === 0) return { reasons: [], unseen: 0 }
  const now = known ?? currentFacts(ctx, view)
  const isMeant = (key: CountKey): boolean => classificationNow(key, now) === null
  const reasons = reasonsOfGroups(ctx, view, isMeant, { msMax: quickLooksMs })
  const seen = reasons.reduce((sum, { count }) => sum + count, 0)
  const all = blockedGroups(view, isMeant).reduce((sum, { count }) => sum + count, 0)
  return { reasons, unseen: all - seen }
}

/** Rows of a status that are not archived, in groups. */
export const groupsOf = (view: View, status: AnalysisStatus): readonly ShotCount[] =>
  view.all(c.counts).map(({ doc }) => doc)
    .filter((one) => !one.archived && one.analysis_status === status)

/** Blocked rows that are still meant, in groups. */
const blockedGroups = (
  view: View, isMeant: (key: CountKey) => boolean,
): readonly ShotCount[] => groupsOf(view, 'blocked').filter(isMeant)

/** How many images of the current folder and of named devices are blocked, from counters. */
export const blockedCount = (ctx: ShotsContext, view: View): number =>
  blockedGroups(view, isHere(ctx, view)).reduce((sum, { count }) => sum + count, 0)

/** What opens the way for most of those in whose way something stands; null where there is none. */
export const mostBlockedNext = (
  ctx: ShotsContext, view: View, reasons: BlockedReasons,
): string | null => {
  const most = reasons.find(({ reason }) => !isNobodysMatter(reason))
  if (most === undefined) return null
  // What is disputed is looked for where money is what is missing: a status is asked often.
  const disputed = isRoomReason(most.reason) ? disputedOf(ctx, view) : undisputed
  return blockedNext(most.reason, disputed)
}

/** What a person may do about a reason why images are blocked; never empty. */
export const blockedNext = (reason: string, disputed: Disputed): string => {
  if (isRoomReason(reason)) return roomNext(reason, disputed[reason])
  if (reason === reasonGone) return 'The next passes take them up: `sallyport shots analyze`.'
  return gateTextOf(reason)?.next ?? 'See `sallyport shots list --status blocked`.'
}
