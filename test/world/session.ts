/** The stage of a login. */
import { authenticate } from '../../src/governance/session/authenticate.js'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import type { Session } from '../../src/governance/context.js'
import { must } from '../support/must.js'
import type { Stateful } from './state.js'
import type { Placed } from './world.js'

/** An owner who is logged in. */
export interface SignedIn {
  /** The session whose token the state directory keeps. */
  session(): Session
}

/** The session whose token the state directory keeps. */
export const sessionOf = (world: Placed & Stateful): Session =>
  authenticate(world.gov, loadToken(tokenPath(world.place.stateDir)))

/** What `login` makes. */
export const session = async (world: Placed & Stateful): Promise<SignedIn> => {
  must(await world.run(['login', '--json']))
  return { session: () => sessionOf(world) }
}
