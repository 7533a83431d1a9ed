/** A state whose log has grown long, as the next process finds it shortly before it is folded. */
import { statSync } from 'node:fs'
import * as v from 'valibot'
import type { FileStore } from '../src/state/store.js'
import { openStore } from '../src/state/store.js'
import type { CollectionSpec } from '../src/state/types.js'

/** Bytes of log past which a closing process folds it. */
const foldBytes = 256 * 1024
const rowsARecord = 16

const shape = v.strictObject({ id: v.string(), text: v.string() })
const fillers: CollectionSpec<v.InferOutput<typeof shape>> = {
  name: 'fillers', schema: shape, partition: 'hash256',
}
const text = 'The quick brown fox jumps over the lazy dog. '.repeat(8)

/** Writes records until the log has this share of the length at which it is folded. */
export const lengthenLog = async (
  place: { readonly dir: string; readonly configDir: string }, share: number,
): Promise<void> => {
  const store = openStore({ ...place, mode: 'write' }) as FileStore
  for (let n = 0; statSync(store.generation.logPath).size < share * foldBytes; n += 1) {
    await store.transact('bench', (tx) => {
      for (let i = 0; i < rowsARecord; i += 1) {
        const id = `fill_${n * rowsARecord + i}`
        tx.put(fillers, id, { id, text })
      }
    })
  }
  store.close()
}
