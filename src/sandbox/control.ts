import type { IncomingMessage, ServerResponse } from 'node:http'
import { timingSafeEqual } from 'node:crypto'
import { SallyportError, fail } from '../base/errors.js'
import type { FaultOptions, Faults } from './faults/board.js'
import { isObject, strangers } from './json.js'
import type { RequestLog } from './log.js'
import type { RequestHandler } from './tls-server.js'
import { serviceNames, type JsonObject } from './types.js'

/**
 * The control endpoint of a running sandbox, on its own loopback port and behind the folder's
 * token: `GET /status`, `POST /faults` (set), `POST /faults/clear`; both answer with what was
 * cleared and what is on. `POST /stop` answers with the process that will end. It shows counts,
 * never content.
 */
interface ControlOptions {
  readonly token: string
  readonly faults: Faults
  readonly log: RequestLog
  /** Facts that never change while the sandbox runs. */
  readonly facts: () => JsonObject
  /** Called when somebody asks it to end, once the reply is on its way. */
  readonly stop: () => void
}

const bodyBytesMax = 16 * 1024
/** Most violations that a status names; the latest ones. */
const violationsMax = 100

const send = (response: ServerResponse, status: number, json: unknown): void => {
  const body = Buffer.from(JSON.stringify(json))
  response.writeHead(status, [
    ...['Content-Type', 'application/json'],
    ...['Content-Length', String(body.length)],
    ...['Connection', 'close'],
  ])
  response.end(body)
}

const bodyOf = async (request: IncomingMessage): Promise<JsonObject> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const part of request) {
    length += (part as Buffer).length
    if (length > bodyBytesMax) break
    chunks.push(part as Buffer)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    if (length <= bodyBytesMax && isObject(value)) return value
  } catch {
    // Falls through to the one refusal below.
  }
  throw fail.rejected('sandbox_control_body', 'The control request is not a small JSON object.')
}

const allowed = (request: IncomingMessage, token: string): boolean => {
  const given = Buffer.from(request.headers.authorization ?? '')
  const wanted = Buffer.from(`Bearer ${token}`)
  return given.length === wanted.length && timingSafeEqual(given, wanted)
}

const optionalNumber = (json: JsonObject, name: string): number | undefined => {
  const value = json[name]
  if (value === undefined || typeof value === 'number') return value
  throw fail.rejected('sandbox_control_body', `${name} is not a number.`)
}

const faultOptions = (json: JsonObject): FaultOptions => {
  const service = serviceNames.find((name) => name === json.service)
  if (json.service !== undefined && service === undefined) {
    throw fail.rejected('sandbox_fault_service', 'The sandbox has no service of that name.', {
      next: `Its services are: ${serviceNames.join(', ')}.`,
    })
  }
  const times = optionalNumber(json, 'times')
  const after = optionalNumber(json, 'after')
  const value = optionalNumber(json, 'value')
  return {
    ...(service === undefined ? {} : { service }),
    ...(times === undefined ? {} : { times }),
    ...(after === undefined ? {} : { after }),
    ...(value === undefined ? {} : { value }),
  }
}

const nameOf = (json: JsonObject): string | undefined => {
  if (json.name === undefined || typeof json.name === 'string') return json.name
  throw fail.rejected('sandbox_control_body', 'name is not a text.')
}

const setFault = (json: JsonObject, faults: Faults): void => {
  if (strangers(json, ['name', 'service', 'times', 'after', 'value']).length > 0) {
    throw fail.rejected('sandbox_control_body', 'The control request has unknown members.')
  }
  faults.set(nameOf(json) ?? '', faultOptions(json))
}

const status = (options: ControlOptions): JsonObject => ({
  ...options.facts(),
  faults: options.faults.list(),
  requests: options.log.all().length,
  in_progress: options.log.inProgress(),
  max_concurrent: options.log.maxConcurrent(),
  services: Object.fromEntries(
    serviceNames.map((service) => [
      service,
      {
        requests: options.log.count({ service }),
        connections: options.log.connections(service).opened,
      },
    ]),
  ),
  violations: options.log.violations().slice(-violationsMax),
})

const handle = async (
  request: IncomingMessage,
  response: ServerResponse,
  options: ControlOptions,
): Promise<void> => {
  if (!allowed(request, options.token)) return send(response, 401, { code: 'unauthorized' })
  switch (`${request.method} ${request.url}`) {
    case 'GET /status':
      return send(response, 200, status(options))
    case 'POST /faults': {
      setFault(await bodyOf(request), options.faults)
      return send(response, 200, { cleared: 0, faults: options.faults.list() })
    }
    case 'POST /faults/clear': {
      const cleared = options.faults.clear(nameOf(await bodyOf(request)))
      return send(response, 200, { cleared, faults: options.faults.list() })
    }
    case 'POST /stop':
      send(response, 200, { pid: process.pid })
      return options.stop()
    default:
      return send(response, 404, { code: 'not_found' })
  }
}

/** The control endpoint as a handler of a TLS server. */
export const controlHandler =
  (options: ControlOptions): RequestHandler =>
  (request, response) => {
    handle(request, response, options).catch((error: unknown) => {
      if (error instanceof SallyportError) {
        const { code, message, next } = error
        return send(response, 422, { code, message, next })
      }
      return request.socket.destroy()
    })
  }
