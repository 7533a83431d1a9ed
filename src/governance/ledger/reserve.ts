import { fail } from '../../base/errors.js'
import type { Tx } from '../../state/types.js'
import { collections, runtimes, type LedgerRow, type Reservation } from '../rows.js'
import { requireAccount } from './account.js'
import { amountMicrousdMax, checkAmount, checkName } from './limits.js'
import { post, requireBound, type Binding } from './post.js'
import { consumedOf, findReservation } from './read.js'

/** A hold to be taken before anyone is contacted. */
export interface ReserveRequest extends Binding {
  readonly taskId: string | null
  /** Principal id of the owner who pays. */
  readonly principal: string
  /** Full liability of the operation, 1..1_000_000_000 micro-USD. */
  readonly bound: number
}

/** A hold; `replayed` when the same request had taken it before. */
export interface Reserved {
  readonly row: LedgerRow
  readonly reservation: Reservation
  readonly replayed: boolean
}

const check = (request: ReserveRequest): void => {
  checkName('operation_id', request.operationId)
  checkName('profile', request.profile)
  checkName('principal', request.principal)
  if (request.taskId !== null) checkName('task_id', request.taskId)
  checkAmount('request_cost_bound', request.bound, 1, amountMicrousdMax)
  if (!runtimes.includes(request.runtime)) {
    throw fail.rejected('runtime_unknown', 'The runtime is not one that this ledger knows.')
  }
}

const replay = (tx: Tx, request: ReserveRequest, existing: Reservation): Reserved => {
  const same = existing.runtime === request.runtime && existing.profile === request.profile
    && existing.task_id === request.taskId && existing.principal === request.principal
    && existing.bound_microusd === request.bound
  if (!same) {
    throw fail.conflict(
      'operation_id_reused', 'This operation id already holds a reservation of other content.',
      { details: { operation_id: request.operationId } },
    )
  }
  const reservation = requireBound(tx, request)
  const row = tx.get(collections.ledgerRows, reservation.row_ids[0] ?? '')
  if (!row) throw fail.damaged('ledger_row_missing', 'A reservation names a row that is missing.')
  return { row, reservation, replayed: true }
}

/**
 * Takes a local admission hold of `bound` under the one ceiling (A-164: it is no maximum that a
 * vendor enforces). Dangling holds of dead operations count. The same id with the same content
 * answers with the first hold, in whatever state it is by now; with other content it is `conflict`
 * `operation_id_reused`. Throws `budget` `ceiling_exceeded` with ceiling, consumed and bound.
 */
export const reserve = (tx: Tx, now: string, request: ReserveRequest): Reserved => {
  check(request)
  const existing = findReservation(tx, request.operationId)
  if (existing) return replay(tx, request, existing)
  const account = requireAccount(tx)
  const consumed = consumedOf(account)
  if (consumed + request.bound > account.ceiling_microusd) {
    throw fail.budget(
      'ceiling_exceeded',
      `The bound of ${request.bound} micro-USD on top of ${consumed} passes the ceiling of `
        + `${account.ceiling_microusd}.`,
      {
        next: 'See what holds it with: sallyport ledger show',
        details: {
          ceiling: account.ceiling_microusd, consumed, bound: request.bound,
        },
      },
    )
  }
  const posted = post(tx, now, request, undefined, {
    kind: 'reserve',
    amount_microusd: request.bound,
    evidence: { task_id: request.taskId, principal: request.principal },
  })
  return { ...posted, replayed: false }
}
