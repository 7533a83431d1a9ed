/** One image from its row to its outcome; what ends the whole batch is told apart. */
import { SallyportError } from '../../base/errors.js'
import { resultNotStored } from '../../gateway/call/not-stored.js'
import { captureReason, type CaptureReason } from '../captures/gate.js'
import type { ReanalyzeGroup, ReanalyzeReason } from '../constants.js'
import type { ShotsContext } from '../context.js'
import { boundChanged, stopsPass } from '../cut-short.js'
import { routeStatusOf } from '../gates.js'
import { countingLock } from '../locked.js'
import { pauseBehind } from '../paused.js'
import type { Observation } from '../observations/observation-rows.js'
import type { Examiner } from '../scan/types.js'
import { blockRows, markMissing } from './mark.js'
import type { DescribedBefore } from './reuse.js'
import type { Settling } from './settling.js'
import { unsettled } from '../observations/unsettled.js'
import { sendImage, type Attempt, type Sent, type Terms } from './send-image.js'
import { blockingKinds, itemOutcomeOf, sourceMissing, type ItemOutcome } from './outcome.js'
import { lookInto, readImage, type PrivacyVerdict } from './privacy.js'

/** How one image ended. */
export interface OneEnd {
  readonly outcome: ItemOutcome
  readonly reason: string | null
  readonly operationId: string | null
  readonly costMicrousd: number | null
  /** Why no further image may be tried in this pass; null lets it go on. */
  readonly stop: string | null
  /** It took the analysis of an image that it repeats: nothing was sent. */
  readonly reused: boolean
  /** The error behind it, for a caller who asked for this one image. */
  readonly error: SallyportError | null
}

/** An image that was looked at and may be sent. */
interface Prepared {
  readonly row: Observation
  readonly verdict: PrivacyVerdict
}

/** How images are read and looked into. */
interface Preparing {
  readonly recursive: boolean
  readonly examiner: Examiner
  /** A person released this one image by name, damaged or cut as it is. */
  readonly released: boolean
}

/** What a device captured is not even opened while it may not be sent. */
const keptHere = (ctx: ShotsContext, { edge }: Observation): CaptureReason | null => {
  if (edge === undefined) return null
  const view = ctx.gov.store.read()
  return captureReason(view, edge, routeStatusOf(ctx, view).consentId)
}

/** Reads the image of a row; at most `concurrency` of these are kept at a time. */
export const prepareImage = async (
  ctx: ShotsContext, row: Observation, { recursive, examiner, released }: Preparing,
): Promise<Prepared> => {
  const kept = keptHere(ctx, row)
  if (kept !== null) return { row, verdict: { kind: 'refused', reason: kept } }
  const verdict = await readImage(ctx, row, recursive)
  return { row, verdict: await lookInto(verdict, examiner, released) }
}

const without = {
  operationId: null, costMicrousd: null, stop: null, reused: false, error: null,
} as const

/** Why the next image would end no better: the lane, the connection, or what the gateway said. */
const stopOf = (
  ctx: ShotsContext, { errorKind, reason, httpStatus, operationId }: Sent,
): string | null => {
  // What is paid for behind it would be lost, too.
  if (reason === resultNotStored) return reason
  if (httpStatus !== null) return pauseBehind(ctx, 'screenshot', operationId)?.reason ?? null
  return stopsPass(errorKind) ? reason ?? errorKind : null
}

const endOf = (ctx: ShotsContext, result: Sent): OneEnd => {
  const { outcome, reason, operationId, receipt } = result
  return {
    outcome: itemOutcomeOf(result), reason: outcome === 'succeeded' ? null : reason ?? outcome,
    operationId, costMicrousd: receipt.cost.amount_microusd,
    stop: stopOf(ctx, result), reused: false, error: null,
  }
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Nothing was claimed, or its end could not be recorded: what kept it from being so. */
const refused = async (
  ctx: ShotsContext, row: Observation, error: unknown, agreed: Terms | null,
): Promise<OneEnd> => {
  if (!(error instanceof SallyportError)) throw error
  const { kind, code } = error
  const reason = error.reason ?? code
  if (reason === 'outcome_not_recorded') {
    const operationId = textOrNull(error.details['operation_id'])
    return { ...without, outcome: 'failed', reason, operationId, stop: reason, error }
  }
  if (blockingKinds.has(kind)) {
    await blockRows(ctx, [row.observation_id], reason)
    return { ...without, outcome: 'blocked', reason, error }
  }
  // What was said yes to is dearer by now, for every image that is left.
  const stop = agreed !== null && reason === boundChanged ? reason : null
  if (kind === 'conflict') return { ...without, outcome: 'skipped', reason, stop, error }
  if (stopsPass(kind)) return { ...without, outcome: 'skipped', reason, stop: reason, error }
  throw error
}

/** What is asked for. */
interface OneRequest {
  readonly reason: ReanalyzeReason | null
  readonly group: ReanalyzeGroup | null
  readonly agreed: Terms | null
  readonly timeoutMs: number
  /** What this pass knows of images that were described; null: each is asked anew. */
  readonly described: DescribedBefore | null
  /** What it knows of regions that go on changing; null: no image is held for a later one. */
  readonly settling: Settling | null
}

const sendOne = async (
  attempt: Attempt, { described, settling }: Pick<OneRequest, 'described' | 'settling'>,
): Promise<OneEnd> => {
  const { ctx, row, image } = attempt
  if (await described?.take(attempt) === true) {
    return { ...without, outcome: 'succeeded', reason: null, reused: true }
  }
  if (await settling?.hold(attempt) === true) {
    return { ...without, outcome: 'blocked', reason: unsettled }
  }
  const end = endOf(ctx, await countingLock(ctx.gov, () => sendImage(attempt)))
  if (end.outcome === 'succeeded') described?.add(row, image.fingerprint)
  return end
}

/** Ends one image: sent, a repeat of one that was, or refused with the row saying why. */
export const endImage = async (
  ctx: ShotsContext, { row, verdict }: Prepared,
  { reason, group, agreed, timeoutMs, ...known }: OneRequest,
): Promise<OneEnd> => {
  if (verdict.kind === 'unread') {
    const { error } = verdict
    return { ...without, outcome: 'skipped', reason: error.code, error }
  }
  try {
    if (verdict.kind === 'source_missing') {
      await markMissing(ctx, row.observation_id)
      return { ...without, outcome: 'blocked', reason: sourceMissing }
    }
    if (verdict.kind === 'refused') {
      await blockRows(ctx, [row.observation_id], verdict.reason)
      return { ...without, outcome: 'blocked', reason: verdict.reason }
    }
    return await sendOne({ ctx, row, image: verdict, reason, group, agreed, timeoutMs }, known)
  } catch (error) {
    return refused(ctx, row, error, agreed)
  }
}
