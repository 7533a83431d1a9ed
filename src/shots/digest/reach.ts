import { consentTo, gatewayFacts } from '../../gateway/readiness.js'
import type { View } from '../../state/types.js'
import type { ShotsContext } from '../context.js'
import { consentReaches } from '../gates.js'
import type { Analysed } from '../texts/sources.js'

/**
 * Whether the consent of now reaches every image of a window; without one the window waits for it.
 * What was taken in before it is digested where a person names the window.
 */
export const reaches = (
  ctx: ShotsContext, view: View,
): ((sources: readonly Analysed[]) => boolean) => {
  const consent = consentTo(gatewayFacts(ctx.gov, view, ctx.gateway.place), 'gateway.digest')
  return (sources) => consent === undefined
    || sources.every((row) => consentReaches(consent, row))
}
