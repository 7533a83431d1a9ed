/**
 * The analysis job (S-019): analyses of ended processes are settled, blocked rows whose reason is
 * gone return, pending images (the newest day first, of each day the oldest first) are read, judged
 * and sent one after the other, and one receipt tells of each. A lock or a lane that cannot be had
 * leaves the rest pending.
 */
import { SallyportError } from '../../base/errors.js'
import { nowIso } from '../../governance/context.js'
import type { View } from '../../state/types.js'
import type { ReanalyzeGroup, ReanalyzeReason } from '../constants.js'
import { isWaitingHere } from '../captures/places.js'
import type { ShotsContext } from '../context.js'
import { disputedIn } from '../disputed.js'
import { currentFacts, rowClassificationNow } from '../observations/as-of-now.js'
import {
  countObservations, takeObservations, type ObservationFilter,
} from '../observations/find.js'
import { newestDayFirst } from '../observations/newest-day.js'
import { isProofReason, routeStatusOf, type GateReason, type RouteStatus } from '../gates.js'
import { transactCounted } from '../locked.js'
import { dueFactsOf, heldOf, maySent } from '../money.js'
import type {
  AnalysisFacts, AnalysisItem, AnalysisReceipt, BlockedReasons,
} from '../receipts/analysis.js'
import { appendReceipt } from '../receipts/append.js'
import { isIdleAnalysis, noteIdleTick } from '../receipts/idle.js'
import { callsOfRenewal, type ProofRenewal } from '../receipts/renewal.js'
import { pauseBehind, visionPause } from '../paused.js'
import { renewProofIfDue } from '../renew-proof.js'
import { folderProblemNow } from '../scan/unmounted.js'
import { locateHere } from '../source/folder-machine.js'
import { shotCollections as c, type Observation } from '../observations/observation-rows.js'
import { makeExaminer } from '../scan/examiner.js'
import type { Examiner } from '../scan/types.js'
import {
  analysisSettings, isRecursive, savedSettings, type AnalysisSettings,
} from '../source/settings.js'
import { blockedCount, blockedReasons, isNobodysMatter, reasonGone } from './blocked.js'
import { earlierCall } from './earlier-call.js'
import { blockRows } from './mark.js'
import { endImage, prepareImage, type OneEnd } from './one.js'
import { isRowSelected } from './privacy.js'
import { DescribedBefore } from './reuse.js'
import {
  heldRows, isReady, keptNow, persistMeaning, restoreBlocked, restoreHeld, returnUncertain,
} from './restore.js'
import { requireRoute, type Terms } from './send-image.js'
import { settleAnalyses } from './settle.js'
import { isYoung, Settling } from './settling.js'
import { unsettled } from '../observations/unsettled.js'
import { betweenReadings } from '../usage-readings.js'
import { endsBlocked } from '../waiting.js'

const job = 'screenshot_folder_analysis'

/** How a batch is asked for. */
interface AnalyzeOptions {
  /** Most images of this pass; the setting when left out. */
  readonly limit?: number
  /** A tick of the job: never more than the concurrency window (S-208). */
  readonly scheduled: boolean
  /** Images that are held for later ones are taken up, and none is held. */
  readonly include?: typeof unsettled
}

interface Batch {
  readonly ctx: ShotsContext
  readonly options: AnalyzeOptions
  readonly settings: AnalysisSettings
  readonly limit: number
  /** Null for the job's own analysis of pending rows. */
  readonly reason: ReanalyzeReason | null
  /** What the images were chosen by together; null where they were not. */
  readonly group: ReanalyzeGroup | null
  /** What they were chosen under; null for the job's own. */
  readonly agreed: Terms | null
  /** A person released the image by name, damaged or cut as it is. */
  readonly released: boolean
  readonly startedMs: number
  readonly items: AnalysisItem[]
  skipped: number
  restored: number
  needs: number
  stale: number
  passedOver: number
  passedOverReasons: BlockedReasons
  renewal: ProofRenewal | null
  /** Why the route is closed for every image; null while it is open. */
  closed: string | null
  /** Every gate that is closed for all images. */
  gates: readonly GateReason[]
  consentId: string | null
  stop: string | null
  /** Why what waits is left alone, where the gateway refused an earlier request. */
  pausedBy: string | null
  /** Why stored captures could not be read, and how many: they are tried again by each pass. */
  unread: string | null
  unreadCount: number
}

const pendingOf = (folderDigest: string) =>
  ({ statuses: ['pending'] as const, meant: isWaitingHere(folderDigest) })

/** How many images wait for a later pass, and since when the oldest was captured. */
const waitingNow = (ctx: ShotsContext): Pick<AnalysisFacts, 'waiting' | 'waiting_since'> => {
  const view = ctx.gov.store.read()
  const { folderDigest } = currentFacts(ctx, view)
  if (folderDigest === null) return { waiting: 0, waiting_since: null }
  const isHere = isWaitingHere(folderDigest)
  const waiting: ObservationFilter = {
    ...pendingOf(folderDigest), meant: (key) => key.classification === null && isHere(key),
  }
  const [oldest] = takeObservations(view, waiting, 1)
  return {
    waiting: countObservations(view, waiting, Infinity),
    waiting_since: oldest?.captured_at ?? null,
  }
}

/** Some rows by their ids, then all others that wait, newest day first. */
function* waitingRows(
  ctx: ShotsContext, view: View, folderDigest: string, first: readonly string[],
): Generator<Observation, void, undefined> {
  for (const id of first) {
    const row = view.get(c.observations, id)
    if (row !== undefined) yield row
  }
  for (const row of newestDayFirst(ctx, view, pendingOf(folderDigest))) {
    if (!first.includes(row.observation_id)) yield row
  }
}

/** How rows that wait are gone through. */
interface Turns {
  /** Ids of rows that only somebody's retry may send: they are no work of the job. */
  readonly uncertain: string[]
  /** What was asked for comes before all others. */
  readonly first?: readonly string[]
  /** Rows that are younger wait for the one that may stand for them; null: none does. */
  readonly settleSeconds: number | null
}

/** Pending rows of the current folder that nobody is at. */
function* pendingRows(
  ctx: ShotsContext, view: View, { uncertain, first = [], settleSeconds }: Turns,
): Generator<Observation, void, undefined> {
  const now = currentFacts(ctx, view)
  if (now.folderDigest === null) return
  for (const row of waitingRows(ctx, view, now.folderDigest, first)) {
    if (row.analyzer.contact === 'claimed' || rowClassificationNow(row, now) !== null) continue
    // The one that stands for it may not be taken in yet.
    if (settleSeconds !== null && isYoung(row, settleSeconds, ctx.gov.clock.wallMs())) continue
    const { kind } = earlierCall(ctx, view, row)
    if (kind === 'none') {
      // Once another folder was chosen no file of this one is read any more.
      if (currentFacts(ctx, ctx.gov.store.read()).folderDigest !== now.folderDigest) return
      yield row
    } else if (kind !== 'running') uncertain.push(row.observation_id)
  }
}

/** The next rows, at most so many. */
const nextOf = <T>(rows: Iterator<T, unknown>, most: number): T[] => {
  const taken: T[] = []
  while (taken.length < most) {
    const next = rows.next()
    if (next.done === true) break
    taken.push(next.value)
  }
  return taken
}

const addItem = (batch: Batch, row: Observation, end: Omit<OneEnd, 'stop' | 'error'>): void => {
  if (end.outcome === 'skipped') {
    batch.skipped += 1
    return
  }
  batch.items.push({
    observation_id: row.observation_id, outcome: end.outcome, reason: end.reason,
    operation_id: end.operationId, cost_microusd: end.costMicrousd,
    ...(end.reused ? { reused: true } : {}),
    ...dueFactsOf(batch.ctx.gov.store.read(), end.operationId),
  })
}

const blockAll = async (
  batch: Batch, rows: readonly Observation[], reason: string,
): Promise<void> => {
  if (rows.length === 0) return
  await blockRows(batch.ctx, rows.map((row) => row.observation_id), reason)
  for (const row of rows) {
    addItem(batch, row, {
      outcome: 'blocked', reason, operationId: null, costMicrousd: null, reused: false,
    })
  }
}

/** A gate that is closed for all images; what keeps one of them here besides is told first. */
const blockBehindGate = async (
  batch: Batch, rows: readonly Observation[], closed: string, standing: RouteStatus,
): Promise<void> => {
  const view = batch.ctx.gov.store.read()
  const recursive = isRecursive(savedSettings(view))
  const reasonOf = (row: Observation): string =>
    keptNow(view, standing, row) ?? (isRowSelected(row, recursive) ? closed : 'recursive_off')
  for (const reason of new Set(rows.map(reasonOf))) {
    await blockAll(batch, rows.filter((row) => reasonOf(row) === reason), reason)
  }
}

/** What a pass knows of other images, so that some need not be sent. */
type Known = Pick<Parameters<typeof endImage>[2], 'described' | 'settling'>

/** Images that are held for later ones take no place of those that are sent. */
const placesTaken = ({ items }: Batch): number =>
  items.filter(({ reason }) => reason !== unsettled).length

/** A prepared set, at most the concurrency window (S-133), one after the other. */
const sendSet = async (
  batch: Batch, rows: readonly Observation[], examiner: Examiner, known: Known,
): Promise<void> => {
  const { ctx, settings, reason, group, agreed, released } = batch
  const timeoutMs = settings.jobTimeoutSeconds.value * 1_000
  const recursive = isRecursive(savedSettings(ctx.gov.store.read()))
  const preparing = { recursive, examiner, released }
  for (const one of await Promise.all(rows.map((row) => prepareImage(ctx, row, preparing)))) {
    if (batch.stop !== null || ctx.signal.aborted) {
      batch.stop ??= 'cancelled'
      batch.skipped += 1
      continue
    }
    const end = await endImage(ctx, one, { reason, group, agreed, timeoutMs, ...known })
    if (one.verdict.kind === 'unread') {
      batch.unread ??= end.reason
      batch.unreadCount += 1
    }
    addItem(batch, one.row, end)
    ctx.gov.observer.counts?.({ what: 'analysis', done: batch.items.length, of: null })
    batch.stop = end.stop
  }
}

/**
 * Sends them in their order until the limit is reached. One that turns out to be taken by another
 * process, or not to be sent by this pass, leaves its place to the next.
 */
const sendAll = async (batch: Batch, rows: Iterator<Observation, unknown>): Promise<void> => {
  const { ctx, settings, limit } = batch
  const size = settings.concurrency.value
  const set = nextOf(rows, Math.min(size, limit))
  // What forbids every contact refuses the pass: no image is touched for it.
  if (set.length > 0) await ctx.gateway.client()
  await (set.length === 0 ? sendSets(batch, set, rows) : betweenReadings(
    ctx, visionReadings(ctx), () => sendSets(batch, set, rows)))
  const left = limit - placesTaken(batch) - batch.skipped
  if (batch.stop !== null) batch.skipped += nextOf(rows, left).length
}

/** What usage of the key is read for, around this pass. */
const visionReadings = (ctx: ShotsContext): Parameters<typeof betweenReadings>[1] => ({
  use: { slot: 'screenshot', purpose: 'gateway.vision' },
  priority: 'normal',
  requires: (view) => requireRoute(routeStatusOf(ctx, view)).consent.principal,
})

const sendSets = async (
  batch: Batch, first: readonly Observation[], rows: Iterator<Observation, unknown>,
): Promise<void> => {
  const { ctx, settings, limit } = batch
  const size = settings.concurrency.value
  let set = first
  const examiner = makeExaminer()
  // Whoever asks for an image by name has it asked anew.
  const described = batch.reason === null ? new DescribedBefore(ctx, examiner) : null
  const seconds = settleSecondsOf(batch)
  const settling = described === null || seconds === null
    ? null : new Settling(ctx, examiner, { described, seconds })
  try {
    while (set.length > 0) {
      await sendSet(batch, set, examiner, { described, settling })
      if (batch.stop !== null) break
      set = nextOf(rows, Math.min(size, limit - placesTaken(batch)))
    }
    await described?.keep()
  } finally {
    await examiner.close()
  }
}

/** How long a pass waits for the image that stands for another; null where it holds none. */
const settleSecondsOf = ({ reason, options, settings }: Batch): number | null =>
  (reason === null && options.include === undefined ? settings.saved.settle_seconds ?? null : null)

/** What comes before any image: leftovers, meanings, and a folder that is there. */
const begin = async (batch: Batch): Promise<boolean> => {
  const { ctx } = batch
  await settleAnalyses(ctx.gov)
  const { needs, stale } = await persistMeaning(ctx)
  batch.needs = needs
  batch.stale = stale
  // A folder that is not mounted now has not lost its images.
  batch.stop = folderProblemNow(ctx, locateHere(ctx, ctx.gov.store.read()))
  return batch.stop === null
}

/** Whether images that are asked for are held for later ones, and would be sent else. */
const isAskedFor = ({ ctx, options }: Batch, view: View, standing: RouteStatus): boolean =>
  options.include !== undefined && heldRows(ctx, view, standing).next().done !== true

/** Whether a current proof would let an image go: without one nothing is paid for a proof. */
const somethingWaits = (batch: Batch, view: View, standing: RouteStatus): boolean => {
  const { ctx } = batch
  if (isAskedFor(batch, view, standing)) return true
  const isOpen = isReady(view, standing)
  const waiting = pendingRows(ctx, view, { uncertain: [], settleSeconds: settleSecondsOf(batch) })
  for (const row of waiting) {
    if (isOpen(row)) return true
  }
  return standing.ready && blockedReasons(ctx, view).some(({ reason }) =>
    reason === reasonGone || isProofReason(reason))
}

/** Images stay as they are while the gateway is left alone after a refusal. */
const sendOrWait = async (
  batch: Batch, rows: Iterator<Observation, unknown>, pausedBy: string | null,
): Promise<void> => {
  if (pausedBy === null) return sendAll(batch, rows)
  const { ctx } = batch
  const view = ctx.gov.store.read()
  const isAsked = isAskedFor(batch, view, routeStatusOf(ctx, view))
  if (isAsked || nextOf(rows, 1).length > 0) batch.pausedBy = pausedBy
}

const work = async (batch: Batch): Promise<void> => {
  const { ctx, limit } = batch
  if (!await begin(batch)) return
  const before = ctx.gov.store.read()
  const stood = routeStatusOf(ctx, before)
  if (somethingWaits(batch, before, stood)) {
    batch.renewal = await renewProofIfDue(ctx, 'screenshot')
  }
  // Each image is judged anew before it leaves; here a renewal alone opens anything.
  const standing = batch.renewal === null ? stood : routeStatusOf(ctx, ctx.gov.store.read())
  const { closed } = standing
  batch.closed = closed
  batch.gates = standing.gates
  if (standing.ready) {
    batch.consentId = standing.route?.consent.consent_id ?? null
    batch.restored = await restoreBlocked(ctx, standing, limit)
  }
  const pause = closed === null
    ? pauseBehind(ctx, 'screenshot', batch.renewal?.operation_id ?? null) : null
  const first = batch.options.include === undefined || closed !== null || pause !== null
    ? [] : await restoreHeld(ctx, standing, limit)
  batch.restored += first.length
  const view = ctx.gov.store.read()
  const uncertain: string[] = []
  const rows = pendingRows(ctx, view, { uncertain, first, settleSeconds: settleSecondsOf(batch) })
  batch.passedOver = blockedCount(ctx, view)
  if (batch.passedOver > 0) batch.passedOverReasons = blockedReasons(ctx, view)
  if (closed !== null) await blockBehindGate(batch, nextOf(rows, limit), closed, standing)
  else await sendOrWait(batch, rows, pause?.reason ?? null)
  await returnUncertain(ctx, uncertain)
}

const count = (items: readonly AnalysisItem[], outcome: AnalysisItem['outcome']): number =>
  items.filter((one) => one.outcome === outcome).length

/**
 * A pass that passes over images because a gate stands closed that a person has to open is no good
 * one, however often it comes. What another reason keeps here waits for no gate.
 */
const standingBlock = ({ ctx, closed, passedOverReasons }: Batch): string | null =>
  (closed !== null && passedOverReasons.some(({ reason }) => reason === closed)
    && endsBlocked(ctx, ctx.gov.store.read(), closed) ? closed : null)

const statusOf = (batch: Batch): Pick<AnalysisFacts, 'status' | 'reason'> => {
  const { items, stop } = batch
  if (stop !== null) return { status: 'degraded', reason: stop }
  const failed = items.find((one) => one.outcome === 'failed')
  if (failed !== undefined) return { status: 'degraded', reason: failed.reason }
  const blocked = items.find((one) =>
    one.outcome === 'blocked' && !isNobodysMatter(one.reason))
  const reason = blocked?.reason ?? batch.pausedBy ?? standingBlock(batch) ?? batch.unread
  return reason === null ? { status: 'ok', reason } : { status: 'blocked', reason }
}

/** Told by the pass that was refused and by those that it keeps away. */
const pausedUntil = ({ ctx, pausedBy, items, renewal }: Batch): string | null => {
  const touched = pausedBy !== null || renewal !== null || items.length > 0
  return touched ? visionPause(ctx, ctx.gov.store.read())?.until ?? null : null
}


const factsOf = (batch: Batch): AnalysisFacts => {
  const { ctx, items, settings, options } = batch
  const calls = [...callsOfRenewal(batch.renewal), ...items]
  const { status, reason } = statusOf(batch)
  return {
    status,
    reason,
    scheduled: options.scheduled,
    reanalyze_reason: batch.reason,
    limit: batch.limit,
    concurrency: settings.concurrency.value,
    timeout_seconds: settings.jobTimeoutSeconds.value,
    scanned: items.length + batch.skipped,
    analyzed: count(items, 'succeeded'),
    reused: items.filter((one) => one.reused === true).length,
    failed: count(items, 'failed'),
    blocked: count(items, 'blocked'),
    unsettled: items.filter((one) => one.reason === unsettled).length,
    skipped: batch.skipped,
    restored: batch.restored,
    ...waitingNow(ctx),
    passed_over: batch.passedOver,
    passed_over_reasons: batch.passedOverReasons,
    closed_gates: [...batch.gates],
    needs_reanalysis: batch.needs,
    stale_root: batch.stale,
    ...disputedIn(ctx, reason ?? batch.passedOverReasons[0]?.reason),
    cost_microusd: calls.reduce((sum, one) => sum + (one.cost_microusd ?? 0), 0),
    held_microusd: heldOf(calls),
    proof_renewal: batch.renewal,
    paused_until: pausedUntil(batch),
    consent_id: items.some((one) => one.operation_id !== null) ? batch.consentId : null,
    duration_ms: Math.max(0, Math.round(ctx.gov.clock.monotonicMs() - batch.startedMs)),
    items,
  }
}

/** Whether it ends the batch without being a defect: the lock, or a stop by the user. */
const endsBatch = (error: unknown): error is SallyportError =>
  error instanceof SallyportError && (error.kind === 'locked' || error.kind === 'cancelled')

/** Once something was sent there is a receipt to tell it, whatever refuses the rest. */
const leavesReceipt = (batch: Batch, error: unknown): error is SallyportError =>
  error instanceof SallyportError && error.kind !== 'damaged'
  && [...callsOfRenewal(batch.renewal), ...batch.items].some(maySent)

const close = async (batch: Batch): Promise<AnalysisReceipt> => {
  const { gov } = batch.ctx
  try {
    const facts = factsOf(batch)
    if (isIdleAnalysis({ ...facts, scanned: facts.scanned - batch.unreadCount })) {
      await transactCounted(gov, 'shots analyze', (tx) => noteIdleTick(tx, nowIso(gov), job))
      return { job, receipt_id: null, ...facts }
    }
    const { receipt_id } = await transactCounted(gov, 'shots analyze', (tx) =>
      appendReceipt(tx, nowIso(gov), job, { ...factsOf(batch) }))
    return { job, receipt_id, ...factsOf(batch) }
  } catch (error) {
    if (!endsBatch(error)) throw error
    batch.stop ??= error.reason ?? error.code
    return { job, receipt_id: null, ...factsOf(batch) }
  }
}

/** Why images are analysed again, and how they were chosen. */
type Asked = Pick<Batch, 'reason' | 'group' | 'agreed' | 'released'>

const newBatch = (
  ctx: ShotsContext, options: AnalyzeOptions, asked: Asked,
): Batch => {
  const settings = analysisSettings(ctx.gov.store.read(), ctx.env)
  const most = options.limit ?? settings.analysisLimit.value
  return {
    ctx, options, settings, ...asked, startedMs: ctx.gov.clock.monotonicMs(), items: [],
    limit: options.scheduled ? Math.min(most, settings.concurrency.value) : most,
    skipped: 0, restored: 0, needs: 0, stale: 0, passedOver: 0, passedOverReasons: [],
    consentId: null, stop: null, pausedBy: null, renewal: null, closed: null,
    gates: [], unread: null, unreadCount: 0,
  }
}

const finish = async (batch: Batch, doIt: () => Promise<void>): Promise<AnalysisReceipt> => {
  try {
    await doIt()
  } catch (error) {
    if (!endsBatch(error) && !leavesReceipt(batch, error)) throw error
    batch.stop = error.reason ?? error.code
  }
  return close(batch)
}

/**
 * One pass of the job. The receipt stands whatever its status; throws `rejected` where the folder
 * or a variable has no meaning, or the folder is another machine's, `damaged` where the state is.
 */
export const analyzeBatch = async (
  ctx: ShotsContext, options: AnalyzeOptions,
): Promise<AnalysisReceipt> => {
  const batch = newBatch(ctx, options, {
    reason: null, group: null, agreed: null, released: false,
  })
  return finish(batch, () => work(batch))
}

/** Analyses these very rows for one reason, with the same gates and the same receipt. */
export const reanalyzeRows = async (
  ctx: ShotsContext, rows: readonly Observation[], asked: Asked,
): Promise<AnalysisReceipt> => {
  const batch = newBatch(ctx, { scheduled: false, limit: rows.length }, asked)
  return finish(batch, async () => {
    if (!await begin(batch)) {
      batch.skipped = rows.length
      return
    }
    const standing = routeStatusOf(ctx, ctx.gov.store.read())
    batch.consentId = standing.route?.consent.consent_id ?? null
    const { closed } = standing
    await (closed === null
      ? sendAll(batch, rows.values()) : blockAll(batch, rows, closed))
  })
}
