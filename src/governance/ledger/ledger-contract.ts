/** What goes in and comes out of the operations on the one ledger. */
import * as v from 'valibot'
import { contract, type Stamped } from '../../base/contract.js'
import { behindRow } from '../../base/page.js'
import { closedObject, strictInteger } from '../../base/schema.js'
import type { View } from '../../state/types.js'
import type { Reservation } from '../rows.js'
import { amountMicrousdMax } from './ledger-limits.js'
import { unknownReason } from './find-reservation.js'

/** What an operation holds or cost. */
const reservationShape = v.strictObject({
  operation_id: v.string(),
  runtime: v.string(),
  profile: v.string(),
  task_id: v.nullable(v.string()),
  /** The image that it was for, by its observation; null where it was for none, or is of before. */
  subject: v.nullable(v.string()),
  state: v.picklist(['reserved', 'contacted', 'settled', 'released', 'unknown']),
  bound_microusd: v.number(),
  charged_microusd: v.nullable(v.number()),
  overrun: v.picklist(['none', 'review_required', 'accepted', 'rejected']),
  /** Its last row in the ledger. */
  ledger_row_id: v.nullable(v.string()),
  updated_at: v.string(),
  /** Why the charge is unknown (`http_status_402`, `timeout`); null in every other state. */
  reason: v.nullable(v.string()),
})
export type ReservationDocument = v.InferOutput<typeof reservationShape>

const reservationDocument = (
  reservation: Reservation, reason: string | null = null,
): ReservationDocument => ({
  operation_id: reservation.operation_id,
  runtime: reservation.runtime,
  profile: reservation.profile,
  task_id: reservation.task_id,
  subject: reservation.subject ?? null,
  state: reservation.state,
  bound_microusd: reservation.bound_microusd,
  charged_microusd: reservation.charged_microusd,
  overrun: reservation.overrun,
  ledger_row_id: reservation.row_ids.at(-1) ?? null,
  updated_at: reservation.updated_at,
  reason,
})

const ledgerShape = v.strictObject({
  /** Integer micro-USD; null before the first set-up of a route. */
  ledger: v.nullable(v.strictObject({
    ledger_id: v.string(),
    ceiling_microusd: v.number(),
    settled_microusd: v.number(),
    held_microusd: v.number(),
    unknown_microusd: v.number(),
    /** settled + held + unknown: what the ceiling is compared with. */
    consumed_microusd: v.number(),
    /** What a new reservation may still take; 0 when consumed is at or above the ceiling. */
    available_microusd: v.number(),
    rows: v.number(),
  })),
  /** How many reservations of all owners stand open, by state. */
  open: v.strictObject({
    reserved: v.number(), contacted: v.number(), unknown: v.number(),
    overrun_review_required: v.number(),
  }),
})
export type LedgerDocument = v.InferOutput<typeof ledgerShape>

/** Reading balances and what is open. */
export const ledgerShow = contract({ name: 'ledger.show', document: 'ledger', output: ledgerShape })

/** Reservations of the operator and of disabled owners, newest first. */
export const ledgerReservations = contract({
  name: 'ledger.reservations',
  input: closedObject({
    all: v.optional(v.boolean()), limit: strictInteger(1, 10_000), after: behindRow('op'),
  }),
  output: v.array(reservationShape),
  toDocument: ({ view, rows }: { readonly view: View; readonly rows: readonly Reservation[] }) =>
    rows.map((row) => reservationDocument(row, unknownReason(view, row))),
})

const oneReservation = {
  document: 'reservation', output: reservationShape,
  // A charge that a person decided about is known.
  toDocument: (reservation: Reservation) => reservationDocument(reservation),
} as const

/** The verdict on a charge above its bound. */
export const ledgerReview = contract({
  ...oneReservation,
  name: 'ledger.review',
  input: closedObject({ operation: v.string(), verdict: v.picklist(['accept', 'reject']) }),
})

const statusForm = /^status=([1-5][0-9]{2})$/

/** How charges are selected by the status that their requests were answered with. */
export const whereForm = 'status=NNN'

/** The reason of the unknown charges that a selection such as `status=402` means; null for none. */
export const reasonOfWhere = (where: string): string | null => {
  const status = statusForm.exec(where)?.[1]
  return status === undefined ? null : `http_status_${status}`
}

/** Settling one unknown charge by hand; its document is the reservation. */
const settleOne = contract({ ...oneReservation, name: 'ledger.settle' })

const settledShape = v.strictObject({
  /** What was settled, newest operation first, all of it in one record. */
  settled: v.array(reservationShape),
  /** Whether charges that were selected, too, are left for another time. */
  more: v.boolean(),
})
/** Charges that were settled together. */
export type SettledDocument = v.InferOutput<typeof settledShape>

/** The charge that was settled, or all that were. */
export type SettleDocument = Stamped<ReservationDocument> | SettledDocument

/** What settled: one charge, or several together. */
type Settled = Reservation | { readonly settled: readonly Reservation[]; readonly more: boolean }

/**
 * Settling unknown charges by hand, micro-USD: one by its operation or all that `where` selects. Of
 * a note only the SHA-256 is kept.
 */
export const ledgerSettle = contract({
  name: 'ledger.settle',
  input: closedObject({
    operation: v.optional(v.string()),
    where: v.optional(v.pipe(v.string(), v.regex(statusForm))),
    amount_microusd: strictInteger(0, amountMicrousdMax),
    note_digest: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))),
  }),
  output: v.union([
    settleOne.output as v.GenericSchema<Stamped<ReservationDocument>>, settledShape,
  ]),
  toDocument: (found: Settled): SettleDocument => 'settled' in found
    ? { settled: found.settled.map((row) => reservationDocument(row)), more: found.more }
    : settleOne.document(found),
})
