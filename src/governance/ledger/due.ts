import type { View } from '../../state/types.js'
import { ownOverruns } from './own.js'
import { findReservation } from './find-reservation.js'

/** What money of an operation waits for, by a person. */
export const dueKinds = ['settle', 'review'] as const
export type DueKind = (typeof dueKinds)[number]

/** Money of one operation that waits for a person. */
interface MoneyDue {
  readonly kind: DueKind
  /** What stays held, micro-USD; 0 for a charge that is known and only waits for its review. */
  readonly heldMicrousd: number
}

/**
 * What a call that has ended leaves to a person; null when nothing. A reservation that still says
 * contacted is one whose end could not be recorded: recovery makes it unknown.
 */
export const moneyDueOf = (view: View, operationId: string): MoneyDue | null => {
  const found = findReservation(view, operationId)
  if (found?.state === 'unknown' || found?.state === 'contacted') {
    return { kind: 'settle', heldMicrousd: found.bound_microusd }
  }
  return found?.overrun === 'review_required' ? { kind: 'review', heldMicrousd: 0 } : null
}

/** The whole command that ends an unknown charge. */
export const settleCommand = (operationId: string): string =>
  `sallyport ledger settle ${operationId} --amount USD`

/** The whole command that looks at a charge above its bound. */
const reviewCommand = (operationId: string): string =>
  `sallyport ledger review ${operationId}`

/**
 * What comes first where no room is left: the review of charges above their bounds, by the ids of
 * their operations; each counts whole until then. Empty where there are none. Pure.
 */
export const reviewFirst = ([first, ...more]: readonly string[]): string => {
  if (first === undefined) return ''
  return more.length === 0
    ? `Run \`${reviewCommand(first)}\`: that charge passed its bound. `
    : 'Run `sallyport ledger review OPERATION` for each overrun of '
      + '`sallyport ledger reservations`. '
}

/** What anybody does about a ceiling that has no room for a request. */
export const ceilingText = 'See what holds it with: `sallyport ledger show`.'

/** What an owner does about it, a review first where a charge waits for one. */
export const ceilingNext = (view: View, principalId: string): string =>
  reviewFirst(ownOverruns(view, principalId)) + ceilingText

/** What a person does about the money of one operation that is not accounted for. */
export const moneyNext = (view: View, operationId: string): string => {
  const due = moneyDueOf(view, operationId)
  if (due === null) return 'Run `sallyport ledger reservations`.'
  const command = due.kind === 'review' ? reviewCommand(operationId) : settleCommand(operationId)
  return `Run \`${command}\` first.`
}
