/**
 * What a replaced store owed and the restored one does not know. A liability that the restored
 * rows have never heard of is kept whole, as an unknown charge, whatever the ceiling says: money
 * that may have been spent is not unspent by putting an old copy back.
 */
import type { Tx, View } from '../../state/types.js'
import { collections, type Reservation } from '../rows.js'
import { bootstrapLedger } from './account.js'
import { amountMicrousdMax } from './limits.js'
import { post } from './post.js'
import { findReservation } from './read.js'

/** Only a hold that was never contacted owes nothing once its store is gone. */
const owes = ({ state }: Reservation): boolean =>
  state === 'contacted' || state === 'unknown' || state === 'settled'

const liabilityOf = ({ bound_microusd: bound, charged_microusd: charged }: Reservation): number =>
  Math.min(amountMicrousdMax, Math.max(bound, charged ?? 0))

/** The owner who may settle it: the same one, else the oldest of the restored store. */
const ownerOf = (tx: Tx, reservation: Reservation): string => {
  if (tx.get(collections.principals, reservation.principal)) return reservation.principal
  const owners = tx.all(collections.principals).map(({ doc }) => doc)
  const enabled = owners.find(({ disabled_at }) => disabled_at === null) ?? owners[0]
  return enabled?.principal_id ?? reservation.principal
}

const carryOne = (tx: Tx, now: string, owed: Reservation, reason: string): void => {
  const { operation_id: operationId, runtime, profile } = owed
  const binding = { operationId, runtime, profile }
  const task = owed.task_id ?? ''
  const known = tx.get(collections.openTasks, task) ?? tx.get(collections.closedTasks, task)
  const { reservation } = post(tx, now, binding, undefined, {
    kind: 'reserve',
    amount_microusd: liabilityOf(owed),
    evidence: {
      task_id: known?.task_id ?? null, principal: ownerOf(tx, owed), restored: true,
    },
  })
  post(tx, now, binding, reservation, {
    kind: 'unknown', amount_microusd: reservation.bound_microusd, evidence: { reason },
  })
}

/**
 * Keeps every liability of `former` that this ledger has no reservation of, as unknown with the
 * full bound (or the charge, where that was higher). Answers the operations that were kept. Where
 * the restored store has no ledger yet, one is made with the former ceiling.
 */
export const carryLiabilities = (
  tx: Tx, now: string, former: View, reason: string,
): readonly string[] => {
  const all = [
    ...former.all(collections.openReservations), ...former.all(collections.closedReservations),
  ]
  const missing = all.map(({ doc }) => doc)
    .filter((doc) => owes(doc) && findReservation(tx, doc.operation_id) === undefined)
  if (missing.length === 0) return []
  const ceiling = former.all(collections.ledgerAccounts).at(0)?.doc.ceiling_microusd
  if (tx.all(collections.ledgerAccounts).length === 0 && ceiling !== undefined) {
    bootstrapLedger(tx, now, ceiling)
  }
  for (const owed of missing) carryOne(tx, now, owed, reason)
  return missing.map(({ operation_id }) => operation_id)
}
