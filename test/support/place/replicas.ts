/** Stores of one shared state over a place in this process, each with folders of its own. */
import { createShared, joinShared } from '../../../src/state/place/share.js'
import type { PlacedStore } from '../../../src/state/place/placed-store.js'
import type { OpenOptions } from '../../../src/state/store.js'
import { followWitness } from '../../../src/governance/policy/witness.js'
import { MemoryServer, memoryPlace } from './memory.js'

interface Teardown {
  testdir(): string
  teardown(fn: () => void): void
}

/** How the place of tests would be reached. */
export const reaching = {
  address: 'postgres://ops@127.0.0.1/sallyport', ca: null, machineName: 'a', password: null,
}
/** What the state of tests is sealed for. */
export const profile = { schema: 'test.profile.v1', name: 'test' }

/** A server, its first replica, and a way to get more. */
export const replicas = async (t: Teardown, options: Partial<OpenOptions> = {}) => {
  const server = new MemoryServer()
  const root = t.testdir()
  let count = 0
  const placed = () => {
    let machine = ''
    count += 1
    const folders = { dir: `${root}/${count}/state`, configDir: `${root}/${count}/config` }
    const place = memoryPlace(server, () => machine)
    const keep = (store: PlacedStore): PlacedStore => {
      machine = store.settings.machine
      t.teardown(() => store.close())
      return store
    }
    return { ...options, ...folders, place, onFollowed: followWitness, keep }
  }
  const { keep, ...first } = placed()
  const store = keep(await createShared({ ...first, profile, reaching }))
  const next = async (name = 'b'): Promise<PlacedStore> => {
    const { keep: kept, ...rest } = placed()
    const { replica: { state } } = store
    const at = server.records.at(-1)
    if (at === undefined) throw new Error('a store without a record')
    return kept(await joinShared({
      ...rest, reaching: { ...reaching, machineName: name },
      joining: {
        storeId: store.storeId, key: store.replica.keys.raw, createdAt: state.created_at,
        profile: state.profile, at,
      },
    }))
  }
  return { server, store, next }
}
