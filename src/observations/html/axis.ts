/** Hours of a day as an axis, and statuses as classes of colour. */
import { html, type Markup } from './markup.js'

/** A span on one day; minutes since midnight, or whole hours. */
export interface Span {
  readonly from: number
  readonly to: number
}

const knownStatuses = new Set(['succeeded', 'pending', 'blocked', 'failed', 'needs_reanalysis'])

export const statusClass = (status: string): string =>
  `s-${knownStatuses.has(status) ? status : 'other'}`

/** `09:00`. */
export const clock = (hour: number): string => `${String(hour).padStart(2, '0')}:00`

/**
 * Labels that fit: at most nine on a wide page, of which a phone shows every other one. Whole steps
 * from the first hour, and the last hour, which no other one comes nearer than a step.
 */
export const axisLabels = (hours: Span): Markup => {
  const span = hours.to - hours.from
  const step = [1, 2, 3, 4].find((one) => span % one === 0 && span / one <= 8)
    ?? Math.ceil(span / 8)
  const last = Math.floor(span / step)
  const labels = Array.from({ length: last + 1 }, (_, at) => {
    const minor = last > 4 && at < last && (at % 2 === 1 || at + 1 === last) ? ' minor' : ''
    const edge = at === 0 ? ' first' : at === last ? ' last' : ''
    const hour = at === last ? span : at * step
    return html`<span class="hour${minor}${edge}" style="left:${((hour / span) * 100).toFixed(2)}%"
>${clock(hours.from + hour)}</span>`
  })
  return html`<div class="axis" aria-hidden="true">${labels}</div>`
}
