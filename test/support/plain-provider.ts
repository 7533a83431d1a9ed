/**
 * A text provider that is not the sandbox: written from the public protocol alone, sharing no code
 * with `src/`. It proves that Sallyport speaks that protocol and not a dialect of its own sandbox.
 */
import { KeyObject, createHash, webcrypto } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'

/** One request as received. */
export interface PlainRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** How the provider answers. */
export interface PlainProviderOptions {
  /** Folder for the profile and the certificate. */
  readonly dir: string
  /** Default `plain/model-7`. */
  readonly modelId?: string
  /** Default: a fixed sentence. */
  readonly answer?: string
  /** Default 2,345,678, which is 2,346 micro-USD. */
  readonly costNanoUsd?: number
  /** Billing requests that are answered with 0 before the cost is there. Default 0. */
  readonly zeroesFirst?: number
  /** Gives every answer the id of the first. Default false. */
  readonly repeatsId?: boolean
}

/** A running provider. */
export interface PlainProvider {
  readonly profileFile: string
  readonly caPem: string
  readonly port: number
  /** Every request, in order of arrival. */
  readonly requests: readonly PlainRequest[]
  /** TCP connections accepted so far. */
  connections(): number
  stop(): Promise<void>
}

/** A certificate for 127.0.0.1 that vouches for itself, PEM. */
export const makeSelfSigned = async (): Promise<{ cert: string; key: string }> => {
  await import('reflect-metadata')
  const x509 = await import('@peculiar/x509')
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: 'CN=plain provider',
    notBefore: new Date(Date.now() - 3_600_000),
    notAfter: new Date(Date.now() + 86_400_000),
    signingAlgorithm: algorithm,
    keys,
    extensions: [
      new x509.SubjectAlternativeNameExtension([
        { type: 'ip', value: '127.0.0.1' },
        { type: 'dns', value: 'localhost' },
      ]),
    ],
  })
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' })
  return { cert: `${certificate.toString('pem')}\n`, key: key.toString() }
}

const dnsNamespace = Buffer.from('6ba7b8109dad11d180b400c04fd430c8', 'hex')

/** Version 5 UUID in the DNS namespace, from RFC 9562 by hand. */
export const plainBillingId = (bodyId: string): string => {
  const hash = createHash('sha1').update(dnsNamespace).update(bodyId, 'utf8').digest()
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  const hex = hash.subarray(0, 16).toString('hex')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The body of a request as text. */
export const read = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  for await (const part of request) chunks.push(part as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}

const reply = (
  response: ServerResponse,
  status: number,
  json: unknown,
  headers: Readonly<Record<string, string>> = {},
): void => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(json))
}

interface Books {
  number: number
  readonly costs: Map<string, number>
  zeroesLeft: number
}

const complete = (
  body: string,
  response: ServerResponse,
  books: Books,
  options: PlainProviderOptions,
): void => {
  const { model } = JSON.parse(body) as { model: string }
  books.number += 1
  const id = `plain-${options.repeatsId === true ? 1 : books.number}-${process.pid}`
  const uuid = plainBillingId(id)
  books.costs.set(uuid, options.costNanoUsd ?? 2_345_678)
  const content = options.answer ?? 'A door with two leaves, of which one is always shut.'
  const message = { role: 'assistant', content, refusal: null, reasoning_content: null }
  const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
  reply(
    response,
    200,
    { id, object: 'chat.completion', created: 1_800_000_000, model, choices },
    { 'inference-id': uuid, 'x-request-id': 'ignored' },
  )
}

const bill = (body: string, response: ServerResponse, books: Books): void => {
  const { requestIds } = JSON.parse(body) as { requestIds: string[] }
  const zero = books.zeroesLeft > 0
  if (zero) books.zeroesLeft -= 1
  reply(response, 200, {
    requests: requestIds.map((requestId) => ({
      requestId,
      costNanoUsd: zero ? 0 : (books.costs.get(requestId) ?? 0),
    })),
  })
}

/** Starts the provider on a free loopback port and writes its profile and certificate to `dir`. */
export const startPlainProvider = async (options: PlainProviderOptions): Promise<PlainProvider> => {
  const { cert, key } = await makeSelfSigned()
  const requests: PlainRequest[] = []
  const sockets = new Set<Socket>()
  const books: Books = { number: 0, costs: new Map(), zeroesLeft: options.zeroesFirst ?? 0 }
  let connections = 0
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await read(request)
    const { method = '', url: path = '', headers } = request
    requests.push({ method, path, headers, body })
    if (headers.authorization === undefined) return reply(response, 401, {})
    if (method === 'POST' && path === '/v1/chat/completions') {
      return complete(body, response, books, options)
    }
    if (method === 'POST' && path === '/v1/billing/costs') return bill(body, response, books)
    return reply(response, 404, {})
  }
  const server = createServer({ cert, key }, (request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const profileFile = join(options.dir, 'plain-profile.json')
  const caFile = join(options.dir, 'plain-ca.pem')
  await writeFile(caFile, cert, { mode: 0o600 })
  const profile = {
    schema: 'sallyport.profile.v1',
    name: 'plain',
    provider: {
      name: 'plain',
      base_url: `https://127.0.0.1:${port}/v1`,
      model_id: options.modelId ?? 'plain/model-7',
    },
    ca_file: caFile,
  }
  await writeFile(profileFile, JSON.stringify(profile), { mode: 0o600 })
  return {
    profileFile,
    caPem: cert,
    port,
    requests,
    connections: () => connections,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  }
}
