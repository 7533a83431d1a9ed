import * as v from 'valibot'
import { sha256Hex } from '../base/canonical.js'
import {
  isEventStream, isIdentityEncoded, isRecord, isRedirect, member, parseReply, saysError,
  type JsonRecord,
} from '../net/reply.js'
import type { HttpsReply } from '../net/types.js'
import { alphaCostSource, alphaLimits, alphaSchemas } from './constants.js'
import { isOperationId, parseUuidText } from './identity.js'

/** Why a billing reply gives no charge, in the order of the checks; texts for people. */
export const billingReasons = {
  transport: 'no billing reply came',
  redirect: 'billing answered with a redirect, which is never followed',
  http_status: 'billing answered with a status other than 200',
  no_entry: 'billing holds no entry for this inference',
  cost_zero_unconfirmed: 'billing says 0 once, which may mean not yet recorded',
  content_encoding: 'the billing reply is compressed or otherwise encoded, and is not decoded',
  oversize: 'the billing reply is larger than 16 KiB',
  event_stream: 'the billing reply is an event stream',
  malformed_json: 'the billing reply is not one strict JSON object',
  envelope: 'the billing reply holds no list of entries',
  error_member: 'the billing reply carries an error beside its list',
  entry_count: 'the billing reply holds more than one entry',
  entry_malformed: 'the billing entry is not an object',
  request_id: 'the billing entry names another inference, or none',
  warning: 'the billing entry carries a warning',
  cost_missing: 'the billing entry holds no cost',
  cost_not_integer: 'the cost is not an integer',
  cost_out_of_range: 'the cost is outside 0..1000000000000 nano-USD',
} as const

/** Name of a billing outcome without a charge; never holds text of the reply. */
export type BillingReason = keyof typeof billingReasons

/**
 * What a billing reply is worth: a charge, nothing yet (a second attempt may follow), or a
 * definite violation (no other attempt, the charge stays unknown).
 */
export type BillingVerdict =
  | {
    readonly kind: 'cost'
    /** Charge as billed, nano-USD. */
    readonly nanoUsd: number
    /** The charge in the ledger's unit, micro-USD, rounded up. */
    readonly microUsd: number
    /** SHA-256 of the raw reply bytes. */
    readonly sha256: string
  }
  | { readonly kind: 'no_verdict'; readonly reason: BillingReason }
  | { readonly kind: 'violation'; readonly reason: BillingReason }

/** Ceiling of nano-USD / 1000 in integers; exact over the whole range. */
export const microFromNano = (nanoUsd: number): number =>
  (nanoUsd - (nanoUsd % 1_000)) / 1_000 + (nanoUsd % 1_000 === 0 ? 0 : 1)

/** The verdict on an attempt that brought no reply at all. */
export const noBillingReply: BillingVerdict = { kind: 'no_verdict', reason: 'transport' }

/**
 * Judges one billing reply.
 * Total. `earlier` are the verdicts of the attempts before this one: a cost of 0 is believed only
 * when it is the second 0, because an id not yet recorded is answered with 0 too.
 */
export const judgeBilling = (
  reply: HttpsReply,
  expected: { readonly uuid: string; readonly earlier: readonly BillingVerdict[] },
): BillingVerdict => {
  if (isRedirect(reply.status)) return notYet('redirect')
  if (reply.status !== 200) return notYet('http_status')
  if (!isIdentityEncoded(reply.headers)) return violation('content_encoding')
  if (reply.body.length > alphaLimits.billingBytesMax) return violation('oversize')
  if (isEventStream(reply.headers)) return violation('event_stream')
  const root = parseReply(reply.body, {
    bytesMax: alphaLimits.billingBytesMax, depthMax: alphaLimits.replyDepthMax,
  })
  if (root === null) return violation('malformed_json')
  const entries = member(root, 'requests')
  if (!Array.isArray(entries)) return violation('envelope')
  if (entries.length === 0) return notYet('no_entry')
  if (saysError(root)) return violation('error_member')
  if (entries.length > 1) return violation('entry_count')
  const entry: unknown = entries[0]
  if (!isRecord(entry)) return violation('entry_malformed')
  const nanoUsd = judgeEntry(entry, expected.uuid)
  if (typeof nanoUsd === 'string') return violation(nanoUsd)
  if (nanoUsd === 0 && !expected.earlier.some(isFirstZero)) return notYet('cost_zero_unconfirmed')
  const microUsd = microFromNano(nanoUsd)
  return { kind: 'cost', nanoUsd, microUsd, sha256: sha256Hex(reply.body) }
}

const notYet = (reason: BillingReason): BillingVerdict => ({ kind: 'no_verdict', reason })
const violation = (reason: BillingReason): BillingVerdict => ({ kind: 'violation', reason })
const isFirstZero = (verdict: BillingVerdict): boolean =>
  verdict.kind === 'no_verdict' && verdict.reason === 'cost_zero_unconfirmed'

const judgeEntry = (entry: JsonRecord, uuid: string): number | BillingReason => {
  if (parseUuidText(member(entry, 'requestId')) !== uuid) return 'request_id'
  const warning = member(entry, 'warning')
  if (warning !== undefined && warning !== null && warning !== '') return 'warning'
  const cost = member(entry, 'costNanoUsd')
  if (cost === undefined) return 'cost_missing'
  // Lexemes that are not plain integers arrive as their own type, so 1.0 and 1e3 stop here too.
  if (typeof cost !== 'number' || !Number.isSafeInteger(cost) || Object.is(cost, -0)) {
    return 'cost_not_integer'
  }
  const inRange = cost >= alphaLimits.costNanoUsdMin && cost <= alphaLimits.costNanoUsdMax
  return inRange ? cost : 'cost_out_of_range'
}

const integer = (max: number) => v.pipe(v.number(), v.safeInteger(), v.minValue(0), v.maxValue(max))

/**
 * Typed evidence of one settlement, closed. `source` is this capability's own and
 * is neither a gateway's usage cost nor a person's settlement; there is no token field.
 */
export const billingEvidenceShape = v.pipe(
  v.strictObject({
    schema: v.literal(alphaSchemas.billingEvidence),
    operation_id: v.pipe(v.string(), v.check(isOperationId)),
    billing_uuid: v.pipe(v.string(), v.check((uuid) => parseUuidText(uuid) === uuid)),
    source: v.literal(alphaCostSource),
    cost_nano_usd: integer(alphaLimits.costNanoUsdMax),
    cost_microusd: integer(alphaLimits.microusdMax),
    response_sha256: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
    /** Which billing POST gave it. */
    attempt: v.picklist([1, 2]),
  }),
  v.check((e) => e.cost_microusd === microFromNano(e.cost_nano_usd)),
)
type BillingEvidence = v.InferOutput<typeof billingEvidenceShape>

/** Evidence for the ledger's settlement row; throws on parts that could not be bound. */
export const buildBillingEvidence = (args: {
  readonly operationId: string
  readonly billingUuid: string
  readonly cost: Extract<BillingVerdict, { kind: 'cost' }>
  readonly attempt: 1 | 2
}): BillingEvidence =>
  v.parse(billingEvidenceShape, {
    schema: alphaSchemas.billingEvidence,
    operation_id: args.operationId,
    billing_uuid: args.billingUuid,
    source: alphaCostSource,
    cost_nano_usd: args.cost.nanoUsd,
    cost_microusd: args.cost.microUsd,
    response_sha256: args.cost.sha256,
    attempt: args.attempt,
  })
