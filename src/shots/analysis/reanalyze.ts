/**
 * Analysing again: one image by its id or by the path of a file, or many by what they have in
 * common. The gates are those of a first analysis (S-159), the row stays the same one (S-160), its
 * hash and capture time too (S-161). A file that was suppressed stands for nothing of its own: its
 * representative is analysed (S-077).
 */
import { fail, type SallyportError } from '../../base/errors.js'
import { appendAudit } from '../../governance/audit.js'
import { nowIso, type Session } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import { budgetStatus, callsLeft } from '../budget.js'
import { isTakenUp } from '../captures/places.js'
import type { ReanalyzeGroup, ReanalyzeReason } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { currentFacts } from '../observations/as-of-now.js'
import { explainPath } from '../explain.js'
import { findObservations } from '../observations/find.js'
import { gateTextOf, routeStatusOf } from '../gates.js'
import { folderProblemNow } from '../scan/unmounted.js'
import { locateHere, requireRowHere } from '../source/folder-machine.js'
import type { CountKey, Observation } from '../observations/observation-rows.js'
import { isRecursive, analysisSettings, savedSettings } from '../source/settings.js'
import { requireObservation } from '../observations/show.js'
import { reanalyzeRows } from './batch.js'
import { earlierCall } from './earlier-call.js'
import { isOfGroup } from './group.js'
import { keptNow } from './restore.js'
import { termsOf, type Terms } from './send-image.js'
import { hasSize, type IntegrityReason } from './integrity.js'
import { isRowSelected, isSourceGone } from './privacy.js'
import type { AnalysisReceipt } from '../receipts/analysis.js'

/** The row that is meant by an id or an absolute path. Throws `not_found`. */
const findTarget = (ctx: ShotsContext, view: View, target: string): Observation => {
  if (target.startsWith('obs_')) return requireObservation(view, target)
  const { observation } = explainPath(ctx, view, target)
  if (observation !== null) return requireObservation(view, observation.observation_id)
  throw fail.notFound('observation_not_found', 'No observation was made of this file.', {
    next: 'See `sallyport shots show PATH`.',
  })
}

const refuse = (reason: string, message: string, next: string): SallyportError =>
  fail.conflict('reanalysis_refused', message, { reason, next })

/** Rules that a row has to pass before any gate. Throws `conflict`. */
const requireAnalyzable = (
  ctx: ShotsContext, view: View, row: Observation, reason: ReanalyzeReason,
): void => {
  const now = currentFacts(ctx, view)
  if (row.archived_at !== null) {
    const see = `See \`sallyport shots show ${row.observation_id}\`.`
    throw refuse('archived', 'This observation is archived.', see)
  }
  const kept = keptNow(view, routeStatusOf(ctx, view), row)
  if (kept !== null) {
    const told = gateTextOf(kept)
    throw refuse(kept, told?.text ?? kept, told?.next ?? 'See `sallyport edge list`.')
  }
  if (row.edge === undefined && row.root_digest !== now.folderDigest) {
    throw refuse(
      'other_root', 'This observation lies under another folder than the one in force.',
      'See `sallyport shots show`.',
    )
  }
  const { kind } = earlierCall(ctx, view, row)
  if (row.analyzer.contact === 'claimed' || kind === 'running') {
    throw refuse(
      'analysis_in_progress', 'This image is being analysed now.', 'Look again in a moment.',
    )
  }
  if (reason !== 'provider_failure_retry' && kind !== 'none') {
    throw refuse(
      'provider_failure_retry_needed', 'Its last request failed or is uncertain.',
      'Sending it again is for --reason provider_failure_retry alone.',
    )
  }
}

/** One reanalysis and the row it is about. */
interface Reanalyzed {
  /** The row that was analysed: a suppressed file's representative. */
  readonly observationId: string
  readonly receipt: AnalysisReceipt
}

/** How one image is meant. */
interface ReanalyzeOne {
  readonly target: string
  readonly reason: ReanalyzeReason
  /** Send it although it is damaged or cut: whoever says so is written down. */
  readonly release?: boolean
}

/** Reasons for which a person may send an image that is not whole. */
const releasable: ReadonlySet<string | null> = new Set<IntegrityReason>(
  ['image_damaged', 'image_truncated', 'image_goes_on'])

/** Whether an image stays here until a person releases it by name. Throws `not_found`. */
export const waitsForRelease = (ctx: ShotsContext, target: string): boolean =>
  releasable.has(findTarget(ctx, ctx.gov.store.read(), target).analyzer.reason)

const release = async (ctx: ShotsContext, session: Session, row: Observation): Promise<void> => {
  if (!hasSize(row)) {
    throw refuse(
      'image_size_unknown', 'This file does not tell its size, so it is never sent.',
      'Write the image again with a program that saves it whole.',
    )
  }
  await ctx.gov.store.transact('shots reanalyze', (tx) => {
    appendAudit(tx, nowIso(ctx.gov), {
      what: 'shots.image_released', principal: session.principal.principal_id,
      root: session.root.root_id, subject: row.observation_id,
      facts: { sha256: row.sha256, reason: row.analyzer.reason },
    })
  })
}

/**
 * Analyses one image again. Throws `not_found`, `conflict` (archived, another folder, under way,
 * the wrong reason after a failure, a release of what does not tell its size) and `blocked` while
 * a gate is closed: then nothing changes.
 */
export const reanalyzeOne = async (
  ctx: ShotsContext, session: Session, { target, reason, release: released }: ReanalyzeOne,
): Promise<Reanalyzed> => {
  const view = ctx.gov.store.read()
  const row = findTarget(ctx, view, target)
  requireAnalyzable(ctx, view, row, reason)
  if (row.edge === undefined) requireRowHere(ctx.gov.store, view, row)
  const agreed = termsOf(ctx, view)
  if (released === true) await release(ctx, session, row)
  const receipt = await reanalyzeRows(ctx, [row], {
    reason, group: null, agreed, released: released === true,
  })
  return { observationId: row.observation_id, receipt }
}

/** What a bulk cannot take, by why: it would come up again each time. */
interface LeftOut {
  /** They failed or are uncertain, and the reason is not the one for that. */
  readonly needRetryReason: number
  /** They have an analysis, which stays, and their files are gone. */
  readonly sourceGone: number
  /** They are no whole images: only a person releases one, by name. */
  readonly notWhole: number
  /** They lie in subfolders, and recursive is off. */
  readonly notSelected: number
}

/** What a bulk reanalysis would do, to be shown before anybody says yes. */
export interface ReanalyzePlan extends LeftOut, Terms {
  readonly group: ReanalyzeGroup
  readonly rows: readonly Observation[]
  /** How many there are, the limit left aside. */
  readonly found: number
  /** Most that all of these can cost. */
  readonly atMostMicrousd: number
  /** What analyses of these rows cost before, on average; null without one. */
  readonly earlierMicrousd: number | null
  /** Requests that the budget of the day still allows. */
  readonly callsLeft: number
}

/** One that repeats an earlier image was paid for there: here it would be sent itself. */
const average = (rows: readonly Observation[]): number | null => {
  const costs = rows.flatMap(({ payload }) =>
    (payload === null || payload.payload_of !== undefined ? [] : [payload.cost_microusd]))
  return costs.length === 0
    ? null : Math.round(costs.reduce((sum, one) => sum + one, 0) / costs.length)
}

/** Every row that is meant was sent before and failed: for those there is one reason alone. */
const wrongReason = (count: number): SallyportError => fail.rejected(
  'reason_not_for_failed',
  `The last request for ${count === 1 ? 'the one image' : `all ${count} images`} that this would `
    + 'take failed or is uncertain; another reason does not send it again.',
  {
    reason: 'provider_failure_retry_needed', next: 'Give --reason provider_failure_retry.',
    details: { images: count },
  },
)

/**
 * Which analysed rows a bulk cannot take because there is nothing to send; they would come up again
 * each time. A folder that is not there says nothing about its files.
 */
const goneReader = (ctx: ShotsContext, view: View): ((row: Observation) => boolean) => {
  return folderProblemNow(ctx, locateHere(ctx, view)) === null
    ? (row) => row.payload !== null && isSourceGone(row) : () => false
}

/** Why a bulk cannot take a row; null where it can. */
const leavesOut = (
  ctx: ShotsContext, view: View, reason: ReanalyzeReason,
): ((row: Observation, before: ReturnType<typeof earlierCall>) => keyof LeftOut | null) => {
  const isGone = goneReader(ctx, view)
  const recursive = isRecursive(savedSettings(view))
  return (row, { kind }) => {
    if (reason !== 'provider_failure_retry' && kind !== 'none') return 'needRetryReason'
    if (isGone(row)) return 'sourceGone'
    if (!isRowSelected(row, recursive)) return 'notSelected'
    const isNotWhole = row.analysis_status === 'blocked'
      && row.analyzer.reason?.startsWith('image_') === true
    return isNotWhole ? 'notWhole' : null
  }
}

/**
 * Plans a bulk reanalysis, oldest first; files that could not be read come last, so that those
 * which stay so keep no other from its turn. Throws `blocked` while a gate is closed and `rejected`
 * `reason_not_for_failed` where all that is meant needs `provider_failure_retry`.
 */
export const planReanalysis = (
  ctx: ShotsContext, group: ReanalyzeGroup, reason: ReanalyzeReason, limit?: number,
): ReanalyzePlan => {
  const view = ctx.gov.store.read()
  const standing = routeStatusOf(ctx, view)
  const terms = termsOf(ctx, view)
  const now = currentFacts(ctx, view)
  const most = limit ?? analysisSettings(view, ctx.env).analysisLimit.value
  const [rows, unreadable]: [Observation[], Observation[]] = [[], []]
  let found = 0
  const leftOut = { needRetryReason: 0, sourceGone: 0, notWhole: 0, notSelected: 0 }
  const why = leavesOut(ctx, view, reason)
  const isHere = now.folderDigest === null
    ? () => false : isTakenUp(view, standing, now.folderDigest)
  const meant = (key: CountKey): boolean => isHere(key) && isOfGroup(key, now, group)
  for (const row of findObservations(view, { meant })) {
    if (keptNow(view, standing, row) !== null) continue
    if (row.analyzer.contact === 'claimed') continue
    const before = earlierCall(ctx, view, row)
    if (before.kind === 'running') continue
    const left = why(row, before)
    if (left !== null) {
      leftOut[left] += 1
      continue
    }
    found += 1
    const turn = row.analyzer.reason === 'file_unreadable' ? unreadable : rows
    if (turn.length < most) turn.push(row)
  }
  const { needRetryReason } = leftOut
  if (found === 0 && needRetryReason > 0) throw wrongReason(needRetryReason)
  const taken = [...rows, ...unreadable].slice(0, most)
  const saved = savedSettings(view)
  const { boundMicrousd } = terms
  return {
    group, rows: taken, found, ...leftOut, ...terms,
    atMostMicrousd: boundMicrousd * taken.length,
    earlierMicrousd: average(taken),
    callsLeft: callsLeft(budgetStatus(view, ctx.gov.clock.wallMs(), saved), boundMicrousd),
  }
}

/** Nothing is read for images of which none may go out. A gate that is closed tells itself. */
const requireSameTerms = (ctx: ShotsContext, plan: ReanalyzePlan): void => {
  const view = ctx.gov.store.read()
  if (!routeStatusOf(ctx, view).ready) return
  const { consentId, boundMicrousd } = termsOf(ctx, view)
  if (consentId === plan.consentId && boundMicrousd <= plan.boundMicrousd) return
  throw fail.conflict('reanalysis_changed', 'The consent or the bound changed behind the plan.', {
    next: 'Nothing was sent. Run it again, and look at what it may cost.',
  })
}

/**
 * Does what was planned and said yes to. Throws `conflict` `reanalysis_changed` where another
 * consent or a higher bound counts by now.
 */
export const reanalyzePlanned = async (
  ctx: ShotsContext, plan: ReanalyzePlan, reason: ReanalyzeReason,
): Promise<AnalysisReceipt> => {
  requireSameTerms(ctx, plan)
  return reanalyzeRows(ctx, plan.rows, {
    reason, group: plan.group, agreed: plan, released: false,
  })
}
