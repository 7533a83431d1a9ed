/**
 * A code host that nobody here wrote: the emulator of the package `emulate`, which hashes what it
 * is given, behind a TLS front of the test's own, since it speaks plain HTTP. The front changes
 * nothing but what a test says; it keeps every exchange and holds each to the public description.
 */
import { writeFile } from 'node:fs/promises'
import { request as ask } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { createEmulator } from 'emulate'
import { makeSelfSigned } from '../plain-provider.js'
import { freePort } from '../ports.js'
import type { Loose, Teardown } from '../../world/place.js'
import { described, type Described, type Exchange } from './described.js'

/** Owner and repository that it begins with. */
export const emulatedRepository = 'octo/notes'
/** The token that it knows. */
export const emulatedToken = 'ghp_EMULATED0123456789abcdefghijklmnopqr'
/** That of somebody else, who may write there too. */
export const strangersToken = 'ghp_STRANGER0123456789abcdefghijklmnopqr'

/** What a test puts in the place of one answer; the emulator is not asked where it is a status. */
export type Instead =
  | { readonly status: number, readonly location?: string }
  | { readonly alter: (json: Loose) => void }

/** A running one. */
export interface Emulated {
  /** Profile for `init --profile`. */
  readonly profileFile: string
  readonly exchanges: readonly Exchange[]
  readonly told: Described
  /** Reads a path below the repository, with the front left out. */
  get(path: string): Promise<Loose>
  /** Asks it for something below the repository as somebody, with the front left out. */
  ask(method: string, path: string, body: unknown, token?: string): Promise<Loose>
  /** What stands in the place of answers, by `METHOD /path` below the repository. */
  readonly instead: Map<string, Instead>
}

const listening = (server: { listen: (port: number, host: string, done: () => void) => unknown }) =>
  new Promise<void>((done) => void server.listen(0, '127.0.0.1', done))

/** Headers that are between two ends of one connection. */
const hopByHop = ['connection', 'keep-alive', 'transfer-encoding']

const bodyOf = async (stream: AsyncIterable<Uint8Array>): Promise<Buffer> => {
  const parts: Uint8Array[] = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts)
}

interface Told {
  readonly status: number
  readonly headers: NodeJS.Dict<string | string[]>
  readonly body: Buffer
}

const forward = (
  port: number, method: string, path: string, headers: NodeJS.Dict<string | string[]>, body: Buffer,
): Promise<Told> => new Promise((resolve, reject) => {
  const request = ask({ port, host: '127.0.0.1', method, path, headers }, (reply) => {
    bodyOf(reply).then((bytes) => resolve({
      status: reply.statusCode ?? 0, headers: reply.headers, body: bytes,
    }), reject)
  })
  request.on('error', reject)
  request.end(body)
})

/** Starts one that goes with the test. */
export const startEmulated = async (t: Teardown, dir: string): Promise<Emulated> => {
  const { cert, key } = await makeSelfSigned()
  // The emulator takes no port 0.
  const [exchanges, told, port]: [Exchange[], Described, number] =
    [[], described(), await freePort()]
  const sockets = new Set<Socket>()
  const instead = new Map<string, Instead>()
  const answered = async (
    method: string, path: string, headers: NodeJS.Dict<string | string[]>, body: Buffer,
  ): Promise<Told> => {
    const other = instead.get(`${method} ${path.replace(`/repos/${emulatedRepository}`, '')}`)
    if (other !== undefined && 'status' in other) {
      const { status, location } = other
      return {
        status, body: Buffer.from('{"message":"instead"}'),
        headers: {
          date: new Date().toUTCString(), 'content-type': 'application/json',
          ...(location === undefined ? {} : { location }),
        },
      }
    }
    const reply = await forward(port, method, path, headers, body)
    if (other === undefined) return reply
    const json: Loose = JSON.parse(reply.body.toString('utf8'))
    other.alter(json)
    return { ...reply, body: Buffer.from(JSON.stringify(json)) }
  }
  const front = createServer({ cert, key }, (request, response) => {
    const { method = '', url: path = '', headers } = request
    void bodyOf(request).then(async (body) => {
      const reply = await answered(method, path, headers, body)
      const exchange: Exchange = {
        method, path, sent: method === 'GET' ? null : body, status: reply.status,
        received: reply.body,
      }
      exchanges.push(exchange)
      told.check(exchange)
      const others = Object.fromEntries(
        Object.entries(reply.headers).filter(([name]) => !hopByHop.includes(name)))
      response.writeHead(reply.status, { ...others, 'content-length': reply.body.length })
      response.end(reply.body)
    })
  })
  front.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await listening(front)
  const baseUrl = `https://127.0.0.1:${(front.address() as AddressInfo).port}`
  const [login = '', name = ''] = emulatedRepository.split('/')
  const emulator = await createEmulator({
    service: 'github', port, baseUrl, seed: {
      tokens: {
        [emulatedToken]: { login, scopes: ['repo'] },
        [strangersToken]: { login: 'stranger', scopes: ['repo'] },
      },
      github: {
        users: [
          { login, name: 'Octo', email: 'octo@example.org' },
          { login: 'stranger', name: 'Stranger', email: 'stranger@example.org' },
        ],
        repos: [{ owner: login, name, private: false, auto_init: true }],
      },
    },
  })
  t.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((done) => void front.close(done))
    await emulator.close()
  })
  const [caFile, profileFile] = [join(dir, 'front-ca.pem'), join(dir, 'front-profile.json')]
  await writeFile(caFile, cert)
  await writeFile(profileFile, JSON.stringify({
    schema: 'sallyport.profile.v1', name: 'emulated', ca_file: caFile,
    provider: { name: 'nobody', base_url: `${baseUrl}/v1`, model_id: 'nobody/model' },
    codehost: { base_url: baseUrl },
  }))
  const asked = async (
    method: string, path: string, body: unknown, token = emulatedToken,
  ): Promise<Loose> => {
    const bytes = body === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(body))
    const reply = await forward(port, method, `/repos/${emulatedRepository}${path}`, {
      authorization: `Bearer ${token}`, 'content-type': 'application/json',
      'content-length': String(bytes.length),
    }, bytes)
    if (reply.status >= 400) {
      throw new Error(`${method} ${path}: ${reply.status} ${reply.body.toString('utf8')}`)
    }
    return JSON.parse(reply.body.toString('utf8'))
  }
  return {
    profileFile, exchanges, told, instead, ask: asked,
    get: (path) => asked('GET', path, undefined),
  }
}
