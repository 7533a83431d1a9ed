/**
 * What a request for an image costs, as far as this state can tell: the charges of the newest that
 * ended well under the model of now, and the bound that is held for one. Nobody's list of prices
 * is read, and no price is made of tokens.
 */
import { gatewayCollection, gatewayRouteId } from '../../gateway/setup.js'
import type { View } from '../../state/types.js'
import { imageBound } from '../gates.js'
import { configuredModel } from '../observations/as-of-now.js'
import { takeObservations } from '../observations/find.js'
import { savedSettings } from '../source/settings.js'

/** So many of the newest charges count. */
const chargesMax = 20

/** What one request costs; money in micro-USD. */
export interface RequestPrice {
  /** Average of the newest charges; null where nothing was charged under this model yet. */
  readonly averageMicrousd: number | null
  /** How many charges that is the average of. */
  readonly charges: number
  /** What is held for one request, and the most that one may cost; null without a model. */
  readonly boundMicrousd: number | null
}

/** Reads it from rows. */
export const requestPrice = (view: View): RequestPrice => {
  const model = configuredModel(view)
  const setup = view.get(gatewayCollection, gatewayRouteId)?.slots.screenshot ?? null
  const charges = model === null ? [] : takeObservations(view, {
    statuses: ['succeeded'], newestFirst: true, archived: true,
    meant: (key) => key.model === model && key.reused === undefined,
  }, chargesMax).flatMap(({ payload }) => (payload === null ? [] : [payload.cost_microusd]))
  const sum = charges.reduce((all, one) => all + one, 0)
  return {
    averageMicrousd: charges.length === 0 ? null : Math.round(sum / charges.length),
    charges: charges.length,
    boundMicrousd: setup === null ? null : imageBound(savedSettings(view), setup),
  }
}
