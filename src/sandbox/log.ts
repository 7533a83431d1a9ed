import type { RouteName, SeenRequest, ServiceName } from './types.js'

/** Connections of one service: TCP accepted, TLS finished. */
interface ConnectionCounts {
  readonly opened: number
  readonly secured: number
}

/** Which requests to look at; a field left out matches all. */
interface RequestFilter {
  readonly service?: ServiceName
  readonly route?: RouteName
}

/** Everything the sandbox saw, in memory only. */
export interface RequestLog {
  /** Requests in order of arrival, those still open included. */
  all(filter?: RequestFilter): readonly SeenRequest[]
  count(filter?: RequestFilter): number
  /** Every violation, each with its request's number and service in front. */
  violations(): readonly string[]
  connections(service: ServiceName): ConnectionCounts
  /** Requests being served at this moment. */
  inProgress(): number
  /** Most requests ever served at the same moment, over all services or in one. */
  maxConcurrent(service?: ServiceName): number
  /** Forgets requests, counts and peaks. */
  clear(): void
}

/** The writing side of the log. */
export interface RequestLogWriter extends RequestLog {
  connected(service: ServiceName): number
  secured(service: ServiceName): void
  begin(request: Omit<SeenRequest, 'number'>): SeenRequest
  end(request: SeenRequest): void
}

interface Gauge {
  now: number
  peak: number
}

const rise = (gauge: Gauge): void => {
  gauge.now += 1
  gauge.peak = Math.max(gauge.peak, gauge.now)
}

/** Body bytes kept, so that a sandbox left running does not fill the memory; oldest go first. */
const bodyBytesKeptMax = 256 * 1024 * 1024

const keepBodies = (keptMax: number): { add(request: SeenRequest): void; clear(): void } => {
  let held: SeenRequest[] = []
  let bytes = 0
  return {
    add: (request) => {
      held.push(request)
      bytes += request.body.length
      while (bytes > keptMax) {
        const oldest = held.shift()
        if (oldest === undefined) return
        bytes -= oldest.body.length
        oldest.body = Buffer.alloc(0)
      }
    },
    clear: () => {
      held = []
      bytes = 0
    },
  }
}

export const newRequestLog = (keptMax = bodyBytesKeptMax): RequestLogWriter => {
  let requests: SeenRequest[] = []
  let number = 0
  const counts = new Map<ServiceName, { opened: number; secured: number }>()
  const gauges = new Map<ServiceName | 'all', Gauge>()
  const open = new Set<SeenRequest>()
  const bodies = keepBodies(keptMax)
  const countsOf = (service: ServiceName): { opened: number; secured: number } => {
    const found = counts.get(service) ?? { opened: 0, secured: 0 }
    counts.set(service, found)
    return found
  }
  const gaugeOf = (key: ServiceName | 'all'): Gauge => {
    const found = gauges.get(key) ?? { now: 0, peak: 0 }
    gauges.set(key, found)
    return found
  }
  const all = (filter: RequestFilter = {}): readonly SeenRequest[] =>
    requests.filter(
      (one) =>
        (filter.service === undefined || one.service === filter.service) &&
        (filter.route === undefined || one.route === filter.route),
    )
  return {
    all,
    count: (filter) => all(filter).length,
    violations: () =>
      requests.flatMap((one) =>
        one.violations.map((text) => `#${one.number} ${one.service}: ${text}`),
      ),
    connections: (service) => ({ ...countsOf(service) }),
    inProgress: () => gaugeOf('all').now,
    maxConcurrent: (service) => gaugeOf(service ?? 'all').peak,
    clear: () => {
      requests = []
      bodies.clear()
      counts.clear()
      for (const gauge of gauges.values()) gauge.peak = gauge.now
    },
    connected: (service) => (countsOf(service).opened += 1),
    secured: (service) => {
      countsOf(service).secured += 1
    },
    begin: (seen) => {
      number += 1
      // The object the caller holds is the one in the log, so later changes show.
      const request: SeenRequest = Object.assign(seen, { number })
      requests.push(request)
      open.add(request)
      rise(gaugeOf('all'))
      rise(gaugeOf(request.service))
      return request
    },
    end: (request) => {
      if (!open.delete(request)) return
      bodies.add(request)
      gaugeOf('all').now -= 1
      gaugeOf(request.service).now -= 1
    },
  }
}
