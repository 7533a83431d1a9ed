/** What goes into the status of the screenshots and what comes out. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { msFromIso } from '../../base/clock.js'
import { durationText } from '../../base/duration.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { closedObject, strictInteger } from '../../base/schema.js'
import { shotsStatusShape, type ShotsStatus } from './shape.js'

const yearMs = 366 * 86_400_000

/** Bounds of the greatest age that may be asked for, milliseconds. */
export const maxAgeMs = { min: 1_000, max: yearMs } as const

/** A status, and how old the newest item may be; null: of any age. */
interface AskedStatus {
  readonly status: ShotsStatus
  readonly maxAgeMs: number | null
  /** The same of the newest analysis. */
  readonly maxAnalysisAgeMs: number | null
  /** Wall time. */
  readonly nowMs: number
}

/** Analyses that stopped coming, however new the images are. */
const oldAnalysis = ({ status, maxAnalysisAgeMs: most, nowMs }: AskedStatus) => {
  const { latest_analyzed_at: at } = status.screenshot_folder.analysis
  const ageMs = at === null ? null : nowMs - msFromIso(at)
  if (most === null || (ageMs !== null && ageMs <= most)) return null
  return fail.blocked(
    'newest_analysis_too_old',
    ageMs === null
      ? 'Nothing was analysed under this folder yet.'
      : `The newest analysis is older than ${durationText(most)}.`,
    {
      next: 'See why images wait: `sallyport shots status`.',
      details: { age_seconds: ageMs === null ? null : Math.floor(ageMs / 1000) },
    },
  )
}

const oldItem = ({ status, maxAgeMs: most }: AskedStatus): SallyportError | null => {
  const age = status.screenshot_folder.newest_item_age_seconds
  if (most === null || (age !== null && age * 1000 <= most)) return null
  return fail.blocked(
    'newest_item_too_old',
    age === null
      ? 'Nothing was observed under this folder yet.'
      : `The newest item is older than ${durationText(most)}.`,
    { next: 'Look at the producer and at: `sallyport shots scan`.', details: { age_seconds: age } },
  )
}

/** One look at folder, observations, analysis and the remote vision route. */
export const shotsStatus = contract({
  name: 'shots.status',
  input: closedObject({
    /** Greatest age of the newest item, milliseconds. */
    max_age_ms: v.optional(strictInteger(maxAgeMs.min, maxAgeMs.max)),
    /** Greatest age of the newest analysis, milliseconds. */
    max_analysis_age_ms: v.optional(strictInteger(maxAgeMs.min, maxAgeMs.max)),
  }),
  output: shotsStatusShape,
  toDocument: ({ status }: AskedStatus) => status,
  failure: (asked: AskedStatus) => oldItem(asked) ?? oldAnalysis(asked),
})
