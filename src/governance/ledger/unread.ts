/**
 * Money that unread records may have spent. Where a part of a former state can be read by nobody,
 * an operation of its own holds, as an unknown charge, the highest ceiling there was: more than
 * that cannot have been held in it. Where a copy came into force and all could be read, one holds
 * the ceiling all the same. A ceiling that is raised later gives only what lies above; a person who
 * has seen the provider's bill settles it by hand.
 */
import type { Hole } from '../../state/care/former.js'
import { findEach } from '../../state/each.js'
import type { Tx, View } from '../../state/types.js'
import { collections, type Reservation } from '../rows.js'
import { amountMicrousdMax } from './ledger-limits.js'
import { post } from './post.js'
import { findReservation, unknownReservations } from './find-reservation.js'

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

const unreadCharges = (view: View): readonly Reservation[] =>
  unknownReservations(view).filter(({ runtime }) => runtime === unreadRuntime)

/** Whether nobody has said yet what unread records have cost. */
export const isUnreadOpen = (view: View): boolean => unreadCharges(view).length > 0

/**
 * Holds the whole ceiling of a copy that came into force, once all that was owed is carried over;
 * nothing where no ceiling was ever set, or where unread records hold it. Answers the operation.
 */
export const holdCeiling = (tx: Tx, now: string): readonly string[] => {
  const [account] = tx.all(collections.ledgerAccounts)
  if (account === undefined) return []
  const { ceiling_microusd: ceiling } = account.doc
  const isHeld = unreadCharges(tx).some((doc) => doc.bound_microusd >= ceiling)
  if (isHeld) return []
  // The same copy may have come into force before, under another ceiling.
  let id = `restored-${tx.sequence}`
  for (let n = 2; findReservation(tx, unreadOperation({ id })) !== undefined; n += 1) {
    id = `restored-${tx.sequence}-${n}`
  }
  return holdUnread(tx, now, { hole: { id }, former: tx, amount: ceiling })
}
