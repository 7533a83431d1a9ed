/** Worlds whose states machines share, at a place in this process; see `children/`. */
import {
  createStore, openingAny, openStore, type CreateOptions, type OpenOptions,
} from '../../../src/state/store.js'
import type { Store } from '../../../src/state/types.js'

/** The variable that says that each world of this process is one. */
export const overAPlace = 'SALLYPORT_TEST_OVER_A_PLACE'

const isOverAPlace = (): boolean => process.env[overAPlace] === '1'

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
