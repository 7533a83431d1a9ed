/** Which screens of a period are told as those that stood longest. */
import { spanMinutes } from './words.js'

/** Screens that are told so. */
const longestMax = 6

/**
 * Those that stood longest, longest first, earlier before later; none that stood for less than a
 * minute. `stoodMs` answers milliseconds. Pure.
 */
export const longestOf = <T>(all: readonly T[], stoodMs: (one: T) => number): readonly T[] =>
  all.map((one) => ({ one, ms: stoodMs(one) }))
    .filter(({ ms }) => spanMinutes(ms) > 0)
    .sort((a, b) => b.ms - a.ms)
    .slice(0, longestMax)
    .map(({ one }) => one)

/** Milliseconds between two times, ISO text. */
export const msBetween = (from: string, to: string): number => Date.parse(to) - Date.parse(from)
