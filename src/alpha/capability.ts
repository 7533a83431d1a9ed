import type { Capability } from '../governance/capability.js'
import {
  alphaArtifactLabels, alphaCapability, alphaChargeSources, alphaLimits, alphaRouteName,
  alphaRuntime,
} from './constants.js'
import { alphaReceiptShape } from './receipt.js'

/** The text capability. */
export const alpha: Capability = {
  name: alphaRouteName,
  taskKinds: [alphaCapability],
  runtimes: [alphaRuntime],
  sources: alphaChargeSources,
  artifactLabels: Object.values(alphaArtifactLabels),
  receipt: alphaReceiptShape,
  operationMsMax: alphaLimits.operationMsMax,
  prunable: true,
  rows: async () => (await import('./capability-rows.js')).alphaRows,
  recovery: async () => (await import('./recovery-rule.js')).alphaRecovery,
  decisions: async () => (await import('./decisions.js')).alphaDecisions,
  status: async () => {
    const { alphaStatusLine } = await import('./status-line.js')
    return ({ gov, view }) => alphaStatusLine(gov, view)
  },
  waiting: async () => (await import('./waiting.js')).alphaWaiting,
  reads: (id) => `task show ${id} --output`,
  receipted: { task: async () => (await import('./receipted.js')).receiptedAsk },
}
