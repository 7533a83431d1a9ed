import { join } from 'node:path'
import type { Test } from 'tap'
import { createStore } from '../../src/state/store.js'
import type { Store } from '../../src/state/types.js'

/** A new real store in a directory that goes with the test; its key lies beside it. */
export const temporaryStore = async (t: Test): Promise<Store> => {
  const base = t.testdir()
  const store = createStore({
    dir: join(base, 'state'), configDir: join(base, 'config'), profile: { name: 'test' },
  })
  t.teardown(() => store.close())
  return store
}
