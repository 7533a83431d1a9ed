import type { View } from '../../state/types.js'
import { findReservation } from './read.js'

/** What money of an operation waits for, by a person. */
export const dueKinds = ['settle', 'review'] as const
export type DueKind = (typeof dueKinds)[number]

/** Money of one operation that waits for a person. */
export interface MoneyDue {
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
  `sallyport ledger settle ${operationId} --amount-microusd N`
