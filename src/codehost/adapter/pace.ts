/** Hosts of others are asked no more often than they say that they like. */
import type { Clock } from '../../base/clock.js'
import type { Gov } from '../../governance/context.js'
import { deploymentProfile } from '../../governance/profile.js'

const windowMs = 60_000

/**
 * Waits until fewer than `most` times within the last 60 seconds it let somebody pass. A stop ends
 * the wait; whoever waited looks for it.
 */
export const minutePace = (
  clock: Clock, most: number, signal: AbortSignal,
): (() => Promise<void>) => {
  const passed: number[] = []
  return async () => {
    for (;;) {
      const now = clock.monotonicMs()
      const oldest = passed[passed.length - most]
      if (oldest === undefined || now - oldest >= windowMs || signal.aborted) {
        passed.push(now)
        return
      }
      await clock.sleep(windowMs - (now - oldest), signal).catch(() => undefined)
    }
  }
}

/** The same for reading the host of a deployment: one on this machine is asked at once. */
export const hostPace = (
  { clock, store }: Pick<Gov, 'clock' | 'store'>, most: number, signal: AbortSignal,
): (() => Promise<void>) =>
  minutePace(clock, deploymentProfile(store).loopback ? Infinity : most, signal)
