/**
 * Money that unread records may have spent. Where a part of a former state can be read by nobody,
 * an operation of its own holds, as an unknown charge, the highest ceiling there was: more than
 * that cannot have been held in it. A ceiling that is raised later gives only what lies above; a
 * person who has seen the provider's bill settles it by hand.
 */
import type { Hole } from '../../state/care/former.js'
import { findEach } from '../../state/each.js'
import type { Tx, View } from '../../state/types.js'
import { collections } from '../rows.js'
import { amountMicrousdMax } from './limits.js'
import { post } from './post.js'
import { findReservation } from './read.js'

/** The runtime of operations that stand for unread records; no capability's. */
export const unreadRuntime = 'unread'

/** Id of the operation that stands for a hole: the same for every copy of the same damage. */
export const unreadOperation = ({ id }: Hole): string => `op_unread-${id}`

/** Every ceiling that the views tell of, micro-USD. */
const ceilingsIn = (views: readonly View[]): readonly number[] =>
  views.flatMap((view) => [
    ...view.all(collections.ledgerAccounts).map(({ doc }) => doc.ceiling_microusd),
    ...findEach(view, collections.ledgerRows, ({ doc }) =>
      (doc.kind === 'ceiling' ? [doc.amount_microusd] : [])),
  ])

/** The highest ceiling of any view; the largest that can be set where none tells of one. */
export const highestCeiling = (views: readonly View[]): number => {
  const seen = ceilingsIn(views)
  return seen.length === 0 ? amountMicrousdMax : Math.min(amountMicrousdMax, Math.max(...seen))
}

/** The default principal, as far as a view can tell: without a named one the oldest owner. */
const ownerIn = (view: View): string | undefined => {
  const named = view.all(collections.defaults)[0]?.doc.principal_id
  const owners = view.all(collections.principals).map(({ doc }) => doc.principal_id)
  return owners.find((id) => id === named) ?? owners[0]
}

/** What is held for a hole. */
interface UnreadHold {
  readonly hole: Hole
  /** The state that the hole is in. */
  readonly former: View
  /** Micro-USD, see `highestCeiling`. */
  readonly amount: number
}

/**
 * Holds what a hole may have cost; nothing where that is held already, or was settled. Answers the
 * operation where it is new.
 */
export const holdUnread = (
  tx: Tx, now: string, { hole, former, amount }: UnreadHold,
): readonly string[] => {
  const operationId = unreadOperation(hole)
  if (findReservation(tx, operationId) !== undefined) return []
  const principal = ownerIn(tx) ?? ownerIn(former) ?? unreadRuntime
  const binding = { operationId, runtime: unreadRuntime, profile: unreadRuntime }
  const { reservation } = post(tx, now, binding, undefined, {
    kind: 'reserve', amount_microusd: amount,
    evidence: { task_id: null, principal, restored: true },
  })
  post(tx, now, binding, reservation, {
    kind: 'unknown', amount_microusd: amount, evidence: { reason: 'records_unread' },
  })
  return [operationId]
}
