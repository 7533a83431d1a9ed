/** A state directory that lies still, for tests of what others may have done to it. */
import type { Test } from 'tap'
import { compactState } from '../../../src/state/care/compact.js'
import type { FileStore } from '../../../src/state/store.js'
import { World } from '../../world/world.js'
import { put } from './notes.js'

/** A closed store of one note in a snapshot and one in the log. */
export const closedStore = async (t: Test): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await compactState(store)
  await put(store, 'b', 2)
  store.close()
  return store
}
