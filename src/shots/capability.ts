import type { Capability } from '../governance/capability.js'
import { shotLabels } from './constants.js'

/** The screenshot source: it asks through the gateway and has no tasks or money of its own. */
export const shots: Capability = {
  name: 'shots',
  taskKinds: [],
  runtimes: [],
  sources: {},
  artifactLabels: Object.values(shotLabels),
  receipt: null,
  operationMsMax: null,
  rows: async () => (await import('./capability-rows.js')).shotRows,
  status: async () => {
    const { shotsStatusLine } = await import('./status-line.js')
    return (_gov, view) => shotsStatusLine(view)
  },
  recovery: async () => {
    const { settleAnalyses } = await import('./analysis/settle.js')
    return { settleRows: settleAnalyses }
  },
  receipted: { obs: async () => (await import('./receipted.js')).receiptedAnalysis },
}
