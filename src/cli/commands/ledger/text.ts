import { moneyText } from '../../../base/money.js'
import type { ReservationDocument } from '../../../governance/ledger/contract.js'
import { amountCell } from '../../amount.js'
import type { View } from '../../output.js'
import { renderTable } from '../../table.js'

/** What a person has to do about a reservation; empty when nothing. */
const dueOf = ({ state, overrun }: ReservationDocument): string => {
  if (state === 'unknown') return 'settle by hand'
  return overrun === 'review_required' ? 'review the overrun' : ''
}

/** A reservation as lines of text. */
export const reservationText = (one: ReservationDocument): string => {
  const line = (name: string, value: string): string => `${name.padEnd(11)}${value}\n`
  const due = dueOf(one)
  return [
    line('operation', one.operation_id),
    ...(one.task_id === null ? [] : [line('task', one.task_id)]),
    ...(one.subject === null ? [] : [line('for', one.subject)]),
    line('runtime', `${one.runtime} (${one.profile})`),
    line('state', one.state),
    line('bound', moneyText(one.bound_microusd)),
    line('charged', one.charged_microusd === null ? '-' : moneyText(one.charged_microusd)),
    ...(one.overrun === 'none' ? [] : [line('overrun', one.overrun)]),
    ...(due === '' ? [] : [line('due', due)]),
  ].join('')
}

/** Reservations as a list, newest first. */
export const reservationsTable = (
  view: View, rows: readonly ReservationDocument[],
): Promise<string> => renderTable(
  view, ['operation', 'runtime', 'state', 'bound', 'charged', 'due', 'reason', 'for'],
  rows.map((row) => [
    view.id(row.operation_id), row.runtime, row.state, amountCell(view, row.bound_microusd),
    amountCell(view, row.charged_microusd), dueOf(row), row.reason ?? '',
    row.subject === null ? '-' : view.id(row.subject),
  ]),
)
