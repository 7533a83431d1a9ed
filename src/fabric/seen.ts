/**
 * What dead processes left, as a reader sees it: recovery itself is rehearsed over the rows of one
 * moment, and nothing of it is written. So a list, a status and a page tell of interrupted work
 * what the next command that writes will record, and name what helps then, while nobody writes.
 * What a dead save left of the policy is told as it is.
 */
import { SallyportError } from '../base/errors.js'
import { hasDeadWork, rehearseRecovery, type RecoveryReport } from '../contact/recovery.js'
import { findTask } from '../governance/board/place.js'
import { getTask } from '../governance/board/visible-tasks.js'
import type { Registry } from '../governance/capability.js'
import type { Gov } from '../governance/context.js'
import type { Store, Tx } from '../state/types.js'
import { capabilities } from './capabilities.js'

/** How often a moment is looked for in which nobody writes. */
const looksMax = 5

/** What a reader sees. */
export interface Seen {
  /** Its store reads the rows as recovery would leave them. */
  readonly gov: Gov
  /** What would be resolved; null where no process left anything. */
  readonly interrupted: RecoveryReport | null
}

/** How many operations would be resolved: their money, their task, or both. */
export const interruptedCount = ({ gov, interrupted }: Seen): number => {
  if (interrupted === null) return 0
  const { released, unknown, leftAlone, endedTasks } = interrupted
  const view = gov.store.read()
  return new Set([
    ...released, ...unknown, ...leftAlone.filter((id) => findTask(view, id) === undefined),
    ...endedTasks.map((id) => getTask(view, id).operation_id),
  ]).size
}

/** The store with all that is read and written led to one transaction that is never written. */
const over = (store: Store, tx: Tx): Store => {
  const led: Partial<Store> = {
    read: () => tx,
    transact: async (_verb, fn) => fn(tx),
    transactLoaded: async (_verb, fn) => fn(tx),
  }
  return new Proxy(store, {
    get(target, name) {
      const own: unknown = Reflect.get(led, name)
      if (own !== undefined) return own
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? (value.bind(target) as unknown) : value
    },
  })
}

const rehearsed = async (gov: Gov, tx: Tx, registry: Registry): Promise<Seen> => {
  const { recoveryRules, settleAllRows } = await import('./recovery.js')
  const interrupted = rehearseRecovery(gov, tx, await recoveryRules(gov.store, registry))
  const seen = { ...gov, store: over(gov.store, tx) }
  await settleAllRows(seen, registry)
  return { gov: seen, interrupted }
}

const look = async (gov: Gov, registry: Registry): Promise<Seen | null> => {
  for (let looks = 0; looks < looksMax; looks += 1) {
    const tx = gov.store.rehearse()
    const { sequence } = tx
    if (!hasDeadWork(gov, tx) && !gov.store.holds.hasDead()) return null
    const seen = await rehearsed(gov, tx, registry)
    // Rows that it leaves as they are need no second look.
    if (tx.rows !== undefined) return null
    // Whoever ended between the rows and the look at its guard has written its end by now.
    if (gov.store.read().sequence === sequence) return seen
  }
  return null
}

/**
 * What a reader of this state sees; takes no lock and changes no byte. Rows that are damaged are
 * seen as they are, for whoever shows what is left.
 */
export const seenNow = async (gov: Gov, registry: Registry = capabilities): Promise<Seen> => {
  try {
    const seen = await look(gov, registry)
    if (seen !== null) return seen
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
  }
  return { gov, interrupted: null }
}
