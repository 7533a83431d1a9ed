import { msFromIso } from '../../base/clock.js'
import { msOfUuid7 } from '../../base/ids.js'
import { idsLost, type Former } from '../../state/care/former.js'
import type { Tx, View } from '../../state/types.js'
import { collections } from '../rows.js'

/**
 * A key that was used in a former state never sends anything again. Tasks name their keys
 * too: one whose own record cannot be read is known by its task. Where neither can be read, the
 * whole range of keys that damage took counts as used. Answers how many came to be spent by name.
 */
export const carryKeys = (tx: Tx, now: string, formers: readonly Former[]): number => {
  const { idempotency, openTasks, closedTasks } = collections
  carryLostKeys(tx, now, formers)
  const used = formers.flatMap(({ view }) => [
    ...view.all(idempotency).map(({ doc }) => doc),
    ...[...view.all(openTasks), ...view.all(closedTasks)].map(({ doc }) => ({
      key: doc.idempotency_key, kind: doc.kind, task_id: doc.task_id,
      request_digest: doc.request_digest,
    })),
  ])
  let spent = 0
  for (const one of used) {
    if (tx.get(idempotency, one.key) !== undefined) continue
    tx.put(idempotency, one.key, { ...one, restored: true })
    spent += 1
  }
  return spent
}

/** Ranges that damage took, those that former states had noted themselves too. */
const carryLostKeys = (tx: Tx, now: string, formers: readonly Former[]): void => {
  const { idempotency, lostKeys } = collections
  const noted = formers.flatMap(({ view }) => view.all(lostKeys))
  const found = formers.flatMap(({ holes }) => holes.flatMap(({ id, lost = [] }) =>
    lost.flatMap((range, n) => {
      const ids = idsLost(range, idempotency.name)
      return ids === undefined ? [] : [{ id: `${id}-${n}`, doc: { ...ids, at: now } }]
    })))
  for (const { id, doc } of [...noted, ...found]) {
    if (tx.get(lostKeys, id) === undefined) tx.put(lostKeys, id, doc)
  }
}

/**
 * Whether a key lies in a range that damage took, so that nobody knows whether it was used. One
 * that says itself that it was made later (a UUID of version 7) was not.
 */
export const isLostKey = (view: View, key: string): boolean =>
  view.all(collections.lostKeys).some(({ doc: { from, to, at } }) =>
    key >= from && (to === null || key < to) && (msOfUuid7(key) ?? 0) <= msFromIso(at))
