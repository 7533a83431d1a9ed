/**
 * A code host that is not the sandbox: written from the public description alone, sharing no code
 * with `src/`. It answers what the test says, and keeps each request that it was sent.
 */
import { writeFile } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { makeSelfSigned, read } from '../plain-provider.js'
import type { Teardown } from '../../world/place.js'

/** One request as received. */
export interface HostRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** What it answers; a string is sent as it is. */
export interface HostReply {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** A running host. */
export interface PlainHost {
  /** Profile for `init --profile`, with this host and a provider that nobody answers for. */
  readonly profileFile: string
  /** Those but the ones that ask whose the token is. */
  readonly requests: readonly HostRequest[]
  /** Those that ask whose the token is. */
  readonly users: readonly HostRequest[]
  /** Connections that were opened: a TLS hello is one too. */
  connections(): number
  /** Ends every connection that is open. */
  drop(): void
  /** From now on it answers so; a function may wait. */
  answers(given: HostReply | (() => Promise<HostReply>)): void
  /** Whom it tells as the one whose the token is. */
  tells(user: HostReply): void
}

/** A repository as the public description shows one, with what the test needs changed. */
export const repositoryBody = (more: Readonly<Record<string, unknown>> = {}) => ({
  id: 1296269, node_id: 'MDEwOlJlcG9zaXRvcnkxMjk2MjY5', name: 'hello',
  full_name: 'octo-org/hello', private: true, archived: false, disabled: false, fork: false,
  has_issues: true, default_branch: 'main', visibility: 'private', owner: { login: 'octo-org' },
  permissions: { admin: false, maintain: false, push: true, triage: true, pull: true },
  ...more,
})

const profileOf = (port: number, caFile: string) => ({
  schema: 'sallyport.profile.v1',
  name: 'plain',
  provider: {
    name: 'plain', base_url: `https://127.0.0.1:${port}/v1`, model_id: 'plain/model-7',
  },
  codehost: { base_url: `https://127.0.0.1:${port}` },
  ca_file: caFile,
})

/** Starts one that goes with the test. */
export const startPlainHost = async (t: Teardown, dir: string): Promise<PlainHost> => {
  const { cert, key } = await makeSelfSigned()
  const requests: HostRequest[] = []
  const users: HostRequest[] = []
  let user: HostReply = { status: 200, body: { login: 'octo', id: 583_231, type: 'User' } }
  const sockets = new Set<Socket>()
  let connections = 0
  let answer: () => Promise<HostReply> = async () => ({ status: 200, body: repositoryBody() })
  const server = createServer({ cert, key }, (request, response) => {
    void read(request).then(async (body) => {
      const { method = '', url: path = '', headers } = request
      const isUser = path === '/user'
      ;(isUser ? users : requests).push({ method, path, headers, body })
      const reply = isUser ? user : await answer()
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
      response.end(typeof reply.body === 'string' ? reply.body : JSON.stringify(reply.body))
    })
  })
  server.on('connection', (socket: Socket) => {
    connections += 1
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((done) => {
    server.listen(0, '127.0.0.1', () => done())
  })
  t.teardown(() => new Promise<void>((done) => {
    for (const socket of sockets) socket.destroy()
    server.close(() => done())
  }))
  const { port } = server.address() as AddressInfo
  const caFile = join(dir, 'host-ca.pem')
  const profileFile = join(dir, 'host-profile.json')
  await writeFile(caFile, cert)
  await writeFile(profileFile, JSON.stringify(profileOf(port, caFile)))
  return {
    profileFile, requests, users, connections: () => connections,
    drop: () => {
      for (const socket of sockets) socket.destroy()
    },
    tells: (given) => {
      user = given
    },
    answers: (given) => {
      answer = typeof given === 'function' ? given : async () => given
    },
  }
}
