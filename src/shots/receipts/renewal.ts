/** What a receipt tells of a proof that a job renewed, or tried to. */
import * as v from 'valibot'
import { dueFields } from '../money.js'

/** One renewal; the field is null where none was due. */
export const renewalShape = v.strictObject({
  slot: v.picklist(['screenshot', 'report']),
  /** `failed`: it was sent and gave no proof; `not_sent`: what kept it from being sent is told. */
  outcome: v.picklist(['renewed', 'failed', 'not_sent']),
  reason: v.nullable(v.string()),
  operation_id: v.nullable(v.string()),
  cost_microusd: v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
  ...dueFields,
})
/** A renewal, as receipts keep it. */
export type ProofRenewal = v.InferOutput<typeof renewalShape>

/** A renewal as a list of calls: none or one. */
export const callsOfRenewal = (renewal: ProofRenewal | null): readonly ProofRenewal[] =>
  (renewal === null ? [] : [renewal])
