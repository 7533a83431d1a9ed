import { fail } from '../../base/errors.js'
import { isInteger } from '../json.js'
import type { Draft, FaultRoute, RawReply, SeenRequest, ServiceName } from '../types.js'
import { bodyOf } from '../deliver.js'
import type { ActiveFaultDocument } from '../sandbox-contract.js'
import { faultNamed } from './table.js'
import type { FaultSpec, FaultStage } from './spec.js'

/** How a fault is switched on. */
export interface FaultOptions {
  /** Default: the first service that the fault exists for. */
  readonly service?: ServiceName
  /** How many requests it strikes; left out, every one until cleared. */
  readonly times?: number
  /** How many fitting requests pass before it strikes. */
  readonly after?: number
  /** The fault's number, for faults that take one. */
  readonly value?: number
}

/** Switches faults on and off. Unknown names and bad numbers throw `rejected`. */
export interface Faults {
  set(name: string, options?: FaultOptions): ActiveFaultDocument
  /** Answers fitting requests with exactly this; `route` defaults to `completion`. */
  reply(raw: RawReply, options?: Omit<FaultOptions, 'value'> & { route?: FaultRoute }): void
  /** Switches off one name, or everything. Returns how many were on. */
  clear(name?: string): number
  list(): readonly ActiveFaultDocument[]
}

/** The sandbox's side: faults that strike a request, applied to its draft. */
export interface FaultBoard extends Faults {
  /** The faults that strike this request; counts them down, so it is asked once a request. */
  due(request: SeenRequest): readonly Due[]
  /** Applies what is due and returns the reply's body bytes. */
  strike(request: SeenRequest, draft: Draft, origin: string, due: readonly Due[]): Buffer
}

interface Due {
  readonly spec: FaultSpec
  readonly value: number | undefined
}

interface Entry {
  readonly spec: FaultSpec
  readonly service: ServiceName
  left: number | null
  after: number
  readonly value: number | undefined
}

const countMax = 1_000_000
/** Room for any cost in nano-USD that a reply may name. */
const valueMax = 1_000_000_000_000

const count = (name: string, value: number | undefined, least: number): void => {
  if (value === undefined) return
  if (isInteger(value, least, countMax)) return
  throw fail.rejected(
    'sandbox_fault_count',
    `${name} must be a whole number from ${least} to ${countMax}.`,
  )
}

const known = (name: string): FaultSpec => {
  const spec = faultNamed(name)
  if (spec !== undefined) return spec
  throw fail.rejected('sandbox_fault_unknown', 'The sandbox has no fault of that name.', {
    next: 'List the names with: `sallyport sandbox fault list`.',
  })
}

const serviceFor = (spec: FaultSpec, asked: ServiceName | undefined): ServiceName => {
  const service = asked ?? spec.services[0] ?? 'provider'
  if (spec.services.includes(service)) return service
  throw fail.rejected('sandbox_fault_service', `That fault does not exist for the ${service}.`, {
    next: `It exists for: ${spec.services.join(', ')}.`,
  })
}

const show = (entry: Entry): ActiveFaultDocument => ({
  name: entry.spec.name,
  service: entry.service,
  route: entry.spec.route,
  times: entry.left,
  after: entry.after,
  value: entry.value ?? entry.spec.value?.fallback ?? null,
})

const servicesOfRoute = (route: FaultRoute): readonly ServiceName[] => {
  if (route === 'key') return ['gateway']
  return route === 'completion' || route === 'billing' ? ['provider', 'gateway'] : ['codehost']
}

const rawSpec = (raw: RawReply, route: FaultRoute): FaultSpec => ({
  name: 'reply',
  summary: 'a reply given byte for byte',
  route,
  services: servicesOfRoute(route),
  stage: 'wire',
  apply: ({ draft }) => {
    draft.wire.raw = raw
  },
})

const due = (entry: Entry): boolean => {
  if (entry.after > 0) {
    entry.after -= 1
    return false
  }
  if (entry.left !== null) entry.left -= 1
  return true
}

const fits = (route: FaultRoute, request: SeenRequest): boolean => {
  if (request.route === 'unknown') return false
  if (route === 'host_read') return request.method === 'GET'
  return route === 'host_write' ? request.method === 'POST' : request.route === route
}

const stages: readonly FaultStage[] = ['members', 'bytes', 'wire']

export const newFaultBoard = (): FaultBoard => {
  let entries: Entry[] = []
  const add = (spec: FaultSpec, options: FaultOptions): ActiveFaultDocument => {
    count('times', options.times, 1)
    count('after', options.after, 0)
    const entry: Entry = {
      spec,
      service: serviceFor(spec, options.service),
      left: options.times ?? null,
      after: options.after ?? 0,
      value: options.value,
    }
    entries.push(entry)
    return show(entry)
  }
  return {
    set: (name, options = {}) => {
      const spec = known(name)
      if (options.value !== undefined && spec.value === undefined) {
        throw fail.rejected('sandbox_fault_value', 'That fault takes no value.')
      }
      if (options.value !== undefined && !isInteger(options.value, 0, valueMax)) {
        throw fail.rejected(
          'sandbox_fault_value',
          `A fault value is a whole number from 0 to ${valueMax}.`,
        )
      }
      return add(spec, options)
    },
    reply: (raw, { route = 'completion', ...options } = {}) => {
      add(rawSpec(raw, route), options)
    },
    clear: (name) => {
      if (name !== undefined && name !== 'reply') known(name)
      const before = entries.length
      entries = name === undefined ? [] : entries.filter((one) => one.spec.name !== name)
      return before - entries.length
    },
    list: () => entries.map(show),
    due: (request) => {
      const struck = entries.filter((one) =>
        one.service === request.service && fits(one.spec.route, request) && due(one))
      entries = entries.filter((one) => one.left !== 0)
      return struck
    },
    strike: (request, draft, origin, struck) => {
      for (const stage of stages) {
        if (stage === 'bytes') draft.bytes ??= bodyOf(draft)
        for (const { spec, value } of struck.filter((one) => one.spec.stage === stage)) {
          // An error reply has none of the members that these faults change.
          if (stage === 'members' && draft.status >= 300) continue
          spec.apply({ draft, request, value: value ?? spec.value?.fallback ?? 0, origin })
          request.faults.push(spec.name)
        }
      }
      return bodyOf(draft)
    },
  }
}
