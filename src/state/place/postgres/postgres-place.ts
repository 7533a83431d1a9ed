/** A place in PostgreSQL. What each function asks lies beside this file. */
import type { Clock } from '../../../base/clock.js'
import { SallyportError } from '../../../base/errors.js'
import { nameOfPlace } from '../address.js'
import { runOfNow, type KnownRun } from '../known-run.js'
import type { Introduction, Place, PlacedRecord, Position, StopRow } from '../place.js'
import { accept, end, standing, vouch } from './care.js'
import {
  getBlob, hasBlobs, keepBlob, oldBlobs, putBlob, removeBlobs, untrueBlobs,
} from './blobs.js'
import { Connection, Unanswered, Unreached, type Reach } from './connection.js'
import { facts } from './facts.js'
import { placeFailure, sqlStateOf } from './failures.js'
import { dropStop, fencesSince, giveFence, putStop, takeFence } from './fences.js'
import { found } from './found.js'
import { release, renew, take } from './leases.js'
import { join, machines, noteSeen, retire } from './machines.js'
import { append, follow } from './records.js'
import type { Asking } from './standing.js'

/** What a place is made of. */
export interface PlaceOptions extends Reach {
  /** UUID of the state. */
  readonly storeId: string
  readonly machine: Introduction
  /** Of this machine; the place's is compared with it. */
  readonly clock: Clock
  /** Left out: as long as this place lives, the first run that answers. */
  readonly run?: KnownRun
}

/** What the driver throws, as an error of the program; whatever else is a defect, and stays. */
const failureOf = (error: unknown, name: string): unknown => {
  if (error instanceof SallyportError) return error
  if (error instanceof Unanswered || error instanceof Unreached) {
    return placeFailure(error.cause, name)
  }
  return sqlStateOf(error) === undefined ? error : placeFailure(error, name)
}

async function* guardedPieces(name: string, pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  try {
    yield* pieces
  } catch (error) {
    throw failureOf(error, name)
  }
}

/**
 * The place. Nothing is connected before the first question. Throws `rejected` `server_ca_needed`
 * where the way there would not be sealed.
 */
export const postgresPlace = (options: PlaceOptions): Place => {
  const { storeId, machine, clock, address, run = runOfNow() } = options
  const name = nameOfPlace(address)
  const connection = new Connection(options)
  const asking: Asking = { connection, storeId, machine, run }
  const guarded = <A extends unknown[], T>(
    fn: (asking: Asking, ...given: A) => Promise<T>,
  ) => async (...given: A): Promise<T> => {
    try {
      return await fn(asking, ...given)
    } catch (error) {
      throw failureOf(error, name)
    }
  }
  const taken = guarded(take)
  return {
    name,
    follow: guarded(follow),
    append: guarded(append),
    take: (lease, ms, ahead = []) => taken(lease, ms, ahead),
    renew: guarded(renew),
    release: guarded(release),
    takeFence: guarded(takeFence),
    giveFence: guarded(giveFence),
    fencesSince: guarded(fencesSince),
    putStop: guarded(putStop),
    dropStop: guarded(dropStop),
    untrueBlobs: guarded(untrueBlobs),
    hasBlobs: guarded(hasBlobs),
    putBlob: guarded(putBlob),
    getBlob: (blob) => guardedPieces(name, getBlob(asking, blob)),
    removeBlobs: guarded(removeBlobs),
    oldBlobs: guarded(oldBlobs),
    keepBlob: guarded(keepBlob),
    machines: guarded(machines),
    join: guarded(join),
    retire: guarded(retire),
    noteSeen: guarded(noteSeen),
    found: guarded(found),
    standing: guarded((from, known?: number) => standing(from, known)),
    vouch: guarded(vouch),
    accept: guarded((
      from, last: Position, lost: readonly PlacedRecord[], retired?: readonly string[],
      stops?: readonly StopRow[],
    ) => accept(from, last, lost, retired, stops)),
    end: guarded(end),
    facts: guarded((from, known?: number) => facts(from, clock, known)),
    close: () => connection.close(),
  }
}
