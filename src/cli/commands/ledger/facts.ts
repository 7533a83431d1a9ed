import * as v from 'valibot'
import type { Reservation } from '../../../governance/rows.js'

/** Shape of a reservation in JSON output; fields are only ever added. */
export const reservationFactsShape = v.strictObject({
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
/** A reservation in JSON output. */
export type ReservationFacts = v.InferOutput<typeof reservationFactsShape>

/** A reservation as scripts see it. */
export const reservationFacts = (reservation: Reservation): ReservationFacts => ({
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

/** What a person has to do about a reservation; empty when nothing. */
export const dueOf = ({ state, overrun }: ReservationFacts): string => {
  if (state === 'unknown') return 'settle by hand'
  return overrun === 'review_required' ? 'review the overrun' : ''
}

/** The same as lines of text. */
export const reservationText = (one: ReservationFacts): string => {
  const line = (name: string, value: string): string => `${name.padEnd(11)}${value}\n`
  const due = dueOf(one)
  return [
    line('operation', one.operation_id),
    ...(one.task_id === null ? [] : [line('task', one.task_id)]),
    line('runtime', `${one.runtime} (${one.profile})`),
    line('state', one.state),
    line('bound', `${one.bound_microusd} micro-USD`),
    line('charged', one.charged_microusd === null ? '-' : `${one.charged_microusd} micro-USD`),
    ...(one.overrun === 'none' ? [] : [line('overrun', one.overrun)]),
    ...(due === '' ? [] : [line('due', due)]),
  ].join('')
}
