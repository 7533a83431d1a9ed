/**
 * Waiting until the one place of an owner is free, for who asked for that: before anything
 * is admitted, so that a waiter has no task, no hold and no claim. Whoever waits stands in a line
 * of the owner's and stays in it until its ask has ended, so that they are served as they came; an
 * ask that does not wait may still be faster.
 */
import { fail } from '../../base/errors.js'
import { isTaken, requireFreePlace, taskInPlace } from '../../governance/board/place.js'
import { alphaCapability } from '../constants.js'
import type { Asking } from './operation.js'

/** How often the first in line looks at the rows, and how often those behind it at the line. */
const frontPollMs = 25
const behindPollMs = 100

/** A wait for the turn; one for each ask. */
export interface Turn {
  /** Milliseconds since the ask began: they count against its whole time. */
  spentMs(): number
  /** Whether there is time left to wait. */
  isLeft(): boolean
  /**
   * Waits until the place is free and nobody who came before waits, `isDone` answers true, or no
   * time is left. Throws `cancelled` `ask_cancelled`.
   */
  wait(isDone: () => boolean): Promise<void>
  /** Throws `conflict` `operation_outstanding` where the time is over and the place is taken. */
  requirePlace(): void
  /** Leaves the line. */
  end(): void
}

/** How long an ask may wait for another one. */
export interface Wait {
  /** Milliseconds; 0 waits for nothing and stands in no line. */
  readonly ms: number
  /** Ends what dead processes left, with the rules of every capability. */
  recover(): Promise<void>
}

/** Begins one. */
export const startTurn = ({ ctx, session }: Asking, { ms: waitMs, recover }: Wait): Turn => {
  const { gov: { clock, store, observer }, signal } = ctx
  const recovered = new Set<string>()
  const owner = session.principal.principal_id
  const line = store.holds.line(owner)
  const beganMs = clock.monotonicMs()
  const spentMs = (): number => clock.monotonicMs() - beganMs
  const isLeft = (): boolean => spentMs() < waitMs
  const ownPlace = { owner, kind: alphaCapability, place: null }
  /** Frees it of an ask whose process died while this one waits: nobody else may come by. */
  const isFree = async (): Promise<boolean> => {
    const view = store.read()
    if (!isTaken(view, ownPlace)) return true
    const operation = taskInPlace(view, ownPlace)?.operation_id ?? ''
    if (operation === '' || recovered.has(operation)) return false
    if (store.holds.isHeld('operation', operation)) return false
    recovered.add(operation)
    await recover()
    return false
  }
  let place: Awaited<ReturnType<typeof line.join>> | null = null
  const pause = async (ms: number): Promise<void> => {
    try {
      await clock.sleep(Math.min(ms, Math.max(0, waitMs - spentMs())), signal)
    } catch (cause) {
      throw fail.cancelled('ask_cancelled', 'The ask was cancelled.', { cause })
    }
  }
  const wait = async (isDone: () => boolean): Promise<void> => {
    if (!isLeft()) return
    if (place === null) {
      place = await line.join()
      await observer.at('ask.turn')
    }
    while (isLeft() && !isDone()) {
      const behind = line.isSomebodyBefore(place.ticket)
      if (!behind && await isFree()) return
      await pause(behind ? behindPollMs : frontPollMs)
    }
  }
  const requirePlace = (): void => {
    if (!isLeft()) requireFreePlace(store.read(), ownPlace)
  }
  return { spentMs, isLeft, wait, requirePlace, end: () => place?.leave() }
}
