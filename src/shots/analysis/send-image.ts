/**
 * One image through the one paid call: every gate is judged again in the claiming record, the
 * outcome is written in the closing one. Between the two no lock is held (S-169).
 */
import { canonicalJson, sha256Hex } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import type { CallResult } from '../../gateway/call/finish.js'
import type { CallEnd, CallOrder } from '../../gateway/call/order.js'
import { sendCall } from '../../gateway/call/send.js'
import type { GatewayProof } from '../../gateway/proof.js'
import type { SlotSetup } from '../../gateway/setup.js'
import { registerArtifact } from '../../governance/artifacts.js'
import type { Party } from '../../governance/stops/stop.js'
import type { Tx, View } from '../../state/types.js'
import { requireBudget } from '../budget.js'
import { captureReasonNow, type CaptureReason } from '../captures/gate.js'
import {
  analysisPromptVersion, analysisSchemaVersion, fromDevice, shotLabels, type ReanalyzeGroup,
  type ReanalyzeReason,
} from '../constants.js'
import type { ShotsContext } from '../context.js'
import { boundChanged } from '../cut-short.js'
import {
  closedSwitch, consentReaches, gateTextOf, imageBound, routeStatusOf, type GateReason,
  type RouteStatus,
} from '../gates.js'
import { openingHint } from '../opening.js'
import { currentFacts } from '../observations/as-of-now.js'
import { putObservation } from '../observations/observation-store.js'
import {
  countKeyOf, shotCollections as c, type Observation, type PayloadRef,
} from '../observations/observation-rows.js'
import { belowFolder } from '../source/closing.js'
import { isRecursive, savedSettings } from '../source/settings.js'
import { contentCalls, earlierCall, inputDigestOf } from './earlier-call.js'
import { isOfGroup } from './group.js'
import { folderChanged, rowAfter, sourceChanged, sourceMissing } from './outcome.js'
import { judgeAnalysis } from '../payload/parse.js'
import {
  isCapture, isSelected, isSourceGone, isStillThere, type ReadyImage,
} from './privacy.js'
import { analysisContent } from './prompt.js'
import { runningCollection } from './analysis-rows.js'
import type { AnalysisPayload } from '../payload/schema.js'

/** One analysis that is meant. */
export interface Attempt {
  readonly ctx: ShotsContext
  readonly row: Observation
  readonly image: ReadyImage
  /** Null for the job's own analysis of a pending row. */
  readonly reason: ReanalyzeReason | null
  /** What it was chosen by together with others; null where it was not. */
  readonly group: ReanalyzeGroup | null
  /** What was said yes to, once for all of them; null for the job's own. */
  readonly agreed: Terms | null
  readonly timeoutMs: number
}

/** A closed gate as an error. */
const closedGate = (reason: string, gates: readonly GateReason[] = []): Error => {
  const told = gateTextOf(reason)
  return fail.blocked('analysis_blocked', told?.text ?? 'This image may not be sent now.', {
    reason, next: openingHint(gates) ?? told?.next ?? 'See `sallyport shots status`.',
  })
}

/** The route, judged on rows of now. Throws `blocked` with the reason of the first closed gate. */
export const requireRoute = (standing: RouteStatus): {
  readonly setup: SlotSetup, readonly proof: GatewayProof,
  readonly consent: NonNullable<RouteStatus['route']>['consent'],
} => {
  const { closed, route, newestProof, gates } = standing
  if (closed !== null || route === null || newestProof === null) {
    throw closedGate(closed ?? 'model_not_set', gates)
  }
  return { setup: route.setup, consent: route.consent, proof: newestProof }
}

/** What the image was taken up for holds no more. */
export const changed = (reason: string): Error =>
  fail.conflict('observation_changed', 'The observation changed; nothing was sent.', { reason })

/**
 * Another folder was chosen since the image was taken in: also one whose turn comes only now, in a
 * pass that began under the folder of before.
 */
const requireFolder = (
  ctx: ShotsContext, view: View, { root_digest: folder, edge }: Observation,
): void => {
  if (edge === undefined && currentFacts(ctx, view).folderDigest !== folder) {
    throw changed(folderChanged)
  }
}

/**
 * What a device captured goes out only while its pairing, its upload and the consent that names the
 * device let it, whoever asks for it. Judged by the rows of the edge themselves, and only what was
 * read from there is taken for it.
 */
const captureKept = (
  { row: { edge, sha256 }, image: { source } }: Attempt, view: View, consentId: string,
): CaptureReason | null => {
  if (edge === undefined) return isCapture(source) ? fromDevice : null
  if (!isCapture(source)) return fromDevice
  return captureReasonNow(view, { shelf: source.shelf, row: { edge, sha256 } }, consentId)
}

/** The same as a refusal. Throws `blocked`. */
const requireLeaving = (attempt: Attempt, view: View, consentId: string): void => {
  const kept = captureKept(attempt, view, consentId)
  if (kept !== null) throw closedGate(kept)
}

/**
 * Whoever asks for an image again chose it by what stood then, and time passes before its turn
 * comes: a prompt waits, others go first. An analysis of meanwhile is not paid for once more.
 */
const requireChosen = (now: Observation, { ctx, row, group }: Attempt, view: View): void => {
  const isTried = now.analyzer.attempts !== row.analyzer.attempts
    || now.analyzer.operation_id !== row.analyzer.operation_id
  if (isTried) throw changed('analysed_meanwhile')
  if (group === null) return
  if (!isOfGroup(countKeyOf(now), currentFacts(ctx, view), group)) throw changed('not_in_group')
}

/** Whether the row may be claimed now, by whom asks. Throws `conflict` or `blocked`. */
const requireClaimable = (tx: Tx, attempt: Attempt): Observation => {
  const { ctx, row: { observation_id: id }, reason } = attempt
  const row = tx.get(c.observations, id)
  if (row === undefined || row.archived_at !== null) throw changed('archived')
  if (row.analyzer.contact === 'claimed') throw changed('analysis_in_progress')
  if (row.classification === 'stale_root') throw changed('stale_root')
  requireFolder(ctx, tx, row)
  if (reason === null && (row.analysis_status !== 'pending' || row.classification !== null)) {
    throw changed('not_pending')
  }
  if (reason !== null) requireChosen(row, attempt, tx)
  const { kind } = earlierCall(ctx, tx, row)
  if (kind === 'running') throw changed('analysis_in_progress')
  if (kind !== 'none' && reason !== 'provider_failure_retry') {
    throw changed('provider_failure_retry_needed')
  }
  return row
}

/** What an image was admitted under. */
type Claimed = Pick<ReturnType<typeof requireRoute>, 'consent' | 'proof'>

/** What an image goes out under. */
export interface Terms {
  /** Who consented, and pays. */
  readonly principal: string
  readonly consentId: string
  /** Most that one request can cost, and what is held for it, micro-USD. */
  readonly boundMicrousd: number
}

/** The terms of now. Throws `blocked` for a closed route. */
export const termsOf = (ctx: ShotsContext, view: View): Terms => {
  const { consent, setup } = requireRoute(routeStatusOf(ctx, view))
  const { principal, consent_id: consentId } = consent
  return { principal, consentId, boundMicrousd: imageBound(savedSettings(view), setup) }
}

/**
 * What was read ahead goes out only while it is there: a file that somebody deleted or changed
 * while the image waited is not sent. One look at a name, whatever the size of the file.
 */
export const requireSource = ({ row, image }: Attempt, view: View): void => {
  if (!isSelected(image.source, isRecursive(savedSettings(view)))) {
    throw closedGate('recursive_off')
  }
  if (isStillThere(view, row.root, image.source)) return
  if (!isSourceGone(row)) throw changed(sourceChanged)
  throw fail.blocked('source_missing', 'The file is gone; nothing was sent.', {
    reason: sourceMissing, next: 'When it is back, a scan finds it.',
  })
}

/**
 * Asked with the hold, at the mark and before the first byte: every gate is still open, and the
 * consent is the very one that the image was admitted under. One that was given while the image
 * waited reaches forward only, also where somebody asked for this image by name.
 */
const requireStill = (
  attempt: Attempt, { consent: { consent_id: consentId } }: Claimed, view: View,
): void => {
  const { ctx, reason } = attempt
  const { ready, reason: closed, route, gates } = routeStatusOf(ctx, view)
  if (!ready || route === null) throw closedGate(closed ?? 'model_not_set', gates)
  const row = view.get(c.observations, attempt.row.observation_id)
  const reached = route.consent.consent_id === consentId
    && (reason !== null || (row !== undefined && consentReaches(route.consent, row)))
  if (!reached) throw closedGate('before_consent')
  requireLeaving(attempt, view, consentId)
  requireFolder(ctx, view, attempt.row)
  requireSource(attempt, view)
}

/** Why what came back is not used: a switch that is off, another folder, or it lies too deep. */
const closedSince = (
  attempt: Attempt, { consent: { consent_id: consentId } }: Claimed, view: View,
): string | null => {
  const { ctx, row, image } = attempt
  const saved = savedSettings(view)
  const off = closedSwitch(saved)
  if (off !== null) return off
  if (row.edge !== undefined) return captureKept(attempt, view, consentId)
  if (currentFacts(ctx, view).folderDigest !== row.root_digest) return folderChanged
  return isSelected(image.source, isRecursive(saved)) ? null : 'recursive_off'
}

/** The folder or device that an image is from, for stops. */
const stoppedWith = (
  { row: { root_digest: folder, edge }, image }: Attempt,
): Pick<Party, 'folder' | 'device'> => ({
  folder: isSelected(image.source, false) ? folder : belowFolder(folder),
  ...(edge === undefined ? {} : { device: edge.device_id }),
})

/** What an image is admitted by: every gate, on rows of now, in the record that rests on them. */
export const admit = (
  attempt: Attempt, { consentId, boundMicrousd }: Terms, tx: Tx,
): ReturnType<typeof requireRoute> & { readonly row: Observation } => {
  const { ctx, reason } = attempt
  const { setup, consent, proof } = requireRoute(routeStatusOf(ctx, tx))
  if (consent.consent_id !== consentId) throw closedGate('before_consent')
  if (imageBound(savedSettings(tx), setup) !== boundMicrousd) throw changed(boundChanged)
  const row = requireClaimable(tx, attempt)
  if (reason === null && !consentReaches(consent, row)) throw closedGate('before_consent')
  requireLeaving(attempt, tx, consentId)
  requireBudget(tx, ctx.gov.clock.wallMs(), boundMicrousd)
  return { setup, consent, proof, row }
}

const claim = (
  attempt: Attempt, terms: Terms, tx: Tx, now: string, operationId: string,
): { readonly inputDigest: string; readonly claimed: Claimed } => {
  const { ctx, reason } = attempt
  const { setup, consent, proof, row } = admit(attempt, terms, tx)
  const { next } = contentCalls(ctx, tx, row, setup)
  const inputDigest = inputDigestOf(row, setup, next)
  const { analysis_status, analyzer } = row
  tx.put(runningCollection, row.observation_id, {
    observation_id: row.observation_id, input_digest: inputDigest, operation_id: operationId,
    before: {
      analysis_status, reason: analyzer.reason, detail: analyzer.detail,
      contact: analyzer.contact === 'claimed' ? 'none' : analyzer.contact,
      operation_id: analyzer.operation_id, input_digest: analyzer.input_digest,
    },
  })
  putObservation(tx, now, {
    ...row,
    analyzer: {
      ...analyzer, attempts: analyzer.attempts + 1, input_digest: inputDigest,
      operation_id: operationId, contact: 'claimed', reanalyze_reason: reason, updated_at: now,
    },
  })
  return { inputDigest, claimed: { proof, consent } }
}

const bytesOf = (payload: AnalysisPayload): Buffer => Buffer.from(canonicalJson(payload), 'utf8')

const refOf = (
  tx: Tx, now: string, principal: string, { receipt, usable, sealed: ref }: Ended,
): PayloadRef | null => {
  if (usable === null || ref === null) return null
  const { artifact_id } = registerArtifact(tx, now, {
    label: shotLabels.payload, ref, owner: principal, taskId: null, adopted: true,
  })
  return {
    artifact_id,
    sha256: sha256Hex(bytesOf(usable.content)),
    model: receipt.model,
    reply_model: receipt.reply_model ?? '',
    prompt_version: analysisPromptVersion,
    schema_version: analysisSchemaVersion,
    analyzed_at: now,
    operation_id: receipt.operation_id,
    cost_microusd: receipt.cost.amount_microusd ?? 0,
    earlier: false,
  }
}

type Ended = CallEnd<AnalysisPayload>

/** The closing record's part: status, payload and analyzer together, or none of them. */
const record = (
  attempt: Attempt, principal: string, tx: Tx, now: string, end: Ended,
): PayloadRef | null => {
  const { receipt: { outcome, reason, operation_id: operationId }, errorKind } = end
  const running = tx.get(runningCollection, attempt.row.observation_id)
  const row = tx.get(c.observations, attempt.row.observation_id)
  if (running?.operation_id !== operationId || row === undefined) return null
  tx.remove(runningCollection, row.observation_id)
  const sealed = refOf(tx, now, principal, end)
  putObservation(
    tx, now, rowAfter(row, running.before, { outcome, reason, errorKind }, sealed, now),
  )
  return sealed
}

/** How a call for an image ended. */
export type Sent = CallResult<PayloadRef>

const orderOf = (
  attempt: Attempt, terms: Terms,
): CallOrder<Claimed, AnalysisPayload, PayloadRef> => {
  const { ctx, image, timeoutMs } = attempt
  const { principal, boundMicrousd } = terms
  return {
    step: 'analyze',
    slot: 'screenshot',
    purpose: 'gateway.vision',
    priority: 'normal',
    principal,
    root: null,
    sends: { purpose: 'gateway.vision', ...stoppedWith(attempt) },
    subject: attempt.row.observation_id,
    content: analysisContent(image.bytes, image.mime),
    boundMicrousd,
    timeoutMs,
    claim: (tx, now, _setup, operationId) => claim(attempt, terms, tx, now, operationId),
    recheck: (now, claimed) => requireStill(attempt, claimed, now),
    closed: (now, claimed) => closedSince(attempt, claimed, now),
    judge: (reply, { proof }) => {
      const verdict = judgeAnalysis(reply, proof)
      return verdict.ok
        ? { refused: null, content: verdict.payload } : { refused: verdict.reason }
    },
    keep: ({ content }) => ctx.gov.store.artifacts.write(shotLabels.payload, bytesOf(content)),
    record: (tx, now, end) => record(attempt, principal, tx, now, end),
  }
}

/**
 * Analyses one image with at most one request. Throws what kept it from being claimed (`blocked`,
 * `budget`, `conflict`, `locked`); every end after that is a result and stands in the row.
 */
export const sendImage = async (attempt: Attempt): Promise<Sent> => {
  const { ctx, agreed } = attempt
  const now = termsOf(ctx, ctx.gov.store.read())
  // A bound that was lowered since holds less; what was said yes to is never passed.
  const boundMicrousd = Math.min(now.boundMicrousd, agreed?.boundMicrousd ?? Infinity)
  const { principal, consentId } = agreed ?? now
  return sendCall(ctx.gateway, orderOf(attempt, { principal, consentId, boundMicrousd }))
}
