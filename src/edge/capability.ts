import type { Capability } from '../governance/capability.js'
import { edgeLabel, edgeName } from './constants.js'

/** Captures of paired devices: stored and read back, sent to nobody, asked of no provider. */
export const edge: Capability = {
  name: edgeName,
  taskKinds: [],
  runtimes: [],
  sources: {},
  artifactLabels: [edgeLabel],
  receipt: null,
  operationMsMax: null,
  rows: async () => (await import('./capability-rows.js')).edgeRows,
  explained: {
    prefixes: ['edge_dev', 'edge_code', 'edge_art'],
    kinds: async () => (await import('./explained.js')).edgeExplained,
  },
  waiting: async () => (await import('./waiting.js')).edgeWaiting,
}
