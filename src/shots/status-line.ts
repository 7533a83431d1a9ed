import type { StatusLine } from '../governance/capability.js'
import type { View } from '../state/types.js'
import { shotCollections as c, type ShotCount } from './observations/rows.js'
import { savedSettings } from './source/settings.js'

/** The reason of most of them, as it is stored; null where none has one. */
const reasonOfMost = (blocked: readonly ShotCount[]): string | null => {
  const counts = new Map<string, number>()
  for (const { reason = null, count } of blocked) {
    if (reason !== null) counts.set(reason, (counts.get(reason) ?? 0) + count)
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
  const number = blocked.reduce((sum, { count }) => sum + count, 0)
  if (number === 0) return { status: 'configured', reason_code: null }
  const images = number === 1 ? '1 image is' : `${number} images are`
  return {
    status: 'blocked', reason_code: reasonOfMost(blocked),
    reason: `${images} blocked: \`sallyport shots status\``,
  }
}
