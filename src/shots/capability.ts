import type { Capability } from '../governance/capability.js'
import type { Gov } from '../governance/context.js'
import type { LookingWorld } from '../governance/waiting.js'
import { shotLabels } from './constants.js'
import type { ShotsContext } from './context.js'

/** Makes what the source is looked at with; it contacts nobody. */
type ContextOf = (world: LookingWorld, gov: Gov) => ShotsContext

/**
 * The screenshot source: it asks through the gateway and has no tasks or money of its own.
 * `contextOf`: loads what makes its context; which names are reserved is known to the layer above.
 */
export const shots = (contextOf: () => Promise<ContextOf>): Capability => ({
  name: 'shots',
  taskKinds: [],
  runtimes: [],
  sources: {},
  artifactLabels: Object.values(shotLabels),
  receipt: null,
  operationMsMax: null,
  rows: async () => (await import('./capability-rows.js')).shotRows,
  status: async () => {
    const [{ shotsStatusLine }, make] = await Promise.all(
      [import('./status-line.js'), contextOf()])
    return ({ gov, view, world }) => shotsStatusLine(make(world, gov), view)
  },
  waiting: async () => {
    const [{ shotsWaiting }, make] = await Promise.all([import('./waits.js'), contextOf()])
    return ({ gov, view, world }) => shotsWaiting(make(world, gov), view)
  },
  explained: {
    prefixes: ['obs', 'epi', 'ccl', 'rct', 'art'],
    kinds: async () => {
      const [{ shotsExplained }, make] = await Promise.all([import('./explained.js'), contextOf()])
      return shotsExplained(({ world, gov }) => make(world, gov))
    },
  },
  recovery: async () => {
    const { settleAnalyses } = await import('./analysis/settle.js')
    return { settleRows: settleAnalyses }
  },
  receipted: { obs: async () => (await import('./receipted.js')).receiptedAnalysis },
})
