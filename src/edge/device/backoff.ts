/**
 * Gaps between tries (S-038): they double up to a bound, each shortened by chance by up to a third,
 * so that every gap is longer than the one before until the bound, and devices do not beat in time.
 */
import type { RetrySettings } from './settings.js'

const jitter = 1 / 3

/** Milliseconds to wait after so many failures in a row (from 1); `chance` is from 0 up to 1. */
export const gapAfter = (
  failures: number, { first_ms, most_ms }: RetrySettings, chance: number,
): number => {
  const doubled = first_ms * 2 ** Math.min(failures - 1, 40)
  return Math.round(Math.min(doubled, most_ms) * (1 - jitter * chance))
}
