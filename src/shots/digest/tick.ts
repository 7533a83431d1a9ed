/**
 * The digest job and the digest of one window. Windows are looked at by their rows alone; a model
 * is asked only for those that changed, at most four a tick.
 */
import { isoFromMs } from '../../base/clock.js'
import { SallyportError, type ErrorKind } from '../../base/errors.js'
import { resultNotStored } from '../../gateway/call/not-stored.js'
import type { Pause } from '../../gateway/call/pause.js'
import type { View } from '../../state/types.js'
import { shotLimits } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { stopsPass } from '../cut-short.js'
import { disputedIn, isRoomReason } from '../disputed.js'
import { isProofReason, routeStatusOf } from '../gates.js'
import { transactCounted } from '../locked.js'
import { dueFactsOf, heldOf, maySent } from '../money.js'
import { appendReceipt } from '../receipts/append.js'
import { isIdleDigest, noteIdleTick } from '../receipts/idle.js'
import { callsOfRenewal, type ProofRenewal } from '../receipts/renewal.js'
import { pauseBehind, textPause } from '../paused.js'
import { renewProofIfDue } from '../renew-proof.js'
import type { StoredDigest, WindowOutcome } from '../receipts/digest.js'
import { digestSettings, type DigestSettings } from '../source/settings.js'
import { classificationNow, currentFacts } from '../observations/as-of-now.js'
import { findObservations } from '../observations/find.js'
import type { CountKey } from '../observations/observation-rows.js'
import { dropDigestDue, dueHoursBefore, type DueHour } from './due.js'
import { planWindow, type WindowPlan } from './plan.js'
import { reaches } from './reach.js'
import { sourcesBetween, type Analysed } from '../texts/sources.js'
import type { DigestReceipt, WindowResult } from './types.js'
import { requireTextRoute } from '../texts/readiness.js'
import { betweenReadings } from '../usage-readings.js'
import { windowEndingAt, windowOf, type DigestWindow } from './windows.js'
import { reuseText, writeWindow } from './write.js'

const job = 'screenshot_observation_digest'

/** How one window of `shots digest` is chosen and treated. */
interface DigestWindowOptions {
  /** End of the window, ISO text; aligned. */
  readonly windowEnd: string
  /** One more call after one that was refused, failed or is uncertain. */
  readonly retry?: boolean
}

interface Work {
  readonly ctx: ShotsContext
  readonly settings: DigestSettings
  readonly retry: boolean
  /** A tick of the job; a window that a person asked for leaves a receipt whatever came of it. */
  readonly isTick: boolean
  /** A tick buys it although it is of before the last day: only what the consent reaches. */
  readonly isOlder?: boolean
}

const resultOf = (
  plan: WindowPlan, outcome: WindowOutcome, rest: Partial<WindowResult> = {},
): WindowResult => ({
  window_start: plan.window.start,
  window_end: plan.window.end,
  outcome,
  reason: null,
  observation_count: plan.sources.length,
  episode: plan.episode,
  operation_id: null,
  cost_microusd: null,
  due: null,
  held_microusd: null,
  ...rest,
})

/** Kinds that a person mends; what is left is worth another look by itself. */
const blocking: ReadonlySet<string> = new Set(['blocked', 'unauthorized', 'budget'])

/** What became of a window, and why no further one may be tried in this pass. */
interface Worked {
  readonly result: WindowResult
  readonly stop: string | null
}

const stopOf = (kind: ErrorKind | null, reason: string | null): string | null =>
  (stopsPass(kind) ? reason ?? kind : null)

const refusedResult = (
  { ctx, isTick }: Work, plan: WindowPlan, error: SallyportError,
): WindowResult => {
  const reason = error.reason ?? error.code
  const operationId = error.details['operation_id']
  if (reason === 'outcome_not_recorded' && typeof operationId === 'string') {
    // It was sent: whatever kind the error is of, this window was not merely refused.
    const due = dueFactsOf(ctx.gov.store.read(), operationId)
    return resultOf(plan, 'failed', { reason, operation_id: operationId, ...due })
  }
  // Nothing was sent, and the next tick looks at it as it is by then.
  if (isTick && reason === 'inputs_changed') return resultOf(plan, 'not_repeated', { reason })
  return resultOf(plan, blocking.has(error.kind) ? 'blocked' : 'failed', { reason })
}

const buy = async (
  { ctx, settings, retry, isOlder = false }: Work, plan: Extract<WindowPlan, { kind: 'write' }>,
): Promise<Worked> => {
  const charsMax = settings.digestMaxChars.value
  const result = await writeWindow(ctx, plan, { charsMax, retry, isOlder })
  const { made: episode } = result
  const money = {
    operation_id: result.operationId, cost_microusd: result.receipt.cost.amount_microusd,
    ...dueFactsOf(ctx.gov.store.read(), result.operationId),
  }
  if (episode !== null) {
    const outcome = plan.episode === null ? 'written' : 'updated'
    return { result: resultOf(plan, outcome, { episode, ...money }), stop: null }
  }
  const refused = result.errorKind !== null && blocking.has(result.errorKind)
  const reason = result.reason ?? result.outcome
  return {
    result: resultOf(plan, refused ? 'blocked' : 'failed', { reason, ...money }),
    // What is paid for behind it would be lost, too.
    stop: reason === resultNotStored ? reason : stopOf(result.errorKind, reason),
  }
}

const reuse = ({ ctx }: Work, plan: Extract<WindowPlan, { kind: 'reuse' }>) =>
  transactCounted(ctx.gov, 'shots digest', (tx) =>
    reuseText(tx, isoFromMs(ctx.gov.clock.wallMs()), plan))

/** What a window comes to that asks for nothing. */
const unasked = (plan: Exclude<WindowPlan, { kind: 'write' | 'reuse' }>): WindowResult =>
  (plan.kind === 'not_repeated'
    ? resultOf(plan, plan.kind, { reason: plan.reason }) : resultOf(plan, plan.kind))

/** Does what a window asks for. A defect, damage or a cancellation goes on up. */
const work = async (here: Work, plan: WindowPlan): Promise<Worked> => {
  if (plan.kind !== 'write' && plan.kind !== 'reuse') return { result: unasked(plan), stop: null }
  // What forbids every contact is no fault of this window: it refuses the whole pass.
  if (plan.kind === 'write') await here.ctx.gateway.client()
  try {
    if (plan.kind === 'write') return await buy(here, plan)
    const episode = await reuse(here, plan)
    return { result: resultOf(plan, 'updated', { episode }), stop: null }
  } catch (error) {
    const known = error instanceof SallyportError && error.kind !== 'cancelled'
      && error.kind !== 'damaged'
    if (!known) throw error
    const result = refusedResult(here, plan, error)
    return { result, stop: stopOf(error.kind, result.reason) }
  }
}

const byWindow = (
  sources: readonly Analysed[], minutes: number,
): [DigestWindow, Analysed[]][] => {
  const groups = new Map<string, [DigestWindow, Analysed[]]>()
  for (const row of sources) {
    const window = windowOf(row.captured_at, minutes)
    const group = groups.get(window.key) ?? [window, []]
    group[1].push(row)
    groups.set(window.key, group)
  }
  return [...groups.values()]
}

/** Where the windows of the last day begin: no window is cut. */
const recentSince = ({ ctx, settings }: Work): string => {
  const oldest = isoFromMs(ctx.gov.clock.wallMs() - shotLimits.digestAgeMsMax)
  const first = windowOf(oldest, settings.digestWindowMinutes.value)
  return first.start >= oldest ? first.start : first.end
}

/** Every window of the last day that holds something, oldest first. */
const recentPlans = (here: Work, view: View): WindowPlan[] => {
  const { ctx, settings } = here
  const nowMs = ctx.gov.clock.wallMs()
  const minutes = settings.digestWindowMinutes.value
  const since = recentSince(here)
  // A window is whole, as where it is bought: an image can be ahead of a clock that was set back.
  const sources = sourcesBetween(view, since, windowOf(isoFromMs(nowMs), minutes).end)
  return byWindow(sources, minutes)
    .map(([window, members]) => planWindow(ctx, view, window, members))
}

/** The plan of a window as it is by now: what was under way may have come into it meanwhile. */
const asItIs = ({ ctx }: Work, { window }: WindowPlan): WindowPlan => {
  const view = ctx.gov.store.read()
  return planWindow(ctx, view, window, sourcesBetween(view, window.start, window.end))
}

/** Windows of before the last day that ask for something, newest first, and hours that ask none. */
interface Older {
  readonly plans: readonly WindowPlan[]
  readonly done: readonly DueHour[]
}

/** Whether it waits for room or for a proof alone: then a pass takes it up. */
const waitsForPass = ({ reason = null }: CountKey): boolean =>
  isRoomReason(reason) || isProofReason(reason)

/** Which waiting rows a pass will come to: none whose file is gone, or of another folder. */
const comesUp = (ctx: ShotsContext, view: View): ((key: CountKey) => boolean) => {
  const now = currentFacts(ctx, view)
  const { ready } = routeStatusOf(ctx, view)
  return (key) => classificationNow(key, now) === null
    && (key.analysis_status === 'pending' || (ready && waitsForPass(key)))
    && (now.folderDigest === null || key.root_digest === now.folderDigest)
}

/**
 * Looks at hours in which something changed since. A window that still has images to be analysed
 * waits for them: each of them would make a text of it anew.
 */
const olderPlans = ({ ctx, settings }: Work, view: View, before: string): Older => {
  const minutes = settings.digestWindowMinutes.value
  const [meant, isReached] = [comesUp(ctx, view), reaches(ctx, view)]
  const plans = new Map<string, WindowPlan>()
  const done: DueHour[] = []
  for (const hour of dueHoursBefore(view, before, shotLimits.digestDueHoursMax)) {
    let asks = false
    let at = windowOf(hour.since, minutes)
    for (; at.start < hour.until; at = windowOf(at.end, minutes)) {
      const waiting = findObservations(view, {
        since: at.start, until: at.end, statuses: ['pending', 'blocked'], meant,
      }).next().done !== true
      const sources = sourcesBetween(view, at.start, at.end)
      if (!isReached(sources)) continue
      const plan = planWindow(ctx, view, at, sources)
      if (waiting || calls(plan) || isUnderWay(plan)) asks = true
      if (!waiting && calls(plan)) plans.set(at.key, plan)
    }
    if (!asks) done.push(hour)
  }
  const newestFirst = [...plans.values()]
    .sort((a, b) => (a.window.start < b.window.start ? 1 : -1))
  return { plans: newestFirst, done }
}

const count = (results: readonly WindowResult[], outcome: WindowOutcome): number =>
  results.filter((one) => one.outcome === outcome).length

/** Facts of a result that stay in the receipt: names, counts and digests, no text. */
const factsOf = ({ episode, ...rest }: WindowResult): StoredDigest['windows'][number] => ({
  ...rest, episode_id: episode?.episode_id ?? null, digest_key: episode?.digest_key ?? null,
  payload_sha256: episode?.payload_sha256 ?? null, revision: episode?.revision ?? null,
})

/** What is told first where a tick saw more windows than its receipt lists. */
const ranks: Readonly<Record<WindowOutcome, number>> = {
  written: 0, updated: 0, failed: 0, blocked: 0, not_repeated: 1, unchanged: 2, empty: 3,
}

const listed = (all: readonly WindowResult[]): WindowResult[] => {
  const newestFirst = [...all].sort((a, b) => (a.window_start < b.window_start ? 1 : -1))
  return newestFirst
    .sort((a, b) => ranks[a.outcome] - ranks[b.outcome])
    .slice(0, shotLimits.digestWindowsMax)
    .sort((a, b) => (a.window_start < b.window_start ? -1 : 1))
}

const standingOf = (
  { all, pause, stop }: Passed,
): Pick<DigestReceipt, 'status' | 'reason'> => {
  if (stop !== null) return { status: 'degraded', reason: stop }
  for (const [outcome, status] of [['failed', 'degraded'], ['blocked', 'blocked']] as const) {
    const found = all.find((one) => one.outcome === outcome)
    if (found !== undefined) return { status, reason: found.reason }
  }
  return pause === null
    ? { status: 'ok', reason: null } : { status: 'blocked', reason: pause.reason }
}

/** What a pass comes to. */
interface Passed {
  readonly startedMs: number
  readonly all: readonly WindowResult[]
  readonly renewal: ProofRenewal | null
  /** The slot was left alone, or is from now on: why, and until when. */
  readonly pause: Pick<Pause, 'reason' | 'until'> | null
  /** Why it left windows that it would have worked on; null where it left none. */
  readonly stop: string | null
}

/** Whether it ends a pass without being a defect: the lock, or a stop by the user. */
const endsPass = (error: unknown): error is SallyportError =>
  error instanceof SallyportError && (error.kind === 'locked' || error.kind === 'cancelled')

/** Once something was sent there is a receipt to tell it, whatever refuses the rest. */
const leavesReceipt = (
  calls: readonly Parameters<typeof maySent>[0][], error: unknown,
): error is SallyportError =>
  error instanceof SallyportError && error.kind !== 'damaged' && calls.some(maySent)

const close = async (
  { ctx, isTick }: Work, passed: Passed,
): Promise<DigestReceipt> => {
  const { startedMs, all, renewal, pause } = passed
  const { clock } = ctx.gov
  const windows = listed(all)
  const counts = {
    written: count(all, 'written'), updated: count(all, 'updated'),
    unchanged: count(all, 'unchanged'), not_repeated: count(all, 'not_repeated'),
    blocked: count(all, 'blocked'), failed: count(all, 'failed'),
    held_microusd: heldOf([...callsOfRenewal(renewal), ...all]), proof_renewal: renewal,
    paused_until: pause?.until ?? null,
  }
  const standing = standingOf(passed)
  const base = {
    job, ...standing, windows, ...counts, ...disputedIn(ctx, standing.reason),
    duration_ms: Math.round(clock.monotonicMs() - startedMs),
  } as const
  const facts = { ...base, windows: windows.map(factsOf) }
  try {
    if (isTick && isIdleDigest(facts)) {
      await transactCounted(ctx.gov, 'shots digest', (tx) =>
        noteIdleTick(tx, isoFromMs(clock.wallMs()), job))
      return { ...base, receipt_id: null }
    }
    const receipt = await transactCounted(ctx.gov, 'shots digest', (tx) =>
      appendReceipt(tx, isoFromMs(clock.wallMs()), job, facts))
    return { ...base, receipt_id: receipt.receipt_id }
  } catch (error) {
    if (!endsPass(error)) throw error
    return { ...base, status: 'degraded', reason: error.code, receipt_id: null }
  }
}

const disabled: DigestReceipt = {
  job, receipt_id: null, status: 'disabled', reason: 'digest_disabled', windows: [], written: 0,
  updated: 0, unchanged: 0, not_repeated: 0, blocked: 0, failed: 0, held_microusd: 0,
  proof_renewal: null, paused_until: null,
  duration_ms: 0,
}

/** What usage of the key is read for, around this pass. */
const digestReadings = (ctx: ShotsContext): Parameters<typeof betweenReadings>[1] => ({
  use: { slot: 'report', purpose: 'gateway.digest' },
  priority: 'high',
  requires: (view) => requireTextRoute(ctx, view, 'gateway.digest').principal,
})

const calls = (plan: WindowPlan): boolean => plan.kind === 'write' || plan.kind === 'reuse'

/** Another process makes its text; where it comes to nothing, the window asks again. */
const isUnderWay = (plan: WindowPlan): boolean =>
  plan.kind === 'not_repeated' && plan.reason === 'running'

/**
 * One tick of the digest job (S-096 to S-106, S-138 to S-142): at most four windows are worked on,
 * those of the last 24 hours first, from the oldest on, then older ones, the newest first. The
 * first one that is blocked ends it, since what blocks one blocks all; and while the gateway is
 * left alone after a refusal, none is bought.
 */
export const digestTick = async (ctx: ShotsContext): Promise<DigestReceipt> => {
  const view = ctx.gov.store.read()
  const settings = digestSettings(view, ctx.env)
  if (!settings.digestEnabled.value) return disabled
  const here: Work = { ctx, settings, retry: false, isTick: true }
  const startedMs = ctx.gov.clock.monotonicMs()
  const older = olderPlans(here, view, recentSince(here))
  if (older.done.length > 0) {
    await transactCounted(ctx.gov, 'shots digest', (tx) => dropDigestDue(tx, older.done))
  }
  const recent = recentPlans(here, view)
  const isNow = (plan: WindowPlan): boolean => plan.kind === 'write' && recent.includes(plan)
  const plans = [...recent, ...older.plans]
  const buys = plans.some(({ kind }) => kind === 'write')
  const paused = buys ? textPause(ctx, view) : null
  // What needs no call does not wait behind what may not be bought now.
  const todo = plans.filter((one) => one.kind === 'reuse' || (one.kind === 'write' && !paused))
    .slice(0, shotLimits.digestWindowsMax)
  const results: WindowResult[] = []
  for (const plan of plans.filter((one) => !calls(one))) {
    results.push((await work(here, plan)).result)
  }
  const writes = todo.some(({ kind }) => kind === 'write')
  let [renewal, pause, stop]: [ProofRenewal | null, Passed['pause'], string | null] =
    [null, null, null]
  const pass = async (): Promise<void> => {
    for (const planned of todo) {
      if (planned.kind === 'write' && pause !== null) continue
      if (ctx.signal.aborted) stop ??= 'cancelled'
      if (stop !== null) break
      const plan = isNow(planned) ? asItIs(here, planned) : planned
      const worked = await work({ ...here, isOlder: !isNow(planned) }, plan)
      stop = worked.stop
      results.push(worked.result)
      if (worked.result.outcome === 'blocked') break
      if (plan.kind === 'write') pause = pauseBehind(ctx, 'report', worked.result.operation_id)
    }
  }
  try {
    renewal = writes ? await renewProofIfDue(ctx, 'report') : null
    pause = buys ? pauseBehind(ctx, 'report', renewal?.operation_id ?? null) : null
    const pays = pause === null && writes
    await (pays ? betweenReadings(ctx, digestReadings(ctx), pass) : pass())
  } catch (error) {
    if (!endsPass(error) && !leavesReceipt([...callsOfRenewal(renewal), ...results], error)) {
      throw error
    }
    stop = error.reason ?? error.code
  }
  return close(here, { startedMs, all: results, renewal, pause, stop })
}

/**
 * The digest of one window of any age. Throws `rejected` `window_not_aligned`; the switch of the
 * job has no part in it, since a person asks.
 */
export const digestWindow = async (
  ctx: ShotsContext, options: DigestWindowOptions,
): Promise<DigestReceipt> => {
  const view = ctx.gov.store.read()
  const settings = digestSettings(view, ctx.env)
  const window = windowEndingAt(options.windowEnd, settings.digestWindowMinutes.value)
  const here: Work = { ctx, settings, retry: options.retry === true, isTick: false }
  const startedMs = ctx.gov.clock.monotonicMs()
  const sources = sourcesBetween(view, window.start, window.end)
  const plan = planWindow(ctx, view, window, sources, { retry: here.retry })
  const { result } = await work(here, plan)
  return close(here, { startedMs, all: [result], renewal: null, pause: null, stop: null })
}
