/**
 * What still has to be said to places when stores are closed: leases that are given back, a
 * connection that ends. Closing a store does not wait; whoever ends the process does, because a
 * lease that nobody gave back keeps others waiting until its time is over.
 */
import { systemClock } from '../../base/clock.js'

const open = new Set<Promise<unknown>>()

/** For so long a server that is away is tried again, ms: one that starts anew takes about one. */
const againForMs = 3_000
const pauseMs = 250

/** Remembers something that has been begun; how it ends is not told. */
export const noteClosing = (what: Promise<unknown>): void => {
  const ended: Promise<unknown> = what.catch(() => undefined).finally(() => open.delete(ended))
  open.add(ended)
}

/** What is still being said, by the place that it is said to. */
const sayings = new WeakMap<object, Promise<unknown>>()

/**
 * Says something to a place that may be said twice; while it cannot be, it is tried again for a
 * while. Whether it was said; never rejects.
 */
export const noteSaying = (place: object, say: () => Promise<unknown>): Promise<boolean> => {
  const until = systemClock.monotonicMs() + againForMs
  const saying = async (): Promise<void> => {
    for (;;) {
      try {
        await say()
        return
      } catch (error) {
        if (systemClock.monotonicMs() >= until) throw error
      }
      await systemClock.sleep(pauseMs)
    }
  }
  const said = saying().then(() => true, () => false)
  sayings.set(place, Promise.all([sayings.get(place), said]))
  noteClosing(said)
  return said
}

/** Ends a connection once all of it was said, or given up. */
export const noteEnd = (place: { close(): Promise<void> }): void =>
  noteClosing((sayings.get(place) ?? Promise.resolve()).then(() => place.close()))

/** Waits for all of it. Never rejects. */
export const closingsDone = async (): Promise<void> => {
  while (open.size > 0) await Promise.all(open)
}
