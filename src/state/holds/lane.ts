/**
 * The one provider lane of a state directory: at most one request to a provider is open at a time
 * over all processes, and a higher priority goes first. Invariants:
 * - the lane is the kernel lock of `run/lane/holder`; only its holder's release or death frees it;
 * - a waiter holds the kernel lock of its own file `run/lane/<priority>/<ticket>`; a file that can
 *   be locked is a dead waiter's and does not count;
 * - a taker looks for live waiters ahead of it after it got the holder's lock and gives the lock
 *   back when there is one, so no lower priority passes a waiter that was there before it took.
 * Nothing of this is in the log: a lane without processes is a free lane.
 */
import { join } from 'node:path'
import type { Clock } from '../../base/clock.js'
import { fail, type SallyportError } from '../../base/errors.js'
import type { Observer } from '../../base/observer.js'
import { probeFile, tryHoldFile, type HeldFile } from './kernel-file.js'
import { isSomebodyWaiting, joinLine } from './waiting-line.js'

/** Highest first: `interactive` an ask; `high` reports, digests, proofs; `normal` screenshots. */
export const lanePriorities = ['interactive', 'high', 'normal'] as const
export type LanePriority = (typeof lanePriorities)[number]

/** Longest time that one holder may plan to keep the lane: the whole-operation limit of an ask. */
export const laneHoldMsMax = 120_000

/** How often the first in line looks, and how often those behind it. */
const frontPollMs = 5
const behindPollMs = 20

/** What taking the lane needs. */
export interface LaneRequest {
  /** The state directory. */
  readonly dir: string
  readonly priority: LanePriority
  /** The operation's own deadline, on the monotonic clock of this process. */
  readonly deadlineMs: number
  readonly clock: Clock
  readonly signal?: AbortSignal | undefined
  readonly observer?: Observer | undefined
}

/** The held lane. */
export interface Lane {
  /** Monotonic moment by which the holder has to be done: the deadline, at most 120 s from now. */
  readonly holdUntilMs: number
  /** Frees the lane. A second call does nothing. */
  release(): void
}

const laneFolder = (stateDir: string): string => join(stateDir, 'run', 'lane')

/**
 * Whether a live waiter stands before `ticket` (null: before a newcomer): any of a higher
 * priority, or an earlier one of the same.
 */
const isSomebodyAhead = (request: LaneRequest, ticket: string | null): boolean => {
  for (const priority of lanePriorities) {
    const own = priority === request.priority
    const folder = join(laneFolder(request.dir), priority)
    if (isSomebodyWaiting(folder, own ? ticket : null)) return true
    if (own) return false
  }
  return false
}

/** Takes the lane if it is free and nobody stands ahead; null otherwise. */
const tryTake = (request: LaneRequest, ticket: string | null): HeldFile | null => {
  const holder = tryHoldFile(join(laneFolder(request.dir), 'holder'))
  if (!holder) return null
  try {
    if (!isSomebodyAhead(request, ticket)) return holder
  } catch (error) {
    holder.release()
    throw error
  }
  holder.release()
  return null
}

/** Whether somebody alive has the lane. Changes no byte. */
export const isLaneHeld = (stateDir: string): boolean =>
  probeFile(join(laneFolder(stateDir), 'holder')) === 'live'

const busy = (request: Pick<LaneRequest, 'priority'>): SallyportError =>
  fail.locked('lane_busy', 'Another request kept the provider lane past the deadline.', {
    next: 'Nothing was sent. Try again when the other request is done.',
    details: { priority: request.priority },
  })

/** Throws the reason of the signal, and `locked` `lane_busy` at the deadline. */
export const checkGoing = (request: Omit<LaneRequest, 'dir'>): void => {
  request.signal?.throwIfAborted()
  if (request.clock.monotonicMs() >= request.deadlineMs) throw busy(request)
}

/** Jitter keeps pollers apart; the last look comes at the deadline. */
const nextPollMs = (request: LaneRequest, ahead: boolean): number => {
  const left = Math.max(0, request.deadlineMs - request.clock.monotonicMs())
  return Math.min(left, (ahead ? behindPollMs : frontPollMs) * (0.75 + Math.random() / 2))
}

const waitForTurn = async (request: LaneRequest): Promise<HeldFile> => {
  const { ticket, leave } = await joinLine(join(laneFolder(request.dir), request.priority))
  try {
    await request.observer?.at('lane.waiting')
    for (;;) {
      checkGoing(request)
      // A look before the try keeps those behind from touching the holder's lock for nothing.
      const ahead = isSomebodyAhead(request, ticket)
      const holder = ahead ? null : tryTake(request, ticket)
      if (holder) return holder
      await request.clock.sleep(nextPollMs(request, ahead), request.signal)
    }
  } finally {
    leave()
  }
}

/** By when the holder has to be done who gets the lane now. */
export const holdUntil = ({ deadlineMs, clock }: Omit<LaneRequest, 'dir'>): number =>
  Math.min(deadlineMs, clock.monotonicMs() + laneHoldMsMax)

/**
 * Waits for the lane and takes it. Uncontended it does not sleep and leaves no file but `holder`.
 * Announces `lane.waiting` when it has to wait and `lane.taken`. Throws `locked` `lane_busy` at the
 * deadline, and the signal's reason when aborted; either leaves no place behind.
 */
export const acquireLane = async (request: LaneRequest): Promise<Lane> => {
  checkGoing(request)
  const holder = tryTake(request, null) ?? await waitForTurn(request)
  try {
    await request.observer?.at('lane.taken')
    checkGoing(request)
  } catch (error) {
    holder.release()
    throw error
  }
  return { holdUntilMs: holdUntil(request), release: holder.release }
}
