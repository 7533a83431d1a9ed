import type { StatusLine } from '../governance/capability.js'
import { isGiverReason } from '../governance/judge/consent-facts.js'
import type { Gov } from '../governance/context.js'
import type { View } from '../state/types.js'
import type { GatewayPlace } from './constants.js'
import { projectGateway } from './projection.js'
import { gatewayFacts } from './readiness.js'

export const gatewayStatusLine = (gov: Gov, view: View, place: GatewayPlace): StatusLine => {
  const { gateway } = projectGateway(gatewayFacts(gov, view, place))
  if (gateway === null) return { status: 'disabled', reason_code: 'not_set_up' }
  const { status, reason_code, reason } = gateway
  const about = reason_code !== null && reason !== null && isGiverReason(reason_code)
  return { status, reason_code, ...(about ? { reason } : {}) }
}
