/**
 * The same load on a service that is never restarted: its memory in the last minute is within a
 * tenth of that in the third. `npm run soak -- MINUTES steady-load`.
 */
import { mixedLoad } from './mixed-load.js'
import type { Life } from './mixed-service.js'

const minute = 60

/** What `npm run soak` counts here, and how many where nothing is said. */
export const [unit, usual] = ['minutes', 10] as const

const grownMax = 1.1

/** Mean resident memory of a minute of a life, counted from 1, MiB. */
const meanOf = ({ samples }: Life, of: number): number => {
  const all = samples.filter(({ second }) => Math.floor(second / minute) === of - 1)
  return all.reduce((sum, { mib }) => sum + mib, 0) / Math.max(1, all.length)
}

/** What is wrong with the memory of each minute, MiB: the last one is held to the third. */
export const grownIn = (each: readonly number[]): readonly string[] => {
  const [third = 0, last = 0] = [each[2], each.at(-1)]
  if (each.length <= 3 || last <= grownMax * third) return []
  return [`memory: ${last} MiB in the last minute, ${third} in the third`]
}

/** So many minutes. */
export const run = async (minutes: number): Promise<void> => {
  const undo: (() => Promise<void> | void)[] = []
  try {
    const { figures, lives: [life], violations } = await mixedLoad(
      { teardown: (done) => void undo.push(done) },
      { ms: minutes * minute * 1000, restartEveryMs: null })
    const each = Array.from({ length: minutes }, (_, n) =>
      Math.round(meanOf(life ?? { samples: [] }, n + 1)))
    process.stdout.write(`${JSON.stringify({ figures, mib_of_each_minute: each }, null, 2)}\n`)
    const all = [...violations, ...grownIn(each)]
    if (all.length > 0) throw new Error(all.join('\n'))
  } finally {
    for (const done of undo.reverse()) await done()
  }
}
