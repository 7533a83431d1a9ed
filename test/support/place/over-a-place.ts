/** Worlds whose states machines share, at a place in this process; see `children/`. */
import { readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FileStore } from '../../../src/state/file-store.js'
import {
  createStore, openingAny, openStore, type CreateOptions, type OpenOptions,
} from '../../../src/state/store.js'
import type { Store } from '../../../src/state/types.js'
import type { Placed } from '../../world/world.js'
import { must } from '../must.js'

/** The variable that says that each world of this process is one. */
export const overAPlace = 'SALLYPORT_TEST_OVER_A_PLACE'

/** Whether the worlds of this process are. */
export const isOverAPlace = (): boolean => process.env[overAPlace] === '1'

const [address, machineName] = ['postgres://ops@127.0.0.1/sallyport', 'here'] as const

/** Further words of an `init` there; none elsewhere. */
export const sharedWords = (): readonly string[] =>
  (isOverAPlace() ? ['--shared', address, '--machine-name', machineName] : [])

/** Loads what opening one needs there: tests open states at once. */
export const loadHere = async (options: Omit<OpenOptions, 'mode'>): Promise<void> => {
  if (isOverAPlace()) (await openingAny(() => openStore({ ...options, mode: 'read' }))).close()
}

/** A bare store, there or in a directory. */
export const createHere = async (options: CreateOptions): Promise<Store> => {
  if (!isOverAPlace()) return createStore(options)
  const { createShared } = await import('../../../src/state/place/share.js')
  return createShared({
    ...options, reaching: { address, ca: null, password: null, machineName },
  })
}

/**
 * A state that is in a directory from now on, as it has to be before a backup is put back over it:
 * what machines share is taken back, by the owner who is logged in.
 */
export const takenBack = async (at: Placed): Promise<void> => {
  if (isOverAPlace()) must(await at.run(['state', 'unshare', '--yes']))
}

/** A state that is lost, with the server that had all of it where machines shared it. */
export const lostForGood = ({ place: { dir, stateDir, configDir } }: Placed): void => {
  rmSync(stateDir, { recursive: true })
  const keys = join(configDir, 'keys')
  for (const name of readdirSync(keys).filter((one) => one.endsWith('.place'))) {
    renameSync(join(keys, name), join(dir, name))
  }
}

/** A copy of a replica as a restore leaves it: a directory, which follows nobody. */
export const followsNobody = async (options: Omit<OpenOptions, 'mode'>): Promise<void> => {
  if (!isOverAPlace()) return
  const copy = new FileStore({ ...options, mode: 'write' })
  await copy.exclusive('test', () => copy.keepIn(undefined))
  copy.close()
}
