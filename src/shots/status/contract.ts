/** What goes into the status of the screenshots and what comes out. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { durationText } from '../../base/duration.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { closedObject, strictInteger } from '../../base/schema.js'
import { shotsStatusShape, type ShotsStatus } from './shape.js'

const yearMs = 366 * 86_400_000

/** Bounds of the greatest age that may be asked for, milliseconds. */
export const maxAgeMs = { min: 1_000, max: yearMs } as const

/** A status, and how old the newest item may be; null: of any age. */
export interface AskedStatus {
  readonly status: ShotsStatus
  readonly maxAgeMs: number | null
}

const staleFailure = ({ status, maxAgeMs: most }: AskedStatus): SallyportError | null => {
  const age = status.screenshot_folder.newest_item_age_seconds
  if (most === null || (age !== null && age * 1000 <= most)) return null
  return fail.blocked(
    'newest_item_too_old',
    age === null
      ? 'Nothing was observed under this folder yet.'
      : `The newest item is older than ${durationText(most)}.`,
    { next: 'Look at the producer and at: sallyport shots scan', details: { age_seconds: age } },
  )
}

/** One look at folder, observations, analysis and the remote vision route. */
export const shotsStatus = contract({
  name: 'shots.status',
  version: 1,
  input: closedObject({
    /** Greatest age of the newest item, milliseconds. */
    max_age_ms: v.optional(strictInteger(maxAgeMs.min, maxAgeMs.max)),
  }),
  output: shotsStatusShape,
  toDocument: ({ status }: AskedStatus) => status,
  failure: staleFailure,
})
