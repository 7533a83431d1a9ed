import { moneyText } from '../base/money.js'
import * as v from 'valibot'
import { count, sha256 } from '../base/schema.js'
import { finishNote, finishReasons } from '../base/finish-reason.js'
import { transportEntries } from '../contact/receipt.js'
import {
  gatewayLimits, gatewayPurposes, gatewaySchemas, gatewayUsageSource, slotNames,
} from './constants.js'

const time = v.pipe(v.string(), v.isoTimestamp())
const replyName = v.nullable(v.pipe(v.string(), v.maxLength(gatewayLimits.nameCharsMax)))

/** How a paid call ended. */
export const callOutcomes = [
  'succeeded', 'not_contacted', 'charge_unknown', 'reply_rejected', 'overrun', 'authority_lost',
] as const
export type CallOutcome = (typeof callOutcomes)[number]

/**
 * Content-safe receipt of one paid call: names, digests and money, nothing of prompt or answer.
 * The retention and collection controls are what was asked for, with the date; whether an upstream
 * keeps to them cannot be seen from here.
 */
export const gatewayReceiptShape = v.strictObject({
  schema: v.literal(gatewaySchemas.receipt),
  operation_id: v.string(),
  input_digest: sha256,
  slot: v.picklist(slotNames),
  profile: v.string(),
  purpose: v.picklist(gatewayPurposes),
  grant_id: v.string(),
  model: v.string(),
  /** Exactly as the reply wrote them; null without an accepted reply. */
  reply_model: replyName,
  reply_provider: replyName,
  /** Why the model said that it stopped; left out where it said nothing of use. */
  finish_reason: v.optional(v.picklist(finishReasons)),
  url: v.string(),
  routing: v.strictObject({
    only: v.array(v.string()),
    allow_fallbacks: v.literal(false),
    data_collection: v.literal('deny'),
    zdr: v.literal(true),
    require_parameters: v.literal(true),
    asked_at: time,
  }),
  /** The consents that the contact rested on. */
  consent_id: v.nullable(v.string()),
  egress_consent_id: v.nullable(v.string()),
  decision_id: v.nullable(v.string()),
  policy: v.strictObject({ revision: count, sha256 }),
  cost: v.strictObject({
    source: v.nullable(v.literal(gatewayUsageSource)),
    /** The amount as the reply wrote it, US dollars. */
    usd: v.nullable(v.string()),
    amount_microusd: v.nullable(count),
    bound_microusd: count,
    state: v.nullable(v.picklist(['reserved', 'contacted', 'settled', 'released', 'unknown'])),
    ledger_ref: v.nullable(v.string()),
  }),
  outcome: v.picklist(callOutcomes),
  reason: v.nullable(v.string()),
  ...transportEntries,
  claimed_at: time,
  contacted_at: v.nullable(time),
  ended_at: time,
})
export type GatewayReceipt = v.InferOutput<typeof gatewayReceiptShape>

/** The receipt as one line for stderr. */
export const gatewayReceiptLine = (receipt: GatewayReceipt): string => {
  const { cost } = receipt
  const note = finishNote(receipt.finish_reason)
  const charge = cost.amount_microusd === null
    ? `${cost.state ?? 'no hold'}, bound ${moneyText(cost.bound_microusd)}`
    : moneyText(cost.amount_microusd)
  return `receipt ${receipt.operation_id}: ${receipt.outcome}, ${charge}, policy `
    + `${receipt.policy.revision}${note === null ? '' : `, ${note}`}`
}
