/** What the set-up of the model route had narrowed in a state that was replaced. */
import { carrySetup } from '../governance/carrier.js'
import { gatewayCollection, gatewayRouteId, type GatewayRoute, type SlotSetup } from './setup.js'

/** Upstreams that both allow; a slot that none is left of is not set. */
const narrowerSlot = (mine: SlotSetup | null, theirs: SlotSetup | null): SlotSetup | null => {
  if (mine === null || theirs === null) return null
  const upstreams = mine.upstream_allow.filter((one) => theirs.upstream_allow.includes(one))
  if (upstreams.length === 0) return null
  return {
    ...mine,
    upstream_allow: upstreams,
    request_cost_bound_microusd:
      Math.min(mine.request_cost_bound_microusd, theirs.request_cost_bound_microusd),
    timeout_seconds: Math.min(mine.timeout_seconds, theirs.timeout_seconds),
  }
}

const narrower = (mine: GatewayRoute, theirs: GatewayRoute): GatewayRoute => ({
  ...mine,
  enabled: mine.enabled && theirs.enabled,
  slots: {
    chat: narrowerSlot(mine.slots.chat, theirs.slots.chat),
    report: narrowerSlot(mine.slots.report, theirs.slots.report),
    screenshot: narrowerSlot(mine.slots.screenshot, theirs.slots.screenshot),
  },
})

/** Slots and upstreams that were taken away stay so; limits are the lower ones. */
export const carryGatewayGates = carrySetup(gatewayCollection, gatewayRouteId, narrower)
