import { idsLost, type Former, type Hole } from '../../state/care/former.js'
import { each } from '../../state/each.js'
import type { Entry, Tx } from '../../state/types.js'
import { collections, type LostKeys, type Task, type UsedKey } from '../rows.js'

/**
 * A key that was used in a former state never sends anything again. Tasks name their keys
 * too: one whose own record cannot be read is known by its task. Where neither can be read, the
 * whole range of keys that damage took counts as used, and every key where records are gone.
 * Answers how many came to be spent by name.
 */
export const carryKeys = (tx: Tx, now: string, formers: readonly Former[]): number => {
  const { idempotency, openTasks, closedTasks } = collections
  carryLostKeys(tx, now, formers)
  let spent = 0
  const spend = (used: UsedKey): void => {
    if (tx.get(idempotency, used.key) !== undefined) return
    tx.put(idempotency, used.key, { ...used, restored: true })
    spent += 1
  }
  for (const { view } of formers) {
    for (const { doc } of each(view, idempotency)) spend(doc)
    for (const spec of [openTasks, closedTasks]) {
      for (const { doc } of each(view, spec)) spend(keyOfTask(doc))
    }
  }
  return spent
}

const keyOfTask = (task: Task): UsedKey => ({
  key: task.idempotency_key, kind: task.kind, task_id: task.task_id,
  request_digest: task.request_digest,
})

/** Keys that may have been used in a part of a former state that nobody can read. */
const rangesIn = ({ id, lost }: Hole, now: string): readonly Entry<LostKeys>[] => {
  // Records are gone: any key may have been used in them.
  if (lost === undefined) return [{ id, doc: { from: '', to: null, at: now } }]
  return lost.flatMap((range, n) => {
    const ids = idsLost(range, collections.idempotency.name)
    return ids === undefined ? [] : [{ id: `${id}-${n}`, doc: { ...ids, at: now } }]
  })
}

/** Ranges that damage took, those that former states had noted themselves too. */
const carryLostKeys = (tx: Tx, now: string, formers: readonly Former[]): void => {
  const { lostKeys } = collections
  const noted = formers.flatMap(({ view }) => view.all(lostKeys))
  const found = formers.flatMap(({ holes }) => holes.flatMap((hole) => rangesIn(hole, now)))
  for (const { id, doc } of [...noted, ...found]) {
    if (tx.get(lostKeys, id) === undefined) tx.put(lostKeys, id, doc)
  }
}
