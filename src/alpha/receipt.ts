import { moneyText } from '../base/money.js'
import * as v from 'valibot'
import { count, sha256 } from '../base/schema.js'
import { finishNote, finishReasons, type FinishReason } from '../base/finish-reason.js'
import { transportClaims, transportEntries, type ReceiptBase } from '../contact/receipt.js'
import type { Job, Task } from '../governance/rows.js'
import { alphaCostSource, alphaProfile, alphaSchemas, type AlphaProvider } from './constants.js'
import { parseUuidText } from './identity.js'

const text = v.pipe(v.string(), v.minLength(1))

/** Source of a charge that a person settled by hand. */
const manualCostSource = 'manual_operator_settlement'

const costShape = v.strictObject({
  /** Null while there is no charge. */
  source: v.nullable(v.picklist([alphaCostSource, manualCostSource])),
  /** Micro-USD charged; null while there is no charge. */
  amount_microusd: v.nullable(count),
  /** Where the operation's money stands; `none` when nothing was ever reserved. */
  state: v.picklist(['none', 'reserved', 'contacted', 'settled', 'released', 'unknown']),
  /** Ledger row that says so; null when nothing was ever reserved. */
  ledger_ref: v.nullable(text),
})

/**
 * The receipt: closed and content-safe. It holds ids, digests,
 * flags and money, and no text of question, answer, key or reply. `result_artifact_id` is a
 * member only after success.
 */
export const alphaReceiptShape = v.pipe(
  v.strictObject({
    schema: v.literal(alphaSchemas.receipt),
    task_id: text,
    attempt_id: text,
    job_id: text,
    request_id: text,
    operation_id: text,
    provider: text,
    profile: v.literal(alphaProfile),
    model: text,
    ...transportEntries,
    /** SHA-256 of the input artifact's plaintext. */
    input_digest: sha256,
    /** SHA-256 of the answer's UTF-8 bytes; null until the answer is the task's result. */
    output_digest: v.nullable(sha256),
    /** Canonical digest of the policy revision the contact rested on. */
    policy_digest: sha256,
    policy_revision: count,
    provider_billing_uuid: v.nullable(v.pipe(text, v.check((u) => parseUuidText(u) === u))),
    cost: costShape,
    no_learning: v.literal(true),
    /** Why the provider said that the answer ended; left out where it said nothing. */
    finish_reason: v.optional(v.picklist(finishReasons)),
    result_artifact_id: v.optional(text),
  }),
  v.check((r) => (r.result_artifact_id === undefined) === (r.output_digest === null)),
  v.check((r) => (r.cost.source === null) === (r.cost.amount_microusd === null)),
  v.check((r) => (r.cost.state === 'settled') === (r.cost.source !== null)),
)
export type AlphaReceipt = v.InferOutput<typeof alphaReceiptShape>

/** Rows and digests that a receipt is built from. */
export interface ReceiptParts extends Omit<ReceiptBase, 'lastRow'> {
  readonly task: Task
  readonly job: Job
  readonly provider: AlphaProvider
  readonly inputDigest: string
  readonly outputDigest: string | null
  readonly billingUuid: string | null
  readonly finishReason: FinishReason | null
}

/** Builds and checks a receipt; throws when the parts contradict each other. */
export const buildReceipt = (parts: ReceiptParts): AlphaReceipt => {
  const { task, job, route, policy } = parts
  const succeeded = task.state === 'succeeded'
  if (succeeded && task.result_artifact_id === null) {
    throw new TypeError('a succeeded task has a result')
  }
  return v.parse(alphaReceiptShape, {
    schema: alphaSchemas.receipt,
    task_id: task.task_id,
    attempt_id: job.attempt_id,
    job_id: job.job_id,
    request_id: job.request_id,
    operation_id: task.operation_id,
    provider: route?.provider ?? parts.provider.name,
    profile: alphaProfile,
    model: route?.model ?? parts.provider.model_id,
    ...transportClaims,
    input_digest: parts.inputDigest,
    output_digest: succeeded ? parts.outputDigest : null,
    policy_digest: policy.sha256,
    policy_revision: policy.revision,
    provider_billing_uuid: parts.billingUuid,
    cost: costOf(parts),
    no_learning: true,
    ...(parts.finishReason === null ? {} : { finish_reason: parts.finishReason }),
    ...(succeeded ? { result_artifact_id: task.result_artifact_id } : {}),
  })
}

const costOf = ({ task, reservation, settlement }: ReceiptParts): AlphaReceipt['cost'] => {
  if (reservation === null) {
    return { source: null, amount_microusd: null, state: 'none', ledger_ref: null }
  }
  const foreign = reservation.operation_id !== task.operation_id ||
    (settlement !== null && settlement.operation_id !== task.operation_id)
  if (foreign) throw new TypeError('a receipt tells the money of its own operation only')
  if (reservation.state !== 'settled') {
    const ledgerRef = reservation.row_ids.at(-1) ?? null
    return { source: null, amount_microusd: null, state: reservation.state, ledger_ref: ledgerRef }
  }
  // The source is read off the row; without it a receipt would vouch for billing that never was.
  if (settlement === null) throw new TypeError('a settled charge has its ledger row')
  return {
    source: settlement.kind === 'manual_settle' ? manualCostSource : alphaCostSource,
    amount_microusd: reservation.charged_microusd,
    state: 'settled',
    ledger_ref: settlement.row_id,
  }
}

/** The receipt as one line for a terminal's error stream. */
export const receiptLine = (receipt: AlphaReceipt): string => {
  const { cost } = receipt
  const charge = cost.amount_microusd === null
    ? `cost ${cost.state}` : `cost ${moneyText(cost.amount_microusd)} (${cost.source})`
  const note = finishNote(receipt.finish_reason)
  return [
    `receipt ${receipt.task_id}`, receipt.provider, receipt.model, charge,
    `billing ${receipt.provider_billing_uuid ?? 'none'}`,
    ...(note === null ? [] : [note]),
    'TLS; no attestation, no end-to-end encryption',
  ].join(' · ')
}
