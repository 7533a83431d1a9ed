import { canonicalJson } from '../base/canonical.js'
import type { Clock } from '../base/clock.js'
import { fail, SallyportError } from '../base/errors.js'
import { initialize } from '../governance/init.js'
import { requirePassphraseLength, type Passphrase } from '../governance/passphrase.js'
import { requirePrincipalName } from '../governance/principals.js'
import type { DeploymentProfile } from '../governance/profile.js'
import { collections, type Goal, type Principal } from '../governance/rows.js'
import type { Store } from '../state/types.js'
import { createStore, openStore } from '../state/store.js'

/** What a new state directory begins with. */
export interface InitRequest {
  readonly dir: string
  readonly configDir: string
  readonly waitMs: number
  /** Its abort ends a wait for the lock of a directory that is there. */
  readonly signal?: AbortSignal | undefined
  readonly clock: Clock
  readonly profile: DeploymentProfile
  readonly ownerName: string
  readonly passphrase?: Passphrase | undefined
}

const existing = (request: InitRequest, cause: SallyportError): Store => {
  const store = openStore({ ...request, mode: 'write' })
  // An `init` that was cut off after the directory was made has no owner yet: it is completed.
  const fresh = store.read().all(collections.principals).length === 0
  if (fresh && canonicalJson(store.profile) === canonicalJson(request.profile)) return store
  store.close()
  throw fail.conflict('state_exists', 'There is a state directory here already.', {
    next: 'Use it, or name another one with --state-dir.', cause,
  })
}

const create = (request: InitRequest): Store => {
  try {
    return createStore({ ...request, profile: request.profile })
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
export const initState = async (
  request: InitRequest,
): Promise<{ store: Store; principal: Principal; goal: Goal }> => {
  requirePrincipalName(request.ownerName)
  if (request.passphrase !== undefined) requirePassphraseLength(request.passphrase)
  const store = create(request)
  try {
    return { store, ...await initialize(store, request) }
  } finally {
    store.close()
  }
}
