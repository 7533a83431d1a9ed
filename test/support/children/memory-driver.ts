/**
 * Stands where the driver of PostgreSQL is loaded in a process that was started with
 * `over-a-place.ts`: each state has a place in this process, by the clock of its machine.
 */
import { nameOfPlace } from '../../../src/state/place/address.js'
import type { Place } from '../../../src/state/place/place.js'
import type { PlaceOptions } from '../../../src/state/place/postgres/postgres-place.js'
import { MemoryServer, memoryPlace } from '../place/memory.js'

const servers = new Map<string, MemoryServer>()

/** The place of a state. */
export const postgresPlace = ({ storeId, clock, machine, address }: PlaceOptions): Place => {
  const server = servers.get(storeId) ?? new MemoryServer()
  servers.set(storeId, server)
  server.nowMs = () => clock.wallMs()
  return { ...memoryPlace(server, () => machine.machine), name: nameOfPlace(address) }
}
