import { analysisFaults } from './analysis.js'
import { billingFaults } from './billing.js'
import { codehostFaults } from './codehost.js'
import { completionFaults } from './completion.js'
import type { FaultSpec } from './spec.js'
import { transportFaults } from './transport.js'

/** Every fault, in the order in which they are listed. */
export const faultTable: readonly FaultSpec[] = [
  ...transportFaults,
  ...completionFaults,
  ...billingFaults,
  ...analysisFaults,
  ...codehostFaults,
]

const byName = new Map(faultTable.map((spec) => [spec.name, spec]))

export const faultNamed = (name: string): FaultSpec | undefined => byName.get(name)
