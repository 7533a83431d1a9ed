import type { Capability } from '../governance/capability.js'
import {
  closureLabel, codehostLimits, codehostName, codehostRuntime, journalLabel, planLabel,
  producerLabel, publicationLabel, sourceLabel,
} from './constants.js'
import { nativeKinds } from './jobs/kinds.js'

/** Finite consent to writes on a code host. None of its work costs money. */
export const codehost: Capability = {
  name: codehostName,
  taskKinds: nativeKinds,
  runtimes: [codehostRuntime],
  sources: {},
  artifactLabels: [
    planLabel, journalLabel, publicationLabel, sourceLabel, producerLabel, closureLabel,
  ],
  receipt: null,
  operationMsMax: codehostLimits.jobMsMax,
  rows: async () => (await import('./capability-rows.js')).codehostRows,
  recovery: async () => (await import('./jobs/recovery.js')).jobRecovery,
  status: async () => {
    const { codehostStatusLine } = await import('./status-line.js')
    return ({ gov, view }) => codehostStatusLine(gov, view)
  },
  waiting: async () => (await import('./waiting.js')).codehostWaiting,
  tellsBlocked: true,
  explained: {
    prefixes: ['job', 'cnn', 'con', 'std', 'rdb', 'prd', 'eff', 'cls', 'art'],
    kinds: async () => (await import('./explained.js')).codehostExplained,
  },
  receipted: {
    job: async () => (await import('./receipted.js')).receiptedJob,
    cls: async () => (await import('./receipted.js')).receiptedClosure,
  },
}
