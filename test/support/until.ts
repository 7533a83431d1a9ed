import { setTimeout as sleep } from 'node:timers/promises'

const pollMs = 5

/** Waits until something holds; fails with what was waited for after a minute, or after `forMs`. */
export const until = async (
  what: string, holds: () => boolean | Promise<boolean>, forMs = 60_000,
): Promise<void> => {
  const end = performance.now() + forMs
  while (!(await holds())) {
    if (performance.now() > end) throw new Error(`still not so after ${forMs} ms: ${what}`)
    await sleep(pollMs)
  }
}
