/** What goes in and comes out of the operations on a sandbox. */
import * as v from 'valibot'
import { contract } from '../base/contract.js'
import { closedObject, replyObject, strictInteger } from '../base/schema.js'
import type { FaultSpec } from './faults/spec.js'
import { serviceNames } from './types.js'

const count = v.number()
const dir = v.optional(v.string())
/** Most requests that a fault strikes or lets pass, and its greatest number. */
export const faultLimits = { countMax: 1_000_000, valueMax: 1_000_000_000_000 } as const

const activeFaultShape = v.strictObject({
  name: v.string(),
  service: v.string(),
  route: v.string(),
  /** Requests it still strikes; null for every one until cleared. */
  times: v.nullable(count),
  /** Fitting requests it still lets pass. */
  after: count,
  value: v.nullable(count),
})
export type ActiveFaultDocument = v.InferOutput<typeof activeFaultShape>

/** Why the control endpoint refuses a change; other fields are dropped. */
export const refusalShape = replyObject({
  code: v.string(), message: v.string(), next: v.nullable(v.string()),
})

const stoppedShape = v.strictObject({ dir: v.string(), pid: count })
/** The process that ended, and the folder that it ran from. */
export type SandboxStoppedDocument = v.InferOutput<typeof stoppedShape>

export const sandboxStop = contract({
  name: 'sandbox.stop',
  input: closedObject({ dir }),
  output: stoppedShape,
})

/** What the control endpoint answers when it is asked to end. */
export const sandboxEndingShape = v.strictObject({ pid: count })

const startedShape = v.strictObject({
  profile_file: v.string(),
  pid: count,
  dir: v.string(),
  provider_key_file: v.string(),
  gateway_key_file: v.string(),
  codehost_token_file: v.string(),
})
/** Where a sandbox is and what to give to `init` and to the set-ups. */
export type SandboxStartedDocument = v.InferOutput<typeof startedShape>

export const sandboxStart = contract({
  name: 'sandbox.start',
  input: closedObject({ dir, background: v.optional(v.boolean()) }),
  output: startedShape,
  toDocument: ({ dir: folder, sandbox }: {
    readonly dir: string
    readonly sandbox: {
      readonly profileFile: string
      readonly pid: number
      readonly keyFiles: Readonly<Record<'provider' | 'gateway' | 'codehost', string>>
    }
  }) => ({
    profile_file: sandbox.profileFile,
    pid: sandbox.pid,
    dir: folder,
    provider_key_file: sandbox.keyFiles.provider,
    gateway_key_file: sandbox.keyFiles.gateway,
    codehost_token_file: sandbox.keyFiles.codehost,
  }),
})

/** What the control endpoint of a sandbox says of it. */
export const sandboxStatusShape = v.strictObject({
  pid: count,
  ports: v.record(v.string(), count),
  faults: v.array(activeFaultShape),
  requests: count,
  in_progress: count,
  max_concurrent: count,
  services: v.record(v.string(), v.strictObject({ requests: count, connections: count })),
  violations: v.array(v.string()),
})
export type SandboxStatusDocument = v.InferOutput<typeof sandboxStatusShape>

/** Asking a running sandbox what it has seen. */
export const sandboxStatus = contract({
  name: 'sandbox.status',
  input: closedObject({ dir }),
  output: sandboxStatusShape,
})

/** What the control endpoint answers to a change of faults. */
export const sandboxFaultsShape = v.strictObject({
  cleared: count, faults: v.array(activeFaultShape),
})
/** How many faults were switched off, and those that are on now. */
export type SandboxFaultsDocument = v.InferOutput<typeof sandboxFaultsShape>

export const sandboxFault = contract({
  name: 'sandbox.fault',
  input: closedObject({
    action: v.picklist(['set', 'clear']),
    name: v.optional(v.string()),
    dir,
    service: v.optional(v.picklist(serviceNames)),
    times: v.optional(strictInteger(1, faultLimits.countMax)),
    after: v.optional(strictInteger(0, faultLimits.countMax)),
    value: v.optional(strictInteger(0, faultLimits.valueMax)),
  }),
  output: sandboxFaultsShape,
})

const faultListShape = v.array(v.strictObject({
  name: v.string(),
  services: v.array(v.string()),
  route: v.string(),
  summary: v.string(),
  value: v.nullable(v.strictObject({ meaning: v.string(), default: count })),
}))

export const sandboxFaults = contract({
  name: 'sandbox.faults',
  output: faultListShape,
  toDocument: (table: readonly FaultSpec[]) =>
    table.map(({ name, services, route, summary, value }) => ({
      name,
      services: [...services],
      route,
      summary,
      value: value === undefined ? null : { meaning: value.meaning, default: value.fallback },
    })),
})

const samplesShape = v.array(v.strictObject({ path: v.string(), becomes: v.string() }))
type SamplesDocument = v.InferOutput<typeof samplesShape>

export const sandboxSamples = contract({
  name: 'sandbox.samples',
  input: closedObject({ folder: v.string() }),
  output: samplesShape,
  toDocument: (files: readonly SamplesDocument[number][]) => [...files],
})

const demoShape = v.strictObject({ dir: v.string(), state_dir: v.string(), config_dir: v.string() })

/** What the demo can play: a story of one minute, one capability step by step, or all of them. */
export const demoScenes = ['story', 'alpha', 'shots', 'edge', 'codehost', 'all'] as const

/** A scene of the demo. */
export type DemoScene = (typeof demoScenes)[number]

export const sandboxDemo = contract({
  name: 'demo',
  input: closedObject({ scene: v.optional(v.picklist(demoScenes)) }),
  output: demoShape,
})
