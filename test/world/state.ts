/** The stages of a state directory: a bare store, or what `init` makes. */
import { silentObserver } from '../../src/base/observer.js'
import { nowIso, type Gov } from '../../src/governance/context.js'
import { openStore, type CreateOptions } from '../../src/state/store.js'
import type { FileStore } from '../../src/state/store.js'
import type { Store, Tx, View } from '../../src/state/types.js'
import { must } from '../support/must.js'
import { createHere, loadHere, sharedWords } from '../support/place/over-a-place.js'
import type { Teardown } from './place.js'
import type { Outside } from './sandbox.js'
import type { Placed } from './world.js'

/** Ways to look into a state directory and to change it behind the program's back. */
export interface Stateful {
  /** Opens the store once more; it is closed when the test is over. */
  open(mode?: 'read' | 'write'): Store
  view(): View
  /** What use cases work with, over one store for writing that is opened when first wanted. */
  readonly gov: Gov
  /** One transaction of that store, with the world's time. */
  transact<T>(fn: (tx: Tx, now: string) => T): Promise<T>
}

/** A store that the test's own code made. */
export interface NewStore {
  readonly store: FileStore
}

/** What a bare store is sealed for unless a test says otherwise. */
export const bareProfile = { schema: 'test.profile.v1', name: 'test' }

/** How a bare store is made. */
export type StoreOptions = Partial<CreateOptions>

/** How `init` is told; with a sandbox in the world its profile is sealed. */
export interface StateOptions {
  readonly owner?: string
  /** Further words of the line, such as `--shared ADDRESS`. */
  readonly more?: readonly string[]
  readonly profileFile?: string
}

const stateful = (t: Teardown, { place, clock }: Placed, made?: Store): Stateful => {
  const { stateDir: dir, configDir } = place
  const open = (mode: 'read' | 'write' = 'read'): Store => {
    const store = openStore({ dir, configDir, mode, clock })
    t.teardown(() => store.close())
    return store
  }
  const govOf = (store: Store): Gov => ({ store, clock, observer: silentObserver, face: 'cli' })
  let gov = made === undefined ? undefined : govOf(made)
  const world: Stateful = {
    open,
    view: () => (made ?? open()).read(),
    get gov() {
      return (gov ??= govOf(open('write')))
    },
    transact: (fn) => world.gov.store.transact('test', (tx) => fn(tx, nowIso(world.gov))),
  }
  return world
}

/** A state directory that nobody has initialized. */
export const store = async (
  t: Teardown, world: Placed, options: StoreOptions,
): Promise<Stateful & NewStore> => {
  const { stateDir: dir, configDir } = world.place
  const made = await createHere({ dir, configDir, profile: bareProfile, ...options }) as FileStore
  t.teardown(() => made.close())
  return Object.defineProperties({ store: made }, Object.getOwnPropertyDescriptors(
    stateful(t, world, made),
  )) as Stateful & NewStore
}

/** What `init` makes. */
export const state = async (
  t: Teardown, world: Placed & Partial<Outside>, { owner, profileFile, more = [] }: StateOptions,
): Promise<Stateful> => {
  const profile = profileFile ?? world.sandbox?.profileFile
  must(await world.run([
    'init', '--json', ...(profile === undefined ? [] : ['--profile', profile]),
    ...(owner === undefined ? [] : ['--owner', owner]),
    ...(more.includes('--shared') ? [] : sharedWords()), ...more,
  ]))
  await loadHere({ dir: world.place.stateDir, configDir: world.place.configDir })
  return stateful(t, world)
}
