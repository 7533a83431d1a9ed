import type { Former } from '../../state/care/former.js'
import type { Tx } from '../../state/types.js'
import { collections } from '../rows.js'

/**
 * A key that was used in a former state never sends anything again. Tasks name their keys
 * too: one whose own record cannot be read is known by its task. Answers how many came to be spent.
 */
export const carryKeys = (tx: Tx, formers: readonly Former[]): number => {
  const { idempotency, openTasks, closedTasks } = collections
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
