import type { StatusLine } from '../governance/capability.js'
import type { View } from '../state/types.js'
import { blockedAnywhere, isNobodysMatter } from './analysis/blocked.js'
import type { ShotsContext } from './context.js'
import { savedSettings } from './source/settings.js'

/**
 * The source in one line of `status`: how many images stand blocked, of whatever folder that is not
 * an older one by now, and what stands in the way of most of them today. What is counted, and why,
 * is told by the same reader as the list of what waits; what stays here by choice stands in no way.
 */
export const shotsStatusLine = (ctx: ShotsContext, view: View): StatusLine => {
  if (savedSettings(view).analysis !== 'on') {
    return { status: 'disabled', reason_code: 'analysis_off' }
  }
  const { reasons: all, unseen } = blockedAnywhere(ctx, view)
  const reasons = all.filter(({ reason }) => !isNobodysMatter(reason))
  const number = reasons.reduce((sum, { count }) => sum + count, unseen)
  if (number === 0) return { status: 'configured', reason_code: null }
  const images = number === 1 ? '1 image is' : `${number} images are`
  return {
    status: 'blocked', reason_code: reasons[0]?.reason ?? null,
    reason: `${images} blocked: \`sallyport shots status\``,
  }
}
