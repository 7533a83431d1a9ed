/**
 * What a replaced store owed and the present one does not know. A liability that the present rows
 * have never heard of is kept whole, as an unknown charge, whatever the ceiling says: money that
 * may have been spent is not unspent by putting an old copy back, nor by leaving out records that
 * can no longer be replayed.
 */
import type { Former } from '../../state/care/former.js'
import { each } from '../../state/each.js'
import type { Tx } from '../../state/types.js'
import { collections, type Reservation } from '../rows.js'
import { bootstrapLedger, isAccountingEmpty, setCeiling } from './account.js'
import { amountMicrousdMax } from './ledger-limits.js'
import { subjectPart } from './machine.js'
import { post } from './post.js'
import { findReservation } from './find-reservation.js'
import { highestCeiling, holdUnread } from './unread.js'
import { verifyLedger } from './verify-ledger.js'

/** The last that is known of an operation, and whether the records behind it are all known. */
interface Last {
  readonly doc: Reservation
  readonly whole: boolean
}

/**
 * A hold given back on proof owes nothing. One that was never contacted owes nothing either, unless
 * the record of its contact may be among those that nobody can read.
 */
const owes = ({ doc: { state }, whole }: Last): boolean =>
  state !== 'released' && (state !== 'reserved' || !whole)

const liabilityOf = ({ bound_microusd: bound, charged_microusd: charged }: Reservation): number =>
  Math.min(amountMicrousdMax, Math.max(bound, charged ?? 0))

/** The owner who may settle it: the same one, else the oldest of the present store. */
const ownerOf = (tx: Tx, reservation: Reservation): string => {
  if (tx.get(collections.principals, reservation.principal)) return reservation.principal
  const owners = tx.all(collections.principals).map(({ doc }) => doc)
  const enabled = owners.find(({ disabled_at }) => disabled_at === null) ?? owners[0]
  return enabled?.principal_id ?? reservation.principal
}

const carryOne = (tx: Tx, now: string, owed: Reservation, reason: string): void => {
  const { operation_id: operationId, runtime, profile } = owed
  const binding = { operationId, runtime, profile }
  const task = owed.task_id ?? ''
  const known = tx.get(collections.openTasks, task) ?? tx.get(collections.closedTasks, task)
  const { reservation } = post(tx, now, binding, undefined, {
    kind: 'reserve',
    amount_microusd: liabilityOf(owed),
    evidence: {
      task_id: known?.task_id ?? null, principal: ownerOf(tx, owed), restored: true,
      ...subjectPart(owed),
    },
  })
  post(tx, now, binding, reservation, {
    kind: 'unknown', amount_microusd: reservation.bound_microusd, evidence: { reason },
  })
}

/**
 * The newest word on each operation that this ledger has not heard of, over all former states from
 * the oldest to the newest.
 */
const unheardOf = (tx: Tx, formers: readonly Former[]): readonly Last[] => {
  const last = new Map<string, Last>()
  for (const { view, holes } of formers) {
    const whole = holes.length === 0
    for (const spec of [collections.openReservations, collections.closedReservations]) {
      for (const { doc } of each(view, spec)) {
        if (findReservation(tx, doc.operation_id) !== undefined) continue
        last.set(doc.operation_id, { doc, whole })
      }
    }
  }
  return [...last.values()]
}

const ceilingsOf = (formers: readonly Former[]): readonly number[] =>
  formers.flatMap(({ view }) =>
    view.all(collections.ledgerAccounts).map(({ doc }) => doc.ceiling_microusd)
      .filter((ceiling) => ceiling >= 1 && ceiling <= amountMicrousdMax))

/**
 * A ledger that lost some of its rows in the middle says nothing that can be believed. What is left
 * of it stands in the former state as evidence; here it is begun anew, so that every operation is
 * carried over as unknown at its full bound.
 */
const clearTorn = (tx: Tx, formers: readonly Former[]): void => {
  const lostSome = formers.some(({ settled, holes }) =>
    !settled && holes.some(({ lost }) => lost !== undefined))
  if (!lostSome || verifyLedger(tx).length === 0) return
  const { ledgerAccounts, ledgerRows, openReservations, closedReservations } = collections
  for (const spec of [ledgerAccounts, ledgerRows, openReservations, closedReservations]) {
    for (const { id } of tx.all<unknown>(spec)) tx.remove<unknown>(spec, id)
  }
}

/** Where nothing tells of a ceiling: what unread records held is held above it all the same. */
const ceilingUnseen = 1

/** What was carried over, by operation. */
interface CarriedMoney {
  readonly liabilities: readonly string[]
  /** Operations that stand for parts of former states that nobody can read. */
  readonly unread: readonly string[]
}

/**
 * Keeps every liability of the former states, oldest first, that this ledger has no reservation of,
 * as unknown with the full bound (or the charge, where that was higher), and what their unreadable
 * parts may have cost. The ceiling comes to be the lowest of this ledger's and of those states
 * that were not carried over before. Where this store has no ledger yet, one is made.
 */
export const carryLiabilities = (
  tx: Tx, now: string, formers: readonly Former[], reason: string,
): CarriedMoney => {
  clearTorn(tx, formers)
  const missing = unheardOf(tx, formers).filter(owes).map(({ doc }) => doc)
  // Before a ledger is made here, whose ceiling would be none that anybody had set.
  const holds = formers.flatMap(({ view, holes }) =>
    holes.filter(({ isHeld }) => isHeld !== true)
      .map((hole) => ({ hole, former: view, amount: highestCeiling([tx, view]) })))
  const ceilings = ceilingsOf(formers.filter(({ settled }) => !settled))
  if (tx.all(collections.ledgerAccounts).length === 0) {
    // Rows without an account are damage of their own; without an account nobody holds anything.
    const needed = missing.length > 0 || holds.length > 0
    if (!needed || !isAccountingEmpty(tx)) return { liabilities: [], unread: [] }
    bootstrapLedger(tx, now, Math.min(...ceilings, ceilingsOf(formers).at(-1) ?? ceilingUnseen))
  }
  for (const owed of missing) carryOne(tx, now, owed, reason)
  const unread = holds.flatMap((hold) => holdUnread(tx, now, hold))
  const [account] = tx.all(collections.ledgerAccounts)
  if (account !== undefined) {
    setCeiling(tx, now, Math.min(account.doc.ceiling_microusd, ...ceilings))
  }
  return { liabilities: missing.map(({ operation_id }) => operation_id), unread }
}
