/**
 * Money that a job's calls leave to a person. A charge that nobody knows outweighs whatever else
 * became of the pass: its full bound stays held until somebody looks at the bill.
 */
import { moneyText } from '../base/money.js'
import * as v from 'valibot'
import { fail, type SallyportError } from '../base/errors.js'
import { dueKinds, moneyDueOf, settleCommand, type DueKind } from '../governance/ledger/due.js'
import type { View } from '../state/types.js'

/** What a receipt says of the money of one call. */
export const dueFields = {
  /** `settle`: nobody knows the charge. `review`: it passed its bound. Null: nothing is due. */
  due: v.nullable(v.picklist(dueKinds)),
  /** What stays held until then, micro-USD; null when nothing does. */
  held_microusd: v.nullable(v.pipe(v.number(), v.safeInteger(), v.minValue(0))),
}
/** The same as a type. */
interface DueFacts {
  readonly due: DueKind | null
  readonly held_microusd: number | null
}

/** One call of a job with its money. */
export interface CallMoney extends DueFacts {
  readonly operation_id: string | null
}

/** What is due for a call; a receipt's part without a call owes nothing. */
export const dueFactsOf = (view: View, operationId: string | null): DueFacts => {
  const due = operationId === null ? null : moneyDueOf(view, operationId)
  if (due === null) return { due: null, held_microusd: null }
  return { due: due.kind, held_microusd: due.kind === 'settle' ? due.heldMicrousd : null }
}

/** Whether a request was sent for a part of a receipt, or may have been. */
export const maySent = (
  one: CallMoney & { readonly cost_microusd: number | null, readonly reason: string | null },
): boolean => one.cost_microusd !== null || one.due !== null || one.reason === notRecorded

/** Reason of what was sent and whose end could not be recorded. */
export const notRecorded = 'outcome_not_recorded'

/** What all calls of a receipt hold together, micro-USD. */
export const heldOf = (calls: readonly DueFacts[]): number =>
  calls.reduce((sum, one) => sum + (one.held_microusd ?? 0), 0)

const unknownCharge = (job: string, calls: readonly CallMoney[]): SallyportError => {
  const held = heldOf(calls)
  const [first] = calls
  const id = first?.operation_id ?? 'OPERATION'
  const one = calls.length === 1
  return fail.blocked(
    `${job}_charge_unknown`,
    one
      ? `The charge of a request is not known; its full bound of ${moneyText(held)} stays held.`
      : `The charges of ${calls.length} requests are not known; ${moneyText(held)} stay held.`,
    {
      reason: 'charge_unknown',
      next: one
        ? `Look it up with the gateway, then run \`${settleCommand(id)}\`.`
        : 'See `sallyport ledger reservations`; then for each run '
          + `\`${settleCommand('OPERATION')}\`.`,
      details: {
        held_microusd: held, requests: calls.length, ...(one ? { operation_id: id } : {}),
      },
    },
  )
}

const overrun = (job: string, calls: readonly CallMoney[]): SallyportError => {
  const [first] = calls
  const id = first?.operation_id ?? 'OPERATION'
  return fail.blocked(
    `${job}_overrun`,
    calls.length === 1
      ? 'A charge passed its request bound; it stands and needs a review.'
      : `${calls.length} charges passed their request bound; they stand and need a review.`,
    {
      reason: 'overrun_review_required',
      next: calls.length === 1
        ? `Run \`sallyport ledger review ${id}\`.`
        : 'See `sallyport ledger reservations`; then for each run '
          + '`sallyport ledger review OPERATION`.',
      details: { requests: calls.length, ...(calls.length === 1 ? { operation_id: id } : {}) },
    },
  )
}

/**
 * The failure of calls that leave money to a person; null when none does. `job` begins its code:
 * `analysis_charge_unknown`, `digest_overrun`.
 */
export const dueFailure = (
  job: 'analysis' | 'digest' | 'job', calls: readonly CallMoney[],
): SallyportError | null => {
  const unknown = calls.filter((one) => one.due === 'settle')
  if (unknown.length > 0) return unknownCharge(job, unknown)
  const above = calls.filter((one) => one.due === 'review')
  return above.length > 0 ? overrun(job, above) : null
}
