/**
 * A gateway that is not the sandbox: written from the public protocol alone, sharing no code with
 * `src/`. It keeps what it is sent byte for byte and answers an image with a fixed analysis.
 */
import { writeFile } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { makeSelfSigned, read } from './plain-provider.js'

/** One request as received. */
export interface PlainGatewayRequest {
  readonly method: string
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

/** A running gateway. */
export interface PlainGateway {
  /** Profile for `init --profile`, with this gateway and a provider that nobody answers for. */
  readonly profileFile: string
  readonly port: number
  readonly requests: readonly PlainGatewayRequest[]
  connections(): number
  stop(): Promise<void>
}

/** The analysis that it answers every screenshot with. */
export const plainAnalysis = {
  schema: 'svc.screenshot_analysis.v1',
  summary: 'A plain page.',
  observations: [], activity: 'reading', project: null, applications: ['Browser'],
  artifacts: [{ kind: 'page', name: 'Front page' }], snippets: [], intent: null,
  goal: { status: 'unknown', evidence: null, pushed_the_needle: 'unknown' },
  confidence: 0.25, sensitive: false, privacy_notes: [], tags: [],
}

const contentFor = (body: string): string => {
  const asked = JSON.parse(body) as { response_format?: { json_schema?: { name?: string } } }
  return asked.response_format?.json_schema?.name === 'svc_screenshot_analysis_v1'
    ? JSON.stringify(plainAnalysis) : '{"left":"red","right":"blue"}'
}

const replyTo = (body: string): string => JSON.stringify({
  id: 'gen-plain', provider: 'Plain Upstream', model: 'plain/vision-2-dated',
  object: 'chat.completion', created: 1_800_000_000,
  choices: [{
    index: 0, finish_reason: 'stop',
    message: { role: 'assistant', content: contentFor(body), refusal: null },
  }],
  usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20, cost: 0.001234 },
})

const profileOf = (port: number, caFile: string, slash: boolean) => ({
  schema: 'sallyport.profile.v1',
  name: 'plain',
  provider: {
    name: 'plain', base_url: `https://127.0.0.1:${port}/v1`, model_id: 'plain/model-7',
  },
  gateway: { base_url: `https://127.0.0.1:${port}/api/v1${slash ? '/' : ''}` },
  ca_file: caFile,
})

/** Starts it on a free port of this machine; `slash` ends the base address with one. */
export const startPlainGateway = async (
  { dir, slash = false }: { readonly dir: string, readonly slash?: boolean },
): Promise<PlainGateway> => {
  const { cert, key } = await makeSelfSigned()
  const requests: PlainGatewayRequest[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer({ cert, key }, (request, response) => {
    void read(request).then((body) => {
      const { method = '', url: path = '', headers } = request
      requests.push({ method, path, headers, body })
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(replyTo(body))
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
  const { port } = server.address() as AddressInfo
  const caFile = join(dir, 'ca.pem')
  await writeFile(caFile, cert)
  const profileFile = join(dir, 'profile.json')
  await writeFile(profileFile, JSON.stringify(profileOf(port, caFile, slash)))
  return {
    profileFile, port, requests, connections: () => connections,
    stop: () => new Promise((done) => {
      for (const socket of sockets) socket.destroy()
      server.close(() => done())
    }),
  }
}
