/** What of a period goes on only when a person acts; page and text tell the same. Pure. */
import { overspentBy } from './budget.js'
import type { ReportReason, ScreenReport } from './report.js'
import { dollarsText, statusText } from './words.js'

/** One thing that waits. */
export interface Waits {
  /** A sentence. */
  readonly head: string
  /** A code that stands behind it; null where there is none. */
  readonly code: string | null
  /** What to do; commands stand between backticks. Null where nothing is known. */
  readonly next: string | null
  /** The part of a page that tells more of it; null where none does. */
  readonly part: 'mix' | 'spend' | null
}

/** How many observations some reasons have together. */
export const countOfReasons = (reasons: readonly ReportReason[]): number =>
  reasons.reduce((sum, { count }) => sum + count, 0)

const see = 'See `sallyport ledger reservations`, then for each '

const moneyWaits = ({ course }: ScreenReport): Waits[] => {
  const { unknown_charges: unknown, held_microusd: held, overruns: ofRows } = course.money_due
  const today = course.spend?.disputed_charges ?? 0
  const overruns = Math.max(ofRows, today)
  const those = today < overruns ? String(today) : today === 1 ? 'it' : 'them'
  const whole = today === 0 ? '' : `; the day counts the whole of ${those}`
  return [
    ...(unknown === 0 ? [] : [{
      head: `${unknown} ${unknown === 1 ? 'charge is' : 'charges are'} not known, and `
        + `${dollarsText(held)} ${unknown === 1 ? 'stays' : 'stay'} held.`,
      next: `${see}\`sallyport ledger settle OPERATION --amount USD\`.`,
      code: null, part: null,
    }]),
    ...(overruns === 0 ? [] : [{
      head: `${overruns} ${overruns === 1 ? 'charge' : 'charges'} passed the bound of a request `
        + `and ${overruns === 1 ? 'is' : 'are'} disputed${whole}.`,
      next: `${see}\`sallyport ledger review OPERATION\`.`, code: null, part: null,
    }]),
  ]
}

const budgetWaits = ({ course: { spend } }: ScreenReport): Waits[] => {
  const over = spend === null ? null : overspentBy(spend)
  return over === null ? [] : [{
    head: `The budget of the day is overspent by ${dollarsText(over)}.`,
    next: 'Wait, or raise it: `sallyport shots setup --budget USD`.',
    code: null, part: 'spend',
  }]
}

/** Observations that one step takes on are told together; why is told with their status. */
const reasonWaits = ({ course }: ScreenReport): Waits[] => {
  const groups = new Map<string, ReportReason[]>()
  for (const one of course.reasons.filter(({ needs_person: person }) => person)) {
    const key = JSON.stringify([one.status, one.next])
    groups.set(key, [...groups.get(key) ?? [], one])
  }
  return [...groups.values()].map((group) => {
    const { status, text, reason, next } = group[0] as ReportReason
    const count = `${countOfReasons(group)} ${statusText(status)}`
    return group.length === 1
      ? { head: `${count}: ${text ?? ''}`.trimEnd(), code: reason, next, part: null }
      : { head: `${count}, for ${group.length} reasons.`, code: null, next, part: 'mix' }
  })
}

/** Everything that waits for a person, money first. */
export const waitingOf = (report: ScreenReport): Waits[] =>
  [...moneyWaits(report), ...budgetWaits(report), ...reasonWaits(report)]
