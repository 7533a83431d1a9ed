/** Places of one store as several machines have them. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { systemClock } from '../../../src/base/clock.js'
import { parsePlaceAddress } from '../../../src/state/place/address.js'
import type { Place, PlacedRecord, Position, StopRow } from '../../../src/state/place/place.js'
import {
  postgresPlace, type PlaceOptions,
} from '../../../src/state/place/postgres/postgres-place.js'
import { until } from '../until.js'
import type { Postgres } from './postgres.js'

/** The last record of a log that is made up. */
export const linkOf = (text: string): Buffer => createHash('sha256').update(text).digest()

/** A record behind a position. */
export const recordAfter = ({ sequence }: Position, bytes = 100): PlacedRecord =>
  ({ sequence: sequence + 1, link: randomBytes(32), body: randomBytes(bytes) })

/** Takes a fence; gives the stops that were seen behind that. */
export const fenced = async (
  place: Place, operation: string, facts: Buffer, turn: string, under: readonly string[],
): Promise<readonly StopRow[]> =>
  (await place.takeFence({ operation, facts, turn, under }, 0, 1)).stops

/** Records of a store take half a second to be placed from now on; waits until one is under way. */
export const slowly = async (
  server: Pick<Postgres, 'query'>, storeId: string,
): Promise<() => Promise<void>> => {
  const name = `slowly_${storeId.replaceAll('-', '')}`
  await server.query(`create function ${name}() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.5); return new; end $$`)
  await server.query(`create trigger ${name} before insert on sallyport.records for each row
    when (new.store = '${storeId}') execute function ${name}()`)
  return () => until('a record is being placed', async () => (await server.query(
    "select from pg_stat_activity where wait_event = 'PgSleep'")).length > 0)
}

/** A store at a server, with the machine that founded it. */
export class PlacedStore {
  readonly storeId = randomUUID()
  readonly base: PlacedRecord = { sequence: 7, link: linkOf('base'), body: Buffer.alloc(0) }

  constructor(readonly t: Test, readonly server: { readonly port: number }) {}

  /** A place of a machine, which need not have joined; closed with the test. */
  placeOf(machine: string, given: Partial<PlaceOptions> & { writes?: number } = {}): Place {
    const { writes = 1, ...options } = given
    const place = postgresPlace({
      address: parsePlaceAddress(
        `postgres://sallyport@127.0.0.1:${this.server.port}/postgres`, null),
      password: null, ca: null, storeId: this.storeId, clock: systemClock,
      machine: { machine, writes }, ...options,
    })
    this.t.teardown(() => place.close().catch(() => undefined))
    return place
  }

  /** The first machine, which made the store. */
  async founded(name = 'first'): Promise<{ machine: string; place: Place }> {
    const machine = randomUUID()
    const place = this.placeOf(machine)
    await place.found({ format: 7, writes: 1, machine: { machine, name }, at: this.base })
    return { machine, place }
  }

  /** Another machine, which has joined. */
  async joined(by: Place, name: string): Promise<{ machine: string; place: Place }> {
    const machine = randomUUID()
    await by.join({ machine, name })
    return { machine, place: this.placeOf(machine) }
  }
}
