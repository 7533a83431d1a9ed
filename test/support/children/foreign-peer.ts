/**
 * A service behind a plain listener of the test, in a network namespace of its own, asked from an
 * address that is no loopback one, and from loopback for comparison. Its standard output is one
 * line of JSON: what each came to. Arguments: state folder, configuration folder, token, paths.
 */
import { execFileSync } from 'node:child_process'
import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock } from '../../../src/base/clock.js'
import { routes } from '../../../src/service/routes/table.js'
import { healthz } from '../../../src/service/plain-endpoints.js'
import { operatorEndpoint, Service } from '../../../src/service/service.js'
import { Threads } from '../../../src/service/threads.js'

const [stateDir = '', configDir = '', token = '', reanalyze = '', clear = ''] =
  process.argv.slice(2)
const foreign = '10.99.0.1'
execFileSync('ip', ['link', 'set', 'lo', 'up'])
execFileSync('ip', ['addr', 'add', `${foreign}/32`, 'dev', 'lo'])

const place = { stateDir, configDir }
const service = new Service({
  place,
  world: {
    clock: systemClock, env: {}, execArgv: [], home: '/', producer: {}, places: place,
    stop: new AbortController().signal, resolve: async () => [],
  },
  threads: new Threads({ ...place, home: '/', env: {}, execArgv: [] },
    new URL('../../../src/service/service-worker.js', import.meta.url)),
  endpoints: [healthz, ...routes.map((one) => operatorEndpoint(one))],
})
const server = createServer((request, response) => {
  const { port } = server.address() as AddressInfo
  void service.handle(request, response, {
    scheme: 'http', hosts: [`${foreign}:${port}`, `127.0.0.1:${port}`],
  })
})
await new Promise<void>((resolve) => void server.listen(0, '0.0.0.0', resolve))
const { port } = server.address() as AddressInfo

const ask = (
  from: string, method: string, path: string, headers = {},
): Promise<readonly [number, string | null]> => new Promise((resolve, reject) => {
  const body = path === reanalyze ? '{"reason":"manual_operator_request"}' : ''
  httpRequest({
    host: from, localAddress: from, port, method, path, agent: false,
    headers: {
      Authorization: `Bearer ${token}`, ...headers,
      ...(body === '' ? {} : {
        'Content-Type': 'application/json', 'Content-Length': String(body.length),
      }),
    },
  }, (response) => {
    let text = ''
    response.on('data', (chunk) => (text += String(chunk)))
    response.on('end', () => {
      const { error } = JSON.parse(text) as { error?: { code: string } }
      resolve([response.statusCode ?? 0, error?.code ?? null])
    })
  }).on('error', reject).end(body)
})

const forwarded = { 'X-Forwarded-For': '127.0.0.1', Forwarded: 'for=127.0.0.1' }
const said = {
  healthz: await ask(foreign, 'GET', '/healthz'),
  session: await ask(foreign, 'GET', '/api/session'),
  reanalyze: await ask(foreign, 'POST', reanalyze),
  clear: await ask(foreign, 'POST', clear),
  reanalyzeForwarded: await ask(foreign, 'POST', reanalyze, forwarded),
  clearForwarded: await ask(foreign, 'POST', clear, forwarded),
  reanalyzeHere: await ask('127.0.0.1', 'POST', reanalyze),
  clearHere: await ask('127.0.0.1', 'POST', clear),
}
process.stdout.write(`${JSON.stringify(said)}\n`)
await new Promise((resolve) => void server.close(resolve))
await service.stop()
