import { SallyportError } from '../base/errors.js'
import type { StatusLine } from '../governance/capability.js'
import type { View } from '../state/types.js'
import { sampleObservations } from './observations/find.js'
import { shotCollections as c } from './observations/rows.js'
import { savedSettings } from './source/settings.js'

/** Blocked rows that are asked for their reason. */
const looksMax = 100

/** What a row cannot tell is left out: the number stands without it. */
const reasonOfMost = (view: View): string | null => {
  try {
    return mostFrequent(view)
  } catch (error) {
    if (error instanceof SallyportError) return null
    throw error
  }
}

/** The most frequent stored reason of some blocked rows; null where none has one. */
const mostFrequent = (view: View): string | null => {
  const counts = new Map<string, number>()
  const some = sampleObservations(view, { statuses: ['blocked'] }, (looks) => looks < looksMax)
  for (const { analyzer: { reason } } of some) {
    if (reason !== null) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  }
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0] ?? null
}

/**
 * The source in one line of `status`, from counters: how many images stand blocked, of whatever
 * folder that was not found to be an older one, and why most of them are.
 */
export const shotsStatusLine = (view: View): StatusLine => {
  if (savedSettings(view).analysis !== 'on') {
    return { status: 'disabled', reason_code: 'analysis_off' }
  }
  const blocked = view.all(c.counts).map(({ doc }) => doc)
    .filter((one) => !one.archived && one.analysis_status === 'blocked'
      && one.classification === null)
    .reduce((sum, { count }) => sum + count, 0)
  if (blocked === 0) return { status: 'configured', reason_code: null }
  const images = blocked === 1 ? '1 image is' : `${blocked} images are`
  return {
    status: 'blocked', reason_code: reasonOfMost(view),
    reason: `${images} blocked: sallyport shots status`,
  }
}
