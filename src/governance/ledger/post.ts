/**
 * The one place that writes an operation's row. It rereads the original reserve row at every step
 * and refuses when that row is not this operation's, runtime's and profile's; the refusal throws,
 * so the transaction writes nothing and the liability stays.
 */
import { canonicalJson } from '../../base/canonical.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import type { Tx, View } from '../../state/types.js'
import {
  collections, type LedgerAccount, type LedgerRow, type Reservation, type Runtime,
} from '../rows.js'
import { requireAccount } from './account.js'
import { evidenceBytesMax } from './ledger-limits.js'
import { applyRow, isOpen, type Delta } from './machine.js'
import { findReservation } from './find-reservation.js'

/** Names the money that a step is about; compared with the original reserve row. */
export interface Binding {
  readonly operationId: string
  readonly runtime: Runtime
  readonly profile: string
}

/** A written step. */
export interface Posted {
  readonly row: LedgerRow
  readonly reservation: Reservation
}

type Draft = Pick<LedgerRow, 'kind' | 'amount_microusd' | 'evidence'>

const mismatch = (operationId: string): SallyportError =>
  fail.blocked(
    'reservation_binding_mismatch',
    'The original reserve row does not belong to this runtime, profile and operation.',
    {
      next: 'Run `sallyport state check`.',
      reason: 'reservation_binding_mismatch',
      details: { operation_id: operationId },
    },
  )

const outOfOrder = (reservation: Reservation, kind: LedgerRow['kind']): SallyportError =>
  fail.conflict(
    'ledger_step_out_of_order',
    `A ${kind} step cannot follow the state ${reservation.state} of this reservation.`,
    {
      details: {
        operation_id: reservation.operation_id, state: reservation.state,
        overrun: reservation.overrun, step: kind,
      },
    },
  )

/** Runs an operation's rows again from the first; undefined when they do not add up. */
const rebuild = (
  view: View, account: LedgerAccount, reservation: Reservation,
): Reservation | undefined => {
  let built: Reservation | undefined
  for (const id of reservation.row_ids) {
    const row = view.get(collections.ledgerRows, id)
    if (!row || row.row_id !== id || row.ledger_id !== account.ledger_id) return undefined
    const step = applyRow(built, row)
    if (typeof step === 'string') return undefined
    built = step.reservation
  }
  return built
}

/**
 * The reservation of an operation after its rows, from the original reserve row on, were read
 * again and compared with it and with the binding. Throws `not_found` `reservation_not_found`, or
 * `blocked` `reservation_binding_mismatch`.
 */
export const requireBound = (view: View, binding: Binding): Reservation => {
  const { operationId, runtime, profile } = binding
  const reservation = findReservation(view, operationId)
  if (!reservation) {
    throw fail.notFound('reservation_not_found', 'There is no reservation of this operation.')
  }
  const built = rebuild(view, requireAccount(view), reservation)
  const bound = built !== undefined
    && built.operation_id === operationId
    && built.runtime === runtime && built.profile === profile
    && canonicalJson(built) === canonicalJson(reservation)
  if (!bound) throw mismatch(operationId)
  return reservation
}

/** The evidence as it will be stored: plain JSON, bounded. Throws `rejected`. */
export const checkEvidence = (
  evidence: Readonly<Record<string, unknown>>,
): Record<string, unknown> => {
  const text = canonicalJson(evidence)
  const bytes = Buffer.byteLength(text, 'utf8')
  if (bytes > evidenceBytesMax) {
    throw fail.rejected(
      'evidence_too_large', `The evidence of a ledger row is at most ${evidenceBytesMax} bytes.`,
      { details: { bytes, bytes_max: evidenceBytesMax } },
    )
  }
  return JSON.parse(text) as Record<string, unknown>
}

const addTotals = (account: LedgerAccount, row: LedgerRow, delta: Delta): LedgerAccount => {
  const after = {
    ...account,
    settled_microusd: account.settled_microusd + delta.settled,
    held_microusd: account.held_microusd + delta.held,
    unknown_microusd: account.unknown_microusd + delta.unknown,
    rows: account.rows + 1,
    last_row_id: row.row_id,
  }
  const totals = [after.settled_microusd, after.held_microusd, after.unknown_microusd]
  const consumed = totals.reduce((sum, total) => sum + total, 0)
  // Every part and the sum stay exact integers, or nothing is written.
  const exact = [...totals, consumed].every((n) => Number.isSafeInteger(n) && n >= 0)
  if (!exact) {
    throw fail.blocked('ledger_overflow', 'The ledger totals would leave the integer range.', {
      next: 'Run `sallyport state check`.', reason: 'ledger_overflow',
    })
  }
  return after
}

/** Writes one row, the reservation that follows from it, and the account. */
export const post = (
  tx: Tx, now: string, binding: Binding, before: Reservation | undefined, draft: Draft,
): Posted => {
  const account = requireAccount(tx)
  const row: LedgerRow = {
    row_id: newId('row'),
    ledger_id: account.ledger_id,
    operation_id: binding.operationId,
    runtime: binding.runtime,
    profile: binding.profile,
    previous_row_id: account.last_row_id,
    created_at: now,
    ...draft,
  }
  const step = applyRow(before, row)
  if (step === 'order' && before) throw outOfOrder(before, row.kind)
  if (typeof step === 'string') throw mismatch(binding.operationId)
  const { reservation, delta } = step
  const after = addTotals(account, row, delta)
  tx.put(collections.ledgerRows, row.row_id, row)
  tx.put(collections.ledgerAccounts, after.ledger_id, after)
  place(tx, reservation)
  return { row, reservation }
}

const place = (tx: Tx, reservation: Reservation): void => {
  const { openReservations, closedReservations } = collections
  const id = reservation.operation_id
  const [to, from] = isOpen(reservation)
    ? [openReservations, closedReservations]
    : [closedReservations, openReservations]
  if (tx.get(from, id)) tx.remove(from, id)
  tx.put(to, id, reservation)
}
