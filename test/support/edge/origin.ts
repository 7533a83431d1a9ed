/**
 * A service of its own for tests of the device: it speaks the protocol over real TLS, strictly,
 * records all that reaches it, and fails as it is told to. It shares no code with the service.
 */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { newKey, selfSigned } from '../net/self-signed.js'
import type { LastingKey } from '../net/self-signed.js'
import type { Teardown } from '../../world/place.js'

/** One upload as it came. */
export interface Upload {
  readonly told: Record<string, unknown>
  readonly body: Buffer
  readonly headers: IncomingMessage['headers']
  /** Monotonic milliseconds. */
  readonly atMs: number
  /** How it was answered; 0: not at all. */
  status: number
}

/** What one request gets in the place of its answer. */
export type Fault =
  /** Taken in, then the connection is cut: the answer is lost. */
  | 'lost-reply'
  /** Cut before anything is taken in. */
  | 'cut'
  | 'silent' | 'drip' | 'huge' | 'redirect' | 'garbage' | 'other-artifact'
  | { readonly status: number; readonly code?: string; readonly unread?: true }

/** The service. */
export interface TestOrigin {
  readonly origin: string
  readonly port: number
  readonly key: LastingKey
  readonly uploads: Upload[]
  /** Lines of all requests. */
  readonly requests: string[]
  /** What a strict service would not have had to bear. */
  readonly violations: string[]
  /** What is stored, by request id. */
  readonly stored: Map<string, { artifact: Record<string, unknown>; body: Buffer }>
  /** The next requests get these; `always` stays. */
  fault(...faults: Fault[]): void
  always(fault: Fault | null): void
  /** A line that pairs once. */
  pairingString(): string
  revoke(): void
  lastSequence: number
  tellsOf: string | null
  /** What the next questions for its numbers get: a status. */
  readonly factsFaults: number[]
  /** What was told of evictions. */
  readonly evictions: number[]
  /** What the next tellings of them get: a status, or nothing at all. */
  readonly spoolFaults: (number | 'cut')[]
  /** Credentials that ended their own pairing. */
  readonly ended: string[]
  /** What the next of these requests get: a status, or nothing at all. */
  readonly endFaults: (number | 'cut')[]
  connections(): number
  close(): Promise<void>
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const fields = ['schema', 'request_id', 'sequence', 'captured_at', 'sha256', 'bytes', 'mime',
  'policy', 'purpose']
const extra = ['owner', 'source', 'source_path']

/** Starts a service; `port` and `key` take over those of one before. */
export const startOrigin = async (
  t: Teardown, { key, port = 0 }: { key?: LastingKey; port?: number } = {},
): Promise<TestOrigin> => {
  const own = key ?? await newKey()
  const service = new Service(own)
  const pair = await selfSigned(own, ['localhost', '127.0.0.1'])
  const server = createServer({ ...pair, requestTimeout: 0 }, (request, response) =>
    void service.handle(request, response).catch((error: unknown) =>
      service.violations.push(String(error))))
  const open = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections += 1
    open.add(socket)
    socket.on('error', () => undefined)
    socket.on('close', () => open.delete(socket))
  })
  server.on('tlsClientError', () => undefined)
  server.unref()
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const bound = (server.address() as AddressInfo).port
  service.origin = `https://127.0.0.1:${bound}`
  const close = async (): Promise<void> => {
    for (const socket of open) socket.destroy()
    if (server.listening) await new Promise((done) => server.close(done))
  }
  t.teardown(close)
  return Object.assign(service, { port: bound, key: own, connections: () => connections, close })
}

class Service {
  origin = ''
  readonly uploads: Upload[] = []
  readonly requests: string[] = []
  readonly violations: string[] = []
  readonly stored: TestOrigin['stored'] = new Map()
  lastSequence = 0
  /** Of which device it tells the numbers; null: of the one that asks. */
  tellsOf: string | null = null
  readonly factsFaults: number[] = []
  readonly evictions: number[] = []
  readonly spoolFaults: TestOrigin['spoolFaults'] = []
  readonly ended: string[] = []
  readonly endFaults: TestOrigin['endFaults'] = []
  /** Credentials of before that stand. */
  readonly #former = new Set<string>()
  readonly #key: LastingKey
  readonly #codes = new Set<string>()
  #credential = ''
  #deviceId = ''
  #faults: Fault[] = []
  #always: Fault | null = null

  constructor(key: LastingKey) {
    this.#key = key
  }

  fault(...faults: Fault[]): void {
    this.#faults.push(...faults)
  }

  always(fault: Fault | null): void {
    this.#always = fault
  }

  revoke(): void {
    this.#credential = ''
  }

  pairingString(): string {
    const code = randomBytes(16).toString('base64url')
    this.#codes.add(code)
    const text = JSON.stringify({ code, origin: this.origin, pin: this.#key.pin })
    return `sallyport-pair-v1.${Buffer.from(text).toString('base64url')}`
  }

  async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    this.requests.push(`${request.method} ${request.url}`)
    this.#check(request.headers.host === this.origin.slice('https://'.length), 'host')
    for (const name of ['cookie', 'origin', 'transfer-encoding', 'expect', 'content-encoding']) {
      this.#check(request.headers[name] === undefined, name)
    }
    const route = `${request.method} ${request.url}`
    if (route === 'POST /api/edge/pairings') return this.#pair(request, response)
    const known = this.#credential !== ''
      && request.headers.authorization === `Bearer ${this.#credential}`
    if (route === 'GET /api/edge/pairing') return this.#facts(known, response)
    if (route === 'POST /api/edge/pairing/end') return this.#end(request, response)
    if (route === 'POST /api/edge/pairing/spool') return this.#spool(known, request, response)
    this.#check(route === 'POST /api/edge/artifacts', route)
    return this.#upload(known, request, response)
  }

  async #pair(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = JSON.parse((await bodyOf(request)).toString()) as Record<string, unknown>
    this.#check(request.headers['content-type'] === 'application/json', 'content type')
    this.#check(request.headers.authorization === undefined, 'a bearer at pairing')
    this.#check(Object.keys(body).sort().join() === 'code,device_name', 'members of a pairing')
    if (!this.#codes.delete(String(body['code']))) return refuse(response, 403, 'edge_code_invalid')
    this.#former.add(this.#credential)
    this.#credential = `spe_${randomBytes(32).toString('base64url')}`
    this.#deviceId = `edge_dev_${randomUUID()}`
    this.lastSequence = 0
    const answered = {
      schema: 'sallyport.edge.paired.v1', device_id: this.#deviceId, owner: 'prn_x',
      device_name: body['device_name'], credential: this.#credential,
      scope: ['edge.upload', 'edge.read'], last_sequence: 0, limits: {},
    }
    this.#taken(response, 201, answered)
  }

  #facts(known: boolean, response: ServerResponse): void {
    const fault = this.factsFaults.shift()
    if (fault !== undefined) return refuse(response, fault, refusedWith(fault))
    if (!known) return refuse(response, 401, 'edge_credential_invalid')
    this.#taken(response, 200, {
      device_id: this.tellsOf ?? this.#deviceId, owner: 'prn_x', device_name: 'd', revoked: false,
      last_sequence: this.lastSequence, scope: [], limits: {}, stored: { items: 0, bytes: 0 },
    })
  }

  #end({ headers, socket }: IncomingMessage, response: ServerResponse): void {
    this.#check(headers['content-type'] === undefined, 'a type of no body')
    const fault = this.endFaults.shift()
    if (fault === 'cut') return void socket.destroy()
    if (fault !== undefined) return refuse(response, fault, refusedWith(fault))
    const credential = String(headers.authorization).replace(/^Bearer /, '')
    if (!this.#former.delete(credential)) return refuse(response, 401, 'edge_credential_invalid')
    this.ended.push(credential)
    this.#taken(response, 200, { schema: 'sallyport.edge.end.v1', ended: true })
  }

  async #spool(
    known: boolean, request: IncomingMessage, response: ServerResponse,
  ): Promise<void> {
    const body = (await bodyOf(request)).toString()
    this.#check(request.headers['content-type'] === 'application/json', 'content type')
    this.#check(/^\{"evictions":[1-9]\d*\}$/.test(body), body)
    const fault = this.spoolFaults.shift()
    if (fault === 'cut') return void request.socket.destroy()
    if (fault !== undefined) return refuse(response, fault, refusedWith(fault))
    if (!known) return refuse(response, 401, 'edge_credential_invalid')
    this.evictions.push((JSON.parse(body) as { evictions: number }).evictions)
    this.#facts(known, response)
  }

  async #upload(
    known: boolean, request: IncomingMessage, response: ServerResponse,
  ): Promise<void> {
    const head = String(request.headers['sallyport-edge-upload'])
    const told = JSON.parse(Buffer.from(head, 'base64url').toString()) as Record<string, unknown>
    const early = this.#always ?? this.#faults[0]
    if (typeof early === 'object' && early !== null && early.unread === true) {
      this.#faults.shift()
      response.on('finish', () => setTimeout(() => request.destroy(), 50))
      return refuse(response, early.status, early.code ?? 'refused', { connection: 'close' })
    }
    const body = await bodyOf(request)
    const upload: Upload = {
      told, body, headers: request.headers, atMs: performance.now(), status: 0,
    }
    this.uploads.push(upload)
    response.on('finish', () => (upload.status = response.statusCode))
    if (!known) return refuse(response, 401, 'edge_credential_invalid')
    this.#checkUpload(told, body, request)
    const fault = this.#faults.shift() ?? this.#always
    if (fault === 'cut') return void request.socket.destroy()
    if (typeof fault === 'object' && fault !== null) {
      return refuse(response, fault.status, fault.code ?? 'refused')
    }
    if (fault !== null && fault !== 'lost-reply') return misbehave(fault, response, told)
    this.#store(told, body, response, fault === 'lost-reply')
  }

  #store(
    told: Record<string, unknown>, body: Buffer, response: ServerResponse, lose: boolean,
  ): void {
    const id = String(told['request_id'])
    const before = this.stored.get(id)
    if (before !== undefined) {
      if (!before.body.equals(body)) return refuse(response, 409, 'request_id_conflict')
      return this.#taken(response, 200, before.artifact)
    }
    const sequence = Number(told['sequence'])
    if (!(sequence > this.lastSequence)) return refuse(response, 409, 'sequence_not_greater')
    this.lastSequence = sequence
    const artifact = {
      ...told, schema: 'sallyport.edge.artifact.v1', artifact_id: `edge_art_${randomUUID()}`,
      device_id: this.#deviceId, owner: 'prn_x', received_at: new Date().toISOString(),
    }
    this.stored.set(id, { artifact, body })
    if (lose) return void response.socket?.destroy()
    this.#taken(response, 201, artifact)
  }

  #checkUpload(told: Record<string, unknown>, body: Buffer, { headers }: IncomingMessage): void {
    const names = Object.keys(told)
    this.#check(fields.every((name) => names.includes(name)), `members: ${names.join()}`)
    this.#check(names.every((name) => [...fields, ...extra].includes(name)), 'a further member')
    this.#check(told['schema'] === 'sallyport.edge.upload.input.v1', 'schema')
    this.#check(told['sha256'] === sha256(body), 'the digest of the bytes')
    this.#check(told['bytes'] === body.length, 'the number of bytes')
    this.#check(headers['content-length'] === String(body.length), 'the declared length')
    this.#check(headers['content-type'] === told['mime'], 'the type')
    this.#check(Number.isSafeInteger(told['sequence']) && Number(told['sequence']) > 0, 'sequence')
    this.#check(new Date(String(told['captured_at'])).toISOString() === told['captured_at'], 'time')
  }

  #check(holds: boolean, what: string): void {
    if (!holds) this.violations.push(what)
  }

  #taken(response: ServerResponse, status: number, document: object): void {
    const text = JSON.stringify(document)
    response.writeHead(status, {
      'content-type': 'application/json', 'content-length': Buffer.byteLength(text),
    }).end(text)
  }
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** What a service says beside 401; beside any other status a code that a device does not know. */
const refusedWith = (status: number): string =>
  status === 401 ? 'edge_credential_invalid' : 'refused'

const refuse = (
  response: ServerResponse, status: number, code: string, headers: Record<string, string> = {},
): void => {
  const text = JSON.stringify({
    error: { code, message: 'A sentence.', reason: null, status, details: {} },
  })
  response.writeHead(status, {
    'content-type': 'application/json', 'content-length': Buffer.byteLength(text), ...headers,
  }).end(text)
}

const misbehave = (
  fault: Exclude<Fault, object>, response: ServerResponse, told: Record<string, unknown>,
): void => {
  if (fault === 'redirect') {
    response.writeHead(307, { location: '/api/edge/elsewhere', 'content-length': 0 }).end()
  } else if (fault === 'garbage') {
    response.writeHead(201, { 'content-length': 9 }).end('{"a":1,,}')
  } else if (fault === 'huge') {
    response.writeHead(201, { 'content-type': 'application/json' })
    const more = (): void => void response.write(Buffer.alloc(65_536, 0x20), () => more())
    more()
  } else if (fault === 'drip') {
    response.writeHead(201, { 'content-type': 'application/json' })
    const drip = setInterval(() => response.write(' '), 50)
    response.on('close', () => clearInterval(drip))
  } else if (fault === 'other-artifact') {
    const text = JSON.stringify({
      artifact_id: `edge_art_${randomUUID()}`, request_id: randomUUID(),
      sha256: told['sha256'], bytes: told['bytes'],
    })
    response.writeHead(201, { 'content-length': text.length }).end(text)
  }
}
