/** What this source spent over the rolling day, as every face tells it. */
import * as v from 'valibot'
import { count } from '../base/schema.js'
import type { View } from '../state/types.js'
import { dayStatus } from './budget.js'

const nullableCount = v.nullable(count)

/** Money in micro-USD and requests, with their budgets; null where it cannot be told. */
export const dayShape = v.strictObject({
  budget_microusd: nullableCount, settled_microusd: nullableCount, held_microusd: nullableCount,
  budget_requests: nullableCount, requests: nullableCount,
  /** Charges above their bounds that wait for a review; each counts whole. */
  disputed_charges: nullableCount,
})
/** The same of one moment. */
export type Day = v.InferOutput<typeof dayShape>

/** Reads it. */
export const dayOf = (view: View, nowMs: number): Day => {
  const day = dayStatus(view, nowMs)
  return {
    budget_microusd: day.budgetMicrousd, settled_microusd: day.settledMicrousd,
    held_microusd: day.heldMicrousd, budget_requests: day.budgetRequests,
    requests: day.requests, disputed_charges: day.disputedCharges,
  }
}
