/**
 * What other machines wrote of a state that several share, for requests that reading alone would
 * answer: a pairing that was ended there opens nothing here (S-198). Requests that come at once
 * share one look; none takes a look that was begun before it came.
 */
import type { Clock } from '../base/clock.js'
import type { Store } from '../state/types.js'

interface Line {
  /** Ends, whatever it comes to, when the look that is under way has ended. */
  ended: Promise<unknown>
  beganMs: number
  /** One that begins behind that. */
  next: Promise<void> | null
}

const lines = new WeakMap<Store, Line>()

const lineOf = (store: Store): Line => {
  const line = lines.get(store)
    ?? { ended: Promise.resolve(), beganMs: Number.NEGATIVE_INFINITY, next: null }
  lines.set(store, line)
  return line
}

/**
 * Follows unless that was begun within so many ms. A state in a directory has nothing to follow.
 * Throws what the place throws, `locked` `place_unreachable` among it.
 */
export const followWithin = (store: Store, clock: Clock, withinMs: number): Promise<void> => {
  const line = lineOf(store)
  const isRecent = clock.monotonicMs() - line.beganMs < withinMs
  if (store.machine === null || isRecent) return Promise.resolve()
  line.next ??= line.ended.then(async () => {
    line.next = null
    const look = store.fresh()
    line.ended = look.catch(() => undefined)
    const beganMs = clock.monotonicMs()
    await look
    line.beganMs = beganMs
  })
  return line.next
}
