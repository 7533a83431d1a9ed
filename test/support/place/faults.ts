/** What happens to the way of a machine to the server of its state, or to a process of it. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Placed } from '../../world/world.js'
import { placeTimes } from '../../../src/state/place/place.js'
import type { Postgres } from './postgres.js'
import type { Proxy } from './proxy.js'

/** What happens. */
export const faults = ['killed', 'reset', 'silent', 'silent for a lease', 'answer lost'] as const
export type Fault = (typeof faults)[number]
/** What a process lives through. */
export type WayFault = Exclude<Fault, 'killed'>

/** Two machines; the first one goes by a way that can be held or cut. */
export interface FaultyWay<W extends Placed = Placed> {
  readonly server: Postgres
  readonly proxy: Proxy
  readonly one: W
  readonly two: Placed
}

/** How long a machine that hears nothing for long waits for an answer meanwhile, ms. */
const patienceMs = 700
/** How long what is short takes, ms. */
const shortMs = 200

/** The same, as an environment of test/entry.ts. */
export const envOf = (fault: WayFault): Readonly<Record<string, string>> =>
  (fault === 'silent for a lease' ? { TEST_PLACE_PATIENCE_MS: String(patienceMs) } : {})

/** Places of this process wait no longer than that until it is undone. */
const impatient = (): (() => void) => {
  const before = placeTimes.patienceMs
  placeTimes.patienceMs = patienceMs
  return () => { placeTimes.patienceMs = before }
}

/** Every lease has ended, as it does when its time is over. */
export const endLeases = async (
  { server }: Pick<FaultyWay, 'server'>, name = '%',
): Promise<void> => void await server.query(
  'update sallyport.leases set ends = clock_timestamp() where name like $1', [name])

/** It happens at once; it is over when the promise is. */
export const strike = async (way: FaultyWay, fault: WayFault): Promise<void> => {
  const { proxy } = way
  if (fault === 'reset') return proxy.cut()
  if (fault === 'answer lost') proxy.holdReplies()
  else proxy.hold()
  if (fault === 'silent for a lease') {
    const undo = impatient()
    await sleep(patienceMs + shortMs)
    undo()
    await endLeases(way)
  }
  await sleep(shortMs)
  if (fault === 'answer lost') proxy.cut()
  proxy.free()
}
