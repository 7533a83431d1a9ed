/** Windows of digests: aligned to the epoch, half-open, by capture time. */
import { digestOf } from '../../base/canonical.js'
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import { digestSchemaVersion } from '../constants.js'

/** One window; `start` included, `end` excluded. */
export interface DigestWindow {
  readonly start: string
  readonly end: string
  /** The same for the same window and schema (S-098). */
  readonly key: string
}

const windowFrom = (startMs: number, sizeMs: number): DigestWindow => {
  const start = isoFromMs(startMs)
  const end = isoFromMs(startMs + sizeMs)
  return {
    start, end,
    key: digestOf({ schema: digestSchemaVersion, window_start: start, window_end: end }),
  }
}

/** The window that a moment lies in. */
export const windowOf = (iso: string, minutes: number): DigestWindow => {
  const sizeMs = minutes * 60_000
  return windowFrom(Math.floor(msFromIso(iso) / sizeMs) * sizeMs, sizeMs)
}

/** The window that ends at a moment. Throws `rejected` `window_not_aligned`. */
export const windowEndingAt = (iso: string, minutes: number): DigestWindow => {
  const sizeMs = minutes * 60_000
  const endMs = msFromIso(iso)
  if (endMs % sizeMs === 0) return windowFrom(endMs - sizeMs, sizeMs)
  const before = Math.floor(endMs / sizeMs) * sizeMs
  throw fail.rejected(
    'window_not_aligned', `A window of ${minutes} minutes does not end at that time.`, {
      next: `Windows end at ${isoFromMs(before)} and at ${isoFromMs(before + sizeMs)}.`,
      details: { window_minutes: minutes, before: isoFromMs(before) },
    },
  )
}
