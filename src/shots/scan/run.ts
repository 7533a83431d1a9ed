/** The run of like images that a representative stands for (S-068, S-075). */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { fileNameOfRow } from '../observations/file-name.js'
import type { Observation, VisualRun } from '../observations/observation-rows.js'
import type { TakenFile } from './types.js'

/** What a run is reckoned from. */
export type RunHolder = Pick<Observation, 'paths' | 'captured_at' | 'screenshot_visual_run'>

const quarterMs = 900_000

/** The quarter hour of a time, by its beginning, ISO. */
export const quarterOf = (capturedAt: string): string =>
  isoFromMs(Math.floor(msFromIso(capturedAt) / quarterMs) * quarterMs)

/** Counts an image in its quarter hour; a run of an earlier version stays without them. */
const quartersWith = (run: VisualRun, capturedAt: string): Pick<VisualRun, 'quarter_counts'> => {
  const counts = run.quarter_counts
  if (counts === undefined) return {}
  const quarter = quarterOf(capturedAt)
  return { quarter_counts: { ...counts, [quarter]: (counts[quarter] ?? 0) + 1 } }
}

const runOf = (row: RunHolder): VisualRun =>
  row.screenshot_visual_run ?? {
    representative_path: fileNameOfRow(row).text,
    first_seen: row.captured_at,
    last_seen: row.captured_at,
    suppressed_count: 0,
    latest_suppressed_path: null,
    reason_counts: {},
    quarter_counts: {},
  }

const earlier = (a: string, b: string): string => (a < b ? a : b)
const later = (a: string, b: string): string => (a > b ? a : b)

/**
 * The row with an image in its run, for a reason. A clock that went backwards widens the run at its
 * other end; it never turns it round.
 */
export const extended = <R extends RunHolder>(row: R, taken: TakenFile, reason: string): R => {
  const run = runOf(row)
  return {
    ...row,
    screenshot_visual_run: {
      ...run,
      first_seen: earlier(run.first_seen, taken.capturedAt),
      last_seen: later(run.last_seen, taken.capturedAt),
      suppressed_count: run.suppressed_count + 1,
      latest_suppressed_path: taken.name.text,
      reason_counts: { ...run.reason_counts, [reason]: (run.reason_counts[reason] ?? 0) + 1 },
      ...quartersWith(run, taken.capturedAt),
    },
  }
}

/**
 * The row when the very same picture was seen once more: its span grows, since what stands still is
 * still being recorded, and nothing is counted.
 */
export const seenAgain = <R extends RunHolder>(row: R, taken: TakenFile): R => {
  const run = runOf(row)
  const lastSeen = later(run.last_seen, taken.capturedAt)
  if (lastSeen === run.last_seen) return row
  return { ...row, screenshot_visual_run: { ...run, last_seen: lastSeen } }
}

/** How long after the last image of its run this one is, milliseconds. */
export const gapBefore = (row: RunHolder, taken: TakenFile): number =>
  msFromIso(taken.capturedAt) - msFromIso(runOf(row).last_seen)

/** How long the run would be with this image in it, milliseconds. */
export const lengthWith = (row: RunHolder, taken: TakenFile): number => {
  const run = runOf(row)
  return msFromIso(later(run.last_seen, taken.capturedAt))
    - msFromIso(earlier(run.first_seen, taken.capturedAt))
}
