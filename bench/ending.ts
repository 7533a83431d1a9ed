/** What has to end when a measurement is over, the newest first. */
import type { Teardown } from '../test/world/place.js'

/** Runs `use` and then everything that it left to be ended. */
export const withEnding = async <T>(use: (ending: Teardown) => Promise<T>): Promise<T> => {
  const ends: (() => Promise<void> | void)[] = []
  try {
    return await use({ teardown: (end) => void ends.push(end) })
  } finally {
    for (const end of ends.reverse()) await end()
  }
}
