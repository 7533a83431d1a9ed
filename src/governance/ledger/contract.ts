/** What goes in and comes out of the operations on the one ledger. */
import * as v from 'valibot'
import { contract, noInput } from '../../base/contract.js'
import { closedObject, strictInteger } from '../../base/schema.js'
import type { Reservation } from '../rows.js'
import { amountMicrousdMax } from './limits.js'
import type { LedgerStanding } from './read.js'

/** What an operation holds or cost. */
const reservationShape = v.strictObject({
  operation_id: v.string(),
  runtime: v.string(),
  profile: v.string(),
  task_id: v.nullable(v.string()),
  state: v.picklist(['reserved', 'contacted', 'settled', 'released', 'unknown']),
  bound_microusd: v.number(),
  charged_microusd: v.nullable(v.number()),
  overrun: v.picklist(['none', 'review_required', 'accepted', 'rejected']),
  /** Its last row in the ledger. */
  ledger_row_id: v.nullable(v.string()),
  updated_at: v.string(),
})
/** A reservation as a document. */
export type ReservationDocument = v.InferOutput<typeof reservationShape>

const reservationDocument = (reservation: Reservation): ReservationDocument => ({
  operation_id: reservation.operation_id,
  runtime: reservation.runtime,
  profile: reservation.profile,
  task_id: reservation.task_id,
  state: reservation.state,
  bound_microusd: reservation.bound_microusd,
  charged_microusd: reservation.charged_microusd,
  overrun: reservation.overrun,
  ledger_row_id: reservation.row_ids.at(-1) ?? null,
  updated_at: reservation.updated_at,
})

const ledgerShape = v.strictObject({
  ledger: v.nullable(v.strictObject({
    ledger_id: v.string(),
    ceiling_microusd: v.number(),
    settled_microusd: v.number(),
    held_microusd: v.number(),
    unknown_microusd: v.number(),
    consumed_microusd: v.number(),
    available_microusd: v.number(),
    rows: v.number(),
  })),
  open: v.strictObject({
    reserved: v.number(), contacted: v.number(), unknown: v.number(),
    overrun_review_required: v.number(),
  }),
})
/** The ledger at a glance. */
export type LedgerDocument = v.InferOutput<typeof ledgerShape>

/** Reading balances and what is open. */
export const ledgerShow = contract({
  name: 'ledger.show',
  document: 'ledger',
  version: 1,
  input: noInput,
  output: ledgerShape,
  toDocument: (standing: LedgerStanding): LedgerDocument => standing,
})

/** Reservations of the operator and of disabled owners, newest first. */
export const ledgerReservations = contract({
  name: 'ledger.reservations',
  version: 1,
  input: closedObject({
    all: v.optional(v.boolean()), limit: strictInteger(1, 10_000), after: v.optional(v.string()),
  }),
  output: v.array(reservationShape),
  toDocument: (reservations: readonly Reservation[]) => reservations.map(reservationDocument),
})

const oneReservation = {
  document: 'reservation', version: 1, output: reservationShape, toDocument: reservationDocument,
} as const

/** The verdict on a charge above its bound. */
export const ledgerReview = contract({
  ...oneReservation,
  name: 'ledger.review',
  input: closedObject({ operation: v.string(), verdict: v.picklist(['accept', 'reject']) }),
})

/** Settling an unknown charge by hand, micro-USD; of a note only the SHA-256 is kept. */
export const ledgerSettle = contract({
  ...oneReservation,
  name: 'ledger.settle',
  input: closedObject({
    operation: v.string(),
    amount_microusd: strictInteger(0, amountMicrousdMax),
    note_digest: v.optional(v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))),
  }),
})
