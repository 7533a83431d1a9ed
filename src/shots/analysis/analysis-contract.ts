/** What goes into an analysis or a reanalysis and what comes out. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { resultLost, resultNotStored } from '../../gateway/call/not-stored.js'
import { nextStepShape } from '../../base/error-shape.js'
import { nextStepsOf } from '../../base/next-step.js'
import { partialOf, type BatchWork } from '../../base/outcome.js'
import { closedObject, strictInteger } from '../../base/schema.js'
import { reanalyzeGroups, reanalyzeReasons, shotLimits } from '../constants.js'
import { boundChanged, cutKind } from '../cut-short.js'
import { isRoomReason, roomNext, undisputed } from '../disputed.js'
import { gateTextOf, type GateReason } from '../gates.js'
import { dueFailure, maySent } from '../money.js'
import { blockedNext } from './blocked.js'
import { unsettled } from '../observations/unsettled.js'
import { openingHint } from '../opening.js'
import { pausedNext } from '../paused.js'
import { callsOfRenewal } from '../receipts/renewal.js'
import { folderFailure, isFolderProblem } from '../source/folder.js'
import { analysisReceiptShape, type AnalysisReceipt } from '../receipts/analysis.js'

/** Images that a pass leaves alone unless they are asked for. */
export const included = [unsettled] as const

const limit = v.optional(strictInteger(1, shotLimits.analysisItemsMax))

/** Every call of a pass: its images, and a proof that it renewed. */
export const callsOfReceipt = ({ items, proof_renewal: renewal }: AnalysisReceipt) =>
  [...callsOfRenewal(renewal), ...items]

/** What a pass did, for whoever tells that it did not do all of it. */
export const analysisWork = (receipt: AnalysisReceipt): BatchWork => ({
  done: receipt.analyzed,
  sent: callsOfReceipt(receipt).filter(maySent).length,
  counts: {
    analyzed: receipt.analyzed, failed: receipt.failed, blocked: receipt.blocked,
    skipped: receipt.skipped, cost_microusd: receipt.cost_microusd,
    held_microusd: receipt.held_microusd,
  },
})

/** Why images that were named are not sent under what was said yes to. */
const changedMeanwhile: ReadonlySet<string | null> = new Set([boundChanged, 'before_consent'])

/**
 * What opens every closed gate, or what helps with the reason of this pass, or of the images that
 * it passed over; null for nothing.
 */
export const nextOfPass = (receipt: AnalysisReceipt): string | null => {
  const { closed_gates: gates, reason } = receipt
  if (receipt.reanalyze_reason !== null && changedMeanwhile.has(reason)) {
    return 'The consent or the bound changed meanwhile: run it again.'
  }
  const passedOver = receipt.passed_over_reasons.find((one) => one.reason !== unsettled)
  if (gates.length > 0 && (reason === null || gates.includes(reason))) {
    return openingHint(gates as readonly GateReason[])
  }
  if (receipt.paused_until !== null) return pausedNext('screenshot')
  const why = reason ?? passedOver?.reason
  if (isRoomReason(why)) return roomNext(why, receipt.disputed ?? [])
  if (reason !== null) return gateTextOf(reason)?.next ?? null
  return passedOver === undefined ? null : blockedNext(passedOver.reason, undisputed)
}

/** Why a pass did not do all of its work; null for a good one. */
const cutShort = (receipt: AnalysisReceipt): SallyportError | null => {
  const { status, reason } = receipt
  if (status === 'ok') return null
  if (reason !== null && isFolderProblem(reason)) return folderFailure(reason, null)
  const parts = {
    ...(reason === null ? {} : { reason }),
    next: nextOfPass(receipt) ?? 'See `sallyport shots status`.',
  }
  if (status === 'blocked' && receipt.blocked === 0 && receipt.paused_until !== null) {
    return fail.blocked(
      'analysis_paused',
      `The gateway refused the last request; none is sent before ${receipt.paused_until}.`,
      { ...parts, details: { paused_until: receipt.paused_until } },
    )
  }
  if (status === 'blocked') {
    const make = reason === 'budget_exhausted' ? fail.budget : fail.blocked
    const said = 'Some images are blocked; their reason stands with them.'
    return make('analysis_blocked', said, parts)
  }
  if (reason !== null && cutKind(reason) === 'cancelled') {
    return fail.cancelled('analysis_cancelled', 'Stopped; what is left waits.', parts)
  }
  if (reason === resultNotStored) return resultLost(analysisWork(receipt).counts)
  if (receipt.failed > 0 || receipt.receipt_id === null) {
    const make = receipt.receipt_id === null ? fail.locked : fail.remote
    return make('analysis_degraded', 'Not every image could be analysed.', parts)
  }
  return fail.locked('analysis_degraded', 'Work was left for a later pass.', parts)
}

/**
 * The failure that a pass tells of; null for a good one. A charge that nobody knows comes before
 * whatever else became of it.
 */
export const analysisFailure = (receipt: AnalysisReceipt): SallyportError | null =>
  dueFailure('analysis', callsOfReceipt(receipt))
    ?? partialOf(cutShort(receipt), analysisWork(receipt))

const analyzedShape = v.strictObject({
  ...analysisReceiptShape.entries,
  /** What takes up the images that stand blocked; empty where none do. */
  next: v.array(nextStepShape),
})

/** One pass over pending images. */
export const shotsAnalyze = contract({
  name: 'shots.analyze',
  input: closedObject({ limit, include: v.optional(v.picklist(included)) }),
  output: analyzedShape,
  toDocument: (receipt: AnalysisReceipt) => ({
    ...receipt, next: nextStepsOf(nextOfPass(receipt)),
  }),
  failure: analysisFailure,
})

const reanalysisShape = v.strictObject({
  /** The row that was analysed; null in bulk. */
  observation_id: v.nullable(v.string()),
  ...analysisReceiptShape.entries,
})
/** Result of a reanalysis. */
export type ReanalysisDocument = v.InferOutput<typeof reanalysisShape>

/** A receipt, and the row it is about; null in bulk. */
interface Reanalysis {
  readonly observationId: string | null
  readonly receipt: AnalysisReceipt
}

/** One image again, or many of a group; exactly one of `target` and `group`. */
export const shotsReanalyze = contract({
  name: 'shots.reanalyze',
  input: closedObject({
    /** Id of an observation, or the absolute path of a file. */
    target: v.optional(v.string()),
    group: v.optional(v.picklist(reanalyzeGroups)),
    /** Exactly one of them, under this name (S-179, S-180). */
    reason: v.picklist(reanalyzeReasons),
    /** Of one image: send it although it is damaged or cut. */
    release: v.optional(v.boolean()),
    limit,
  }),
  output: reanalysisShape,
  toDocument: ({ observationId, receipt }: Reanalysis) =>
    ({ observation_id: observationId, ...receipt }),
  failure: ({ receipt }: Reanalysis) => analysisFailure(receipt),
})
