/** Hours of a day as an axis, and statuses as classes of colour. */
import { html, type Markup } from './markup.js'

/** A span on one day; minutes since midnight, or whole hours. */
export interface Span {
  readonly from: number
  readonly to: number
}

const knownStatuses = new Set(['succeeded', 'pending', 'blocked', 'failed', 'needs_reanalysis'])

/** Class of a status's colour. */
export const statusClass = (status: string): string =>
  `s-${knownStatuses.has(status) ? status : 'other'}`

/** `09:00`. */
export const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

/** Labels that fit: at most nine on a wide page, of which a phone shows every other one. */
export const axisLabels = (hours: Span): Markup => {
  const span = hours.to - hours.from
  const step = [1, 2, 3, 4, 6].find((one) => span % one === 0 && span / one <= 8) ?? span
  const last = span / step
  const labels = Array.from({ length: last + 1 }, (_, at) => {
    const minor = at % 2 === 1 && last > 4 ? ' minor' : ''
    const edge = at === 0 ? ' first' : at === last ? ' last' : ''
    return html`<span class="hour${minor}${edge}" style="left:${((at / last) * 100).toFixed(2)}%"
>${clock(hours.from + at * step)}</span>`
  })
  return html`<div class="axis" aria-hidden="true">${labels}</div>`
}
