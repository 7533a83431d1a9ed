import type { Capability } from '../governance/capability.js'
import type { Gov } from '../governance/context.js'
import {
  gatewayChargeSources, gatewayRouteName, gatewayRuntime, type GatewayPlace,
} from './constants.js'

/**
 * The general model route. `placeOf`: where the gateway of an open store is and which names it must
 * never use; those of other capabilities are known to the layer above.
 */
export const gateway = (placeOf: (gov: Pick<Gov, 'store'>) => GatewayPlace): Capability => ({
  name: gatewayRouteName,
  taskKinds: [],
  runtimes: [gatewayRuntime],
  sources: gatewayChargeSources,
  artifactLabels: [],
  receipt: null,
  operationMsMax: null,
  rows: async () => (await import('./capability-rows.js')).gatewayRows,
  recovery: async () => {
    const { settleDeadCalls } = await import('./call/open-calls.js')
    return { settleRows: settleDeadCalls }
  },
  decisions: async () => (await import('./call/settled-by-hand.js')).gatewayDecisions,
  status: async () => {
    const { gatewayStatusLine } = await import('./status-line.js')
    return ({ gov, view }) => gatewayStatusLine(gov, view, placeOf(gov))
  },
  explained: {
    prefixes: ['prf', 'grt'],
    kinds: async () => (await import('./explained.js')).gatewayExplained,
  },
  waiting: async () => {
    const { gatewayWaiting } = await import('./waiting.js')
    return ({ gov, view }) => gatewayWaiting(gov, view, placeOf(gov))
  },
})
