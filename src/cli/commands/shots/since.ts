/** Points in time on a line: ISO text, or how long ago. */
import { fail } from '../../../base/errors.js'
import { isoFromMs, type Clock } from '../../../base/clock.js'
import { parseDuration } from '../../flags.js'

const dayForm = /^\d{4}-\d{2}-\d{2}$/
const timeForm = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,3})?)?(?:Z|[+-]\d{2}:\d{2})$/
const ageForm = /^[0-9]+[smhd]$/
const yearsMs = 100 * 366 * 86_400_000

/**
 * ISO text in UTC of `2026-11-20`, `2026-11-20T10:00Z` or `8h` (ago). Throws `rejected`
 * `flag_invalid`.
 */
export const pointInTime = (flag: string, text: string, clock: Clock): string => {
  if (ageForm.test(text)) {
    return isoFromMs(clock.wallMs() - parseDuration(flag, text, { min: 1000, max: yearsMs }))
  }
  const ms = dayForm.test(text) || timeForm.test(text) ? Date.parse(text) : Number.NaN
  if (!Number.isNaN(ms)) return isoFromMs(ms)
  throw fail.rejected(
    'flag_invalid', `Flag ${flag} must be a time such as 2026-11-20T10:00Z, or an age such as 8h.`,
    { details: { field: flag, rule: 'time' } },
  )
}
