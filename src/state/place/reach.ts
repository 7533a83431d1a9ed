/** What somebody who has put a stop finds of the requests of other machines. */
import * as v from 'valibot'
import type { Clock } from '../../base/clock.js'
import { factsShape, type FenceFacts, type Reached } from '../holds/fence.js'
import type { FenceRow, Place } from './place.js'
import type { RecordSeal } from './record-seal.js'

/** Pause between two looks, ms. */
const pauseMs = 10

/** Who looks, and since which stop. */
interface Looking {
  readonly place: Place
  readonly seal: RecordSeal
  readonly machine: string
  readonly stop: string
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
 * more. A place that does not answer meanwhile tells of nobody: everything that it knew to be taken
 * stays under way.
 */
export const reachPlacedFences = async (
  { place, seal, machine, stop, clock }: Looking, covered: (facts: FenceFacts) => boolean,
  waitMs: number,
): Promise<Reached> => {
  const until = clock.monotonicMs() + waitMs
  let rows: readonly FenceRow[] = []
  for (;;) {
    try {
      rows = (await place.fencesSince(stop))
        .filter((row) => row.machine !== machine && isMeant(seal, row, covered))
    } catch {
      // Told by what was known; without any, the stop itself had no answer either.
    }
    if (!rows.some(({ taken }) => taken) || clock.monotonicMs() >= until) break
    await clock.sleep(pauseMs)
  }
  const facts = (taken: boolean): FenceFacts[] =>
    rows.filter((row) => row.taken === taken).map((row) => factsOf(seal, row))
  return { sent: facts(false).filter(({ sent }) => sent !== 'nothing'), underWay: facts(true) }
}
