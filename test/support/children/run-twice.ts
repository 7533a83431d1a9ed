/**
 * Preloaded with `--import`: each transaction of the process runs its function once for nothing
 * before it counts, as it does where another writer came first. What a function does beside reading
 * and changing rows is then done twice, and a test sees it.
 */
import { FileStore } from '../../../src/state/file-store.js'
import type { Tx, Turn } from '../../../src/state/types.js'

const { transact } = FileStore.prototype

FileStore.prototype.transact = async function twice<T>(
  this: FileStore, verb: string, fn: (tx: Tx) => T, turn?: Turn,
): Promise<T> {
  return transact.call(this, verb, (tx: Tx) => {
    try {
      fn(this.rehearse())
    } catch {
      // It is asked again.
    }
    return fn(tx)
  }, turn) as Promise<T>
}
