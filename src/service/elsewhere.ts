/**
 * The way in for devices of other machines: a port of loopback of its own, which somebody forwards
 * connections to (`ssh`, a bridge of TCP). A header says whatever its sender likes, and everything
 * that is forwarded comes from this machine: so it is the port alone that tells who came from
 * elsewhere, and what is not for devices is not there.
 */
import { SallyportError } from '../base/errors.js'
import type { ServiceRow } from '../governance/rows.js'
import { publicPlaceOf } from '../net/public-place.js'
import { listenLoopback, type AnyServer, type Listening } from './http/listen.js'
import { Newcomers } from './http/newcomers.js'
import type { Listener } from './http/raw-check.js'

/** Where it listens, and what is kept of it. */
interface Elsewhere {
  readonly servers: readonly AnyServer[]
  /** Undefined where there never was such a place. */
  readonly row: ServiceRow['public']
  /** Whether somebody else has the port of before. */
  readonly portChanged: boolean
}

/** The port of before, or a free one: programs of this machine do not wait for those elsewhere. */
const listenOn = async (make: () => AnyServer, port: number | null): Promise<Listening> => {
  try {
    return await listenLoopback(make, port)
  } catch (error) {
    const isTaken = error instanceof SallyportError && error.code === 'port_taken'
    if (!isTaken) throw error
    return listenLoopback(make, null)
  }
}

/**
 * Listens for machines elsewhere, where a place is given. `make` makes a server for what comes to a
 * listener; `before` is what was kept. Throws what the system does.
 */
export const listenElsewhere = async (
  make: (to: () => Listener) => () => AnyServer, place: string | undefined,
  before: ServiceRow['public'],
): Promise<Elsewhere> => {
  if (place === undefined) {
    const row = before === undefined ? undefined : { ...before, place: null }
    return { servers: [], row, portChanged: false }
  }
  const newcomers = new Newcomers()
  const { hosts } = publicPlaceOf(place)
  const listener: Listener = { hosts, scheme: 'https', elsewhere: newcomers }
  const own = make(() => listener)
  const { port, servers } = await listenOn(() => newcomers.watch(own()), before?.port ?? null)
  return {
    servers, row: { place: place.toLowerCase(), port },
    portChanged: before !== undefined && before.port !== port,
  }
}
