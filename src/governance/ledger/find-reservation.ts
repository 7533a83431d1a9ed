import { lookUp, rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import {
  collections, reservationsByOverrun, reservationsByState, type LedgerAccount, type Reservation,
} from '../rows.js'
import { requireAccount } from './account.js'
import { evidenceText } from './machine.js'

/** settled + held + unknown of an account. */
export const consumedOf = (account: LedgerAccount): number =>
  account.settled_microusd + account.held_microusd + account.unknown_microusd

/** The balances of the one ledger. Throws `blocked` when there is none, or more than one. */
export const balances = (view: View) => {
  const account = requireAccount(view)
  const consumed = consumedOf(account)
  return {
    ledger_id: account.ledger_id,
    ceiling_microusd: account.ceiling_microusd,
    settled_microusd: account.settled_microusd,
    held_microusd: account.held_microusd,
    unknown_microusd: account.unknown_microusd,
    consumed_microusd: consumed,
    available_microusd: Math.max(0, account.ceiling_microusd - consumed),
    rows: account.rows,
  }
}

/** Reservations whose charges passed their bounds and wait for a review, by operation id. */
export const overrunsToReview = (view: View): readonly Reservation[] =>
  rowsUnder(view, collections.openReservations, reservationsByOverrun, {
    under: ['review_required'],
  }).map(({ doc }) => doc)

/** How many reservations wait for a person because of an overrun. */
export const overrunReviews = (view: View): number =>
  lookUp(view, collections.openReservations, reservationsByOverrun, {
    under: ['review_required'],
  }).length

/** Reservations whose charges are not known, by operation id. */
export const unknownReservations = (view: View): readonly Reservation[] =>
  rowsUnder(view, collections.openReservations, reservationsByState, { under: ['unknown'] })
    .map(({ doc }) => doc)

export const unknownCharges = (view: View): number =>
  lookUp(view, collections.openReservations, reservationsByState, { under: ['unknown'] }).length

/** Balances and counts. Throws `blocked` when there is more than one ledger. */
export const ledgerStatus = (view: View) => {
  const count = (state: Reservation['state']): number =>
    lookUp(view, collections.openReservations, reservationsByState, { under: [state] }).length
  return {
    ledger: view.all(collections.ledgerAccounts).length === 0 ? null : balances(view),
    open: {
      reserved: count('reserved'),
      contacted: count('contacted'),
      unknown: count('unknown'),
      overrun_review_required: overrunReviews(view),
    },
  }
}

/** Of these a request may have left. */
const wasSent = ({ state }: Reservation): boolean => state !== 'reserved' && state !== 'released'

/** Reservations that are read at once. */
const countedAtOnce = 1_000

/**
 * How many operations of the ledger sent their request, or may have, counted as far as `most`. Each
 * has several rows, and one that was released sent nothing: neither is what a person calls one.
 */
export const sentOperations = (view: View, most: number): number => {
  let found = view.all(collections.openReservations).filter(({ doc }) => wasSent(doc)).length
  let after: string | undefined
  while (found < most) {
    const page = view.range(collections.closedReservations, {
      limit: countedAtOnce, ...(after === undefined ? {} : { after }),
    })
    found += page.filter(({ doc }) => wasSent(doc)).length
    after = page.at(-1)?.id
    if (page.length < countedAtOnce) break
  }
  return Math.min(found, most)
}

/** The reservation of an operation, open or closed. */
export const findReservation = (view: View, operationId: string): Reservation | undefined =>
  view.get(collections.openReservations, operationId)
  ?? view.get(collections.closedReservations, operationId)

/** Why the charge of an operation is not known, as its row says; null for any other state. */
export const unknownReason = (view: View, { state, row_ids }: Reservation): string | null => {
  // Nothing follows an unknown row but what makes the charge known.
  const last = state === 'unknown' ? row_ids.at(-1) : undefined
  const row = last === undefined ? undefined : view.get(collections.ledgerRows, last)
  return (row && evidenceText(row, 'reason')) ?? null
}
