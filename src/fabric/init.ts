import { canonicalJson } from '../base/canonical.js'
import type { Clock } from '../base/clock.js'
import { fail, SallyportError } from '../base/errors.js'
import { initialize } from '../governance/init.js'
import { requirePassphraseLength, type Passphrase } from '../governance/passphrase.js'
import { defaultGoal } from '../governance/goals.js'
import { isInitLost } from '../governance/initialized.js'
import { defaultPrincipal, requirePrincipalName } from '../governance/principals.js'
import type { DeploymentProfile } from '../governance/profile.js'
import { collections, type Goal, type Principal } from '../governance/rows.js'
import type { Reaching } from '../state/place/share.js'
import type { Store } from '../state/types.js'
import { createStore, openingAny, openStore } from '../state/store.js'
import type { SharedHere } from './machines/machines-contract.js'
import { sharedHere } from './machines/shared-here.js'

/** What a new state directory begins with. */
interface InitRequest {
  readonly dir: string
  readonly configDir: string
  readonly waitMs: number
  /** Its abort ends a wait for the lock of a directory that is there. */
  readonly signal?: AbortSignal | undefined
  readonly clock: Clock
  readonly profile: DeploymentProfile
  readonly ownerName: string
  readonly passphrase?: Passphrase | undefined
  /** Where the truth of the state is to lie; left out for the directory itself. */
  readonly server?: Reaching | undefined
}

const exists = (cause?: SallyportError): SallyportError =>
  fail.conflict('state_exists', 'There is a state directory here already.', {
    next: 'Use it, or name another one with --state-dir.', cause,
  })

/** Whether the truth of a state lies where the line says: here, or at a server. */
const isAsWanted = ({ keptIn }: Store, { server }: Pick<InitRequest, 'server'>): boolean =>
  (keptIn === 'place') === (server !== undefined)

const existing = async (request: InitRequest, cause: SallyportError): Promise<Store> => {
  const store = await openingAny(() => openStore({ ...request, mode: 'write' }))
  // An `init` that was cut off after the directory was made has no owner yet: it is completed.
  const fresh = store.read().all(collections.principals).length === 0
    && isAsWanted(store, request)
  if (fresh && canonicalJson(store.profile) === canonicalJson(request.profile)) return store
  store.close()
  throw exists(cause)
}

/** What an `init` with these very arguments makes, or made before. */
interface MadeBefore {
  readonly store: { readonly dir: string; readonly storeId: string }
  readonly shared: SharedHere | null
  readonly principal: Principal
  readonly goal: Goal
}

const openedThere = async (request: InitRequest): Promise<Store | null> => {
  try {
    return await openingAny(() => openStore({ ...request, mode: 'read' }))
  } catch (error) {
    // Whatever is wrong with it, making it says so in its own words.
    if (error instanceof SallyportError) return null
    throw error
  }
}

/**
 * Whether the directory was made before with the same profile, workspace and owner: then there is
 * nothing to do, no byte is written and no passphrase is asked for. Null where it is not there, or
 * is unfinished or damaged. Throws `conflict` `state_exists` for another one.
 */
export const madeBefore = async (
  request: Omit<InitRequest, 'passphrase'>,
): Promise<MadeBefore | null> => {
  const store = await openedThere(request)
  if (store === null) return null
  try {
    const view = store.read()
    if (store.health().damage !== null || isInitLost(view)) return null
    const principal = defaultPrincipal(view)
    const isSame = canonicalJson(store.profile) === canonicalJson(request.profile)
      && principal.name === request.ownerName
      && isAsWanted(store, request)
    if (!isSame) throw exists()
    const goal = defaultGoal(view, principal.principal_id)
    const { dir, storeId } = store
    return { store: { dir, storeId }, shared: sharedHere(store), principal, goal }
  } finally {
    store.close()
  }
}

/** Loaded for a state that several machines share, and for no other. */
const createAt = async (request: InitRequest, server: Reaching): Promise<Store> => {
  const { createShared } = await import('../state/place/share.js')
  return createShared({ ...request, profile: request.profile, reaching: server })
}

const create = async (request: InitRequest): Promise<Store> => {
  const { server } = request
  try {
    return server === undefined
      ? createStore({ ...request, profile: request.profile }) : await createAt(request, server)
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'state_exists') {
      return existing(request, error)
    }
    throw error
  }
}

/**
 * Makes the state directory, its first owner and policy revision 1; opens no session. An owner that
 * cannot be is refused before anything is made: a directory seals its profile for good, and one
 * without an owner asks for an `init` with the same arguments, which would be refused again.
 */
export const initState = async (request: InitRequest): Promise<MadeBefore> => {
  requirePrincipalName(request.ownerName)
  if (request.passphrase !== undefined) requirePassphraseLength(request.passphrase)
  const store = await create(request)
  try {
    const made = await initialize(store, { ...request, clock: store.clock })
    const { dir, storeId } = store
    return { store: { dir, storeId }, shared: sharedHere(store), ...made }
  } finally {
    store.close()
  }
}
