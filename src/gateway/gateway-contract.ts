/** What goes in and comes out of the operations of the general model route. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import type { SallyportError } from '../base/errors.js'
import { sentence } from '../base/told.js'
import { gravest, partialOf } from '../base/outcome.js'
import { closedObject, strictInteger } from '../base/schema.js'
import { slotNames } from './constants.js'
import { gatewayShowShape } from './projection.js'
import type { CanaryEntry, ProofResult } from './prove.js'
import { gatewayReceiptShape } from './receipt.js'
import { gatewayInputShape } from './setup.js'

const show = { document: 'gateway', output: gatewayShowShape } as const

export const gatewayShow = contract({ ...show, name: 'gateway.show' })

export const gatewaySetup = contract({
  ...show,
  name: 'gateway.setup',
  input: closedObject({
    gateway: gatewayInputShape,
    expected_policy_revision: v.optional(strictInteger(0, Number.MAX_SAFE_INTEGER)),
  }),
})

const provedShape = v.strictObject({
  slot: v.picklist(slotNames),
  made: v.boolean(),
  proof_id: v.string(),
  made_at: v.string(),
  reply_model: v.string(),
  reply_provider: v.string(),
  cost_microusd: v.number(),
  receipt: gatewayReceiptShape,
})
/** A proof that stands. */
export type ProvedDocument = v.InferOutput<typeof provedShape>

const entryShape = v.union([
  v.strictObject({ ok: v.literal(true), ...provedShape.entries }),
  v.strictObject({
    ok: v.literal(false), slot: v.picklist(slotNames), code: v.string(),
    reason: v.nullable(v.string()), message: sentence,
  }),
])
/** One slot of many: its proof, or why there is none. */
export type ProofEntry = v.InferOutput<typeof entryShape>

const provedDocument = ({ slot, made, proof, receipt }: ProofResult): ProvedDocument => ({
  slot, made, proof_id: proof.proof_id, made_at: proof.made_at, reply_model: proof.reply_model,
  reply_provider: proof.reply_provider, cost_microusd: proof.cost_microusd, receipt,
})

const entryDocument = (outcome: CanaryEntry): ProofEntry => {
  if (outcome.ok) return { ok: true, ...provedDocument(outcome) }
  const { code, reason, message } = outcome.error
  return { ok: false, slot: outcome.slot, code, reason, message }
}

const isMany = (
  result: ProofResult | readonly CanaryEntry[],
): result is readonly CanaryEntry[] => Array.isArray(result)

const sentOutcomes: readonly unknown[] = [
  'charge_unknown', 'overrun', 'reply_rejected', 'authority_lost',
]

const isSent = ({ details }: SallyportError): boolean => sentOutcomes.includes(details['outcome'])

/** Ends of what was sent whose money waits for a person; unrecorded: its bound stays held. */
const isDue = (error: SallyportError): boolean =>
  error.reason === 'outcome_not_recorded' || (error.kind === 'blocked' && isSent(error))

/** Money that waits for a person first; else what was made of all, and why the rest was not. */
const canaryFailure = (entries: readonly CanaryEntry[]): SallyportError | null => {
  const errors = entries.flatMap((one) => (one.ok ? [] : [one.error]))
  const due = errors.filter(isDue)
  if (due.length > 0) return gravest(due)
  const made = entries.filter((one) => one.ok && one.made)
  return partialOf(gravest(errors), {
    done: made.length,
    sent: errors.filter(isSent).length,
    counts: {
      made: made.length, failed: errors.length,
      cost_microusd: entries.reduce((sum, one) =>
        sum + (one.ok && one.made ? one.receipt.cost.amount_microusd ?? 0 : 0), 0),
    },
  })
}

/** One proof, or one entry for each slot that is set; the gravest failure speaks for many. */
export const gatewayProve = contract({
  name: 'gateway.prove',
  document: 'gateway.proof',
  input: closedObject({
    /** Left out for every slot that is set. */
    slot: v.optional(v.picklist(slotNames)),
    if_stale: v.optional(v.boolean()),
  }),
  output: v.union([provedShape, v.array(entryShape)]),
  toDocument: (result: ProofResult | readonly CanaryEntry[]) =>
    isMany(result) ? result.map(entryDocument) : provedDocument(result),
  failure: (result) => (isMany(result) ? canaryFailure(result) : null),
})
