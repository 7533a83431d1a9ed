import type { Capability } from '../governance/capability.js'
import { codehostName, codehostRuntime } from './constants.js'

/** Finite consent to writes on a code host. None of its work costs money. */
export const codehost: Capability = {
  name: codehostName,
  taskKinds: [],
  runtimes: [codehostRuntime],
  sources: {},
  artifactLabels: [],
  receipt: null,
  operationMsMax: null,
  rows: async () => (await import('./capability-rows.js')).codehostRows,
}
