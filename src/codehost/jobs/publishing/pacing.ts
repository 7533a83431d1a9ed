import type { Clock } from '../../../base/clock.js'

/**
 * Waits until `spacingMs` have passed since it was last asked; the first time it does not wait.
 * Hosts of others ask for a second between two writes. A stop ends the wait: whoever waits looks.
 */
export const pacing = (
  clock: Clock, spacingMs: number, signal: AbortSignal,
): (() => Promise<void>) => {
  let nextMs = clock.monotonicMs()
  return async () => {
    const waitMs = nextMs - clock.monotonicMs()
    if (waitMs > 0) await clock.sleep(waitMs, signal).catch(() => undefined)
    nextMs = clock.monotonicMs() + spacingMs
  }
}
