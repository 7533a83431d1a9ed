import { systemClock, type Clock } from '../../src/base/clock.js'

/** A clock that moves only when told to. */
export interface StillClock extends Clock {
  advance(ms: number): void
  /** Moves the wall clock alone, also back. */
  stepWall(ms: number): void
}

/** Begins at noon of 2026-11-20 (UTC) unless told otherwise. A sleep moves it: nothing waits. */
export const stillClock = (startMs = Date.UTC(2026, 10, 20, 12)): StillClock => {
  let wall = startMs
  let monotonic = 0
  const advance = (ms: number): void => {
    wall += ms
    monotonic += ms
  }
  return {
    wallMs: () => wall,
    monotonicMs: () => monotonic,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      advance(ms)
    },
    advance,
    stepWall: (ms) => {
      wall += ms
    },
  }
}

export const minute = 60_000
export const hour = 60 * minute

/** The machine's clock, which the test may also move on: for what really waits for somebody. */
export const movedClock = (): StillClock => {
  let moved = 0
  let stepped = 0
  return {
    wallMs: () => systemClock.wallMs() + moved + stepped,
    monotonicMs: () => systemClock.monotonicMs() + moved,
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
    advance: (ms) => {
      moved += ms
    },
    stepWall: (ms) => {
      stepped += ms
    },
  }
}
