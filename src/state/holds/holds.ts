/**
 * What lives as long as its process, as everything above the state uses it: guards, turns of jobs,
 * lines, the lane and fences. One that is free says that nobody has it, never that nothing is under
 * way: rows say that.
 */
import { join } from 'node:path'
import { placesOf } from '../paths.js'
import {
  Fence, reachFences, sweepFences, watchFences, type FenceFacts, type Reached,
} from './fence.js'
import {
  guardName, hasDeadGuard, holdGuard, isHeld, liveGuards, sweepGuards, type Guard, type HoldKind,
} from './guard.js'
import { probeFile, tryHoldFile, type HeldFile } from './kernel-file.js'
import { acquireLane, type Lane, type LaneRequest } from './lane.js'
import { isSomebodyWaiting, joinLine, type LinePlace } from './waiting-line.js'

/** The fence of one operation, on the side of the process that sends. */
export type SendFence = Pick<Fence, 'take' | 'note' | 'give' | 'close'>

/** A line of waiters over all processes. */
export interface Line {
  /** Stands in it, behind all who are there. Throws `failed` `lane_place_lost`. */
  join(): Promise<LinePlace>
  /** Whether somebody who lives came before a ticket. */
  isSomebodyBefore(ticket: string): boolean
}

/** Fences that were live when somebody was about to stop something. */
export interface FenceWatch {
  /**
   * Tries the fence of each operation that `covered` picks, at most `waitMs`. Call it once the stop
   * is durable: whoever takes its fence later sees the stop.
   */
  reach(covered: (facts: FenceFacts) => boolean, waitMs: number): Promise<Reached>
  close(): void
}

/** What the processes of one state hold. */
export interface Holds {
  /** Holds until release or death. Rejects with `conflict` `guard_held`. */
  hold(kind: HoldKind, id: string): Promise<Guard>
  /** Whether somebody alive holds it. Changes no byte. */
  isHeld(kind: HoldKind, id: string): boolean
  /** How many are held. Changes no byte. */
  live(): number
  /** Whether a dead process left one. Changes no byte. */
  hasDead(): boolean
  /** Removes what dead processes left of guards and fences. For after recovery. */
  sweep(): void
  /** The turn of a job of the scheduler; null while another process has it. */
  tryTurn(job: string): Promise<Pick<HeldFile, 'release'> | null>
  /** The line of an owner's asks. */
  line(owner: string): Line
  /** Waits for the lane and takes it: see `acquireLane`. */
  lane(request: Omit<LaneRequest, 'dir'>): Promise<Lane>
  /** `under`: what the operation holds (guard, lane), without which nothing may leave. */
  fence(facts: Omit<FenceFacts, 'sent'>, under: readonly object[]): SendFence
  /** To be asked before a stop is put: see `watchFences`. Throws nothing. */
  watch(): FenceWatch
}

const turnPath = (dir: string, job: string): string =>
  join(placesOf(dir).run, 'shots', `job-${job}`)

/** Whether somebody alive has the turn of a job. Changes no byte. */
export const isTurnHeld = (dir: string, job: string): boolean =>
  probeFile(turnPath(dir, job)) === 'live'

/** Holds of a state directory: kernel locks of files below its `run/`. Opens nothing. */
export const holdsAt = (dir: string): Holds => ({
  hold: (kind, id) => holdGuard(dir, guardName(kind, id)),
  isHeld: (kind, id) => isHeld(dir, guardName(kind, id)),
  live: () => liveGuards(dir),
  hasDead: () => hasDeadGuard(dir),
  sweep: () => {
    sweepGuards(dir)
    sweepFences(dir)
  },
  tryTurn: async (job) => tryHoldFile(turnPath(dir, job)),
  line: (owner) => {
    const folder = join(placesOf(dir).run, 'turn', owner)
    return {
      join: () => joinLine(folder), isSomebodyBefore: (ticket) => isSomebodyWaiting(folder, ticket),
    }
  },
  lane: (request) => acquireLane({ ...request, dir }),
  fence: (facts) => new Fence(dir, facts),
  watch: () => {
    const watched = watchFences(dir)
    return {
      reach: (covered, waitMs) => reachFences(dir, covered, waitMs, watched),
      close: () => watched.close(),
    }
  },
})
