/** Collections of the tests of stores, and ways to look at them. */
import type { Test } from 'tap'
import { join } from 'node:path'
import * as v from 'valibot'
import { systemClock } from '../../../src/base/clock.js'
import type { FileStore, OpenOptions } from '../../../src/state/store.js'
import { openStore } from '../../../src/state/store.js'
import type { CollectionSpec, Store } from '../../../src/state/types.js'

const noteShape = v.strictObject({ n: v.pipe(v.number(), v.safeInteger()), text: v.string() })
export type Note = v.InferOutput<typeof noteShape>

/** A small collection. */
export const notes: CollectionSpec<Note> = { name: 'notes', schema: noteShape, partition: 'one' }
/** A collection that grows. */
export const items: CollectionSpec<Note> = {
  name: 'items', schema: noteShape, partition: 'hash256',
}
export const specs: readonly CollectionSpec<unknown>[] = [notes, items]

/** Opens the directory of a store once more. */
export const again = (
  t: Test, store: Store, mode: 'read' | 'write' = 'read', options: Partial<OpenOptions> = {},
): FileStore => {
  const opened = openStore({
    dir: store.dir, configDir: join(store.dir, '..', 'config'), mode, clock: systemClock,
    ...options,
  }) as FileStore
  t.teardown(() => opened.close())
  return opened
}

/** Where a store and its keys lie. */
export const placeOf = (store: Store): { dir: string, configDir: string } =>
  ({ dir: store.dir, configDir: join(store.dir, '..', 'config') })

/** Puts one note. */
export const put = (store: Store, id: string, n: number, text = ''): Promise<void> =>
  store.transact('test', (tx) => tx.put(notes, id, { n, text }))

/** Marks a revision of the policy, as its publication does. */
export const publish = (store: Store, policyRevision: number): Promise<void> =>
  store.transact('publish', (tx) => tx.mark({ policyRevision }))

/** Numbers of all notes by id. */
export const numbers = (store: Store): Record<string, number> =>
  Object.fromEntries(store.read().all(notes).map(({ id, doc }) => [id, doc.n]))

/** The error of a call that must fail. */
export const errorOf = (fn: () => unknown): unknown => {
  try {
    fn()
  } catch (error) {
    return error
  }
  return undefined
}
