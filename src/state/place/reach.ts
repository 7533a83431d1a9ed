/** What somebody who has put a stop finds of the requests of other machines. */
import * as v from 'valibot'
import type { Clock } from '../../base/clock.js'
import { factsShape, type FenceFacts, type Reached } from '../holds/fence.js'
import type { FenceRow, Place } from './place.js'
import type { PutStop } from './placed-stops.js'
import type { RecordSeal } from './record-seal.js'

/** Pause between two looks, ms. */
const pauseMs = 10

/** A stop that lies nowhere, and since never: what is under way is told, and nothing that ended. */
export const anyStop = { id: 'none', moment: 'infinity' } as const

/** Who looks, and since which stop. */
interface Looking {
  readonly place: Place
  readonly seal: RecordSeal
  readonly machine: string
  readonly stop: PutStop
  readonly clock: Clock
}

/** Facts of a row; what does not open may be anybody's. A process id says nothing here. */
const factsOf = (seal: RecordSeal, { operation, facts }: FenceRow): FenceFacts => {
  const parsed = v.safeParse(factsShape, seal.openFor('fence', operation, facts))
  return parsed.success
    ? { ...parsed.output, pid: 0 }
    : { operation, task: null, principal: null, pid: 0, sent: 'begun' }
}

const isMeant = (
  seal: RecordSeal, row: FenceRow, covered: (facts: FenceFacts) => boolean,
): boolean => seal.openFor('fence', row.operation, row.facts) === undefined
  || covered(factsOf(seal, row))

/**
 * Waits, for at most `waitMs`, until no fence of another machine that `covered` picks is taken any
 * more. Where the place does not answer any more, everything that it told to be taken stays under
 * way; throws what it failed with where it told nothing at all.
 */
export const reachPlacedFences = async (
  { place, seal, machine, stop, clock }: Looking, covered: (facts: FenceFacts) => boolean,
  waitMs: number,
): Promise<Reached> => {
  const until = clock.monotonicMs() + waitMs
  let rows: readonly FenceRow[] | undefined
  for (;;) {
    try {
      rows = (await place.fencesSince(stop.id, stop.moment))
        .filter((row) => row.machine !== machine && isMeant(seal, row, covered))
    } catch (error) {
      // Nobody may say that nothing was leaving who could not look.
      if (rows === undefined) throw error
    }
    if (!rows.some(({ taken }) => taken) || clock.monotonicMs() >= until) break
    await clock.sleep(pauseMs)
  }
  const told = rows
  const facts = (taken: boolean): FenceFacts[] =>
    told.filter((row) => row.taken === taken).map((row) => factsOf(seal, row))
  return {
    sent: facts(false).filter(({ sent }) => sent !== 'nothing'),
    underWay: facts(true).map((one) => ({ ...one, elsewhere: true })),
  }
}
