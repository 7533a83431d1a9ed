import { setTimeout as sleep } from 'node:timers/promises'
import { patienceMs } from './speed.js'

const pollMs = 5

/** Waits until something holds; fails with what was waited for where it never does. */
export const until = async (
  what: string, holds: () => boolean | Promise<boolean>,
): Promise<void> => {
  const forMs = patienceMs()
  const end = performance.now() + forMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`still not so after ${forMs} ms: ${what}`)
    await sleep(pollMs)
  }
}
