import type { Gov, Session } from '../governance/context.js'
import type { GatewayPlace } from './constants.js'
import { projectGateway, type GatewayShow } from './projection.js'
import { gatewayFacts } from './readiness.js'

/** The configuration read of the route. It opens no socket and changes no byte. */
export const showGateway = (gov: Gov, _session: Session, place: GatewayPlace): GatewayShow =>
  projectGateway(gatewayFacts(gov, gov.store.read(), place))
