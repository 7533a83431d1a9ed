import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import t from 'tap'
import { newAuthority } from '../support/net/certs.js'
import { name, reply, serve, trusted } from '../support/net/world.js'
import type { TestServer } from '../support/net/world.js'

/** The child as plain JavaScript: there once it is compiled, bundled here when it is not. */
const program = await (async (): Promise<string> => {
  const compiled = fileURLToPath(new URL('../support/children/request.js', import.meta.url))
  if (existsSync(compiled)) return compiled
  const outfile = `${t.testdir()}/child.mjs`
  const entry = fileURLToPath(new URL('../support/children/request.ts', import.meta.url))
  await build({
    entryPoints: [entry], outfile, bundle: true, packages: 'external', format: 'esm',
    platform: 'node', target: 'node20', logLevel: 'error',
  })
  return outfile
})()

interface Outcome {
  readonly status?: number
  readonly code?: string
  readonly kind?: string
  readonly message?: string
  readonly contact?: string
  /** Everything that the child printed beside its outcome. */
  readonly noise: string
}

/** Runs one request in a child with this environment and these options of Node. */
const child = async (
  server: TestServer,
  env: Record<string, string>,
  options: readonly string[] = [],
  naive = false,
): Promise<Outcome> => {
  const job = JSON.stringify({ url: server.url, port: server.port, ca: trusted.ca, naive })
  const running = spawn(process.execPath, [...options, program, job], {
    // What tap's own loaders need would slow every child down.
    env: { ...process.env, NODE_OPTIONS: '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let out = ''
  let noise = ''
  running.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  running.stderr.on('data', (chunk: Buffer) => (noise += chunk.toString()))
  await once(running, 'close')
  const line = out.trim().split('\n').at(-1) ?? ''
  return { ...(JSON.parse(line) as object), noise }
}

const fine = () => serve((socket) => socket.end(reply('HTTP/1.1 200 OK')))

t.test('A-023 no proxy of the environment is used, in any spelling', async (t) => {
  let visits = 0
  const proxy = createServer((socket) => {
    visits += 1
    socket.end()
  })
  proxy.unref().listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  const env: Record<string, string> = { NODE_USE_ENV_PROXY: '1' }
  for (const key of ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY']) {
    env[key] = address
    env[key.toLowerCase()] = address
  }
  for (const key of ['npm_config_proxy', 'npm_config_https_proxy']) env[key] = address
  Object.assign(env, { NO_PROXY: '', no_proxy: '' })
  const server = await fine()
  t.teardown(server.close)
  t.hasStrict(await child(server, env), { status: 200 })
  t.equal(server.requests.length, 1, 'reached directly')
  t.equal(visits, 0)
})

t.test('A-004 no variable or option widens what is trusted', async (t) => {
  const stranger = await newAuthority('Stranger')
  const certificate = await stranger.issue([name])
  const folder = t.testdir({ 'stranger.pem': stranger.ca })
  const file = `${folder}/stranger.pem`
  const settings: [string, Record<string, string>, string[]][] = [
    ['verification off', { NODE_TLS_REJECT_UNAUTHORIZED: '0' }, []],
    ['extra roots', { NODE_EXTRA_CA_CERTS: file }, []],
    ['roots of OpenSSL', { SSL_CERT_FILE: file }, ['--use-openssl-ca']],
  ]
  for (const [what, env, options] of settings) {
    const server = await serve((socket) => socket.end(reply('HTTP/1.1 200 OK')), {}, certificate)
    t.teardown(server.close)
    t.hasStrict(await child(server, env, options, true), { status: 200 },
      `${what}: a naive client trusts`)
    const before = server.applicationBytes()
    t.hasStrict(await child(server, env, options), { code: 'tls_failed', contact: 'none' }, what)
    t.equal(server.applicationBytes(), before, what)
  }
})

t.test('A-004 no option lowers the version of TLS', async (t) => {
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  const server = await serve((socket) => socket.end(reply('HTTP/1.1 200 OK')), old)
  t.teardown(server.close)
  const options = ['--tls-min-v1.0', '--tls-cipher-list=DEFAULT@SECLEVEL=0']
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  t.hasStrict(await child(server, env, options, true), { status: 200 }, 'a naive client goes along')
  const before = server.applicationBytes()
  t.hasStrict(await child(server, {}, options), { code: 'tls_failed', contact: 'none' })
  t.equal(server.applicationBytes(), before)
})

t.test('A-004 no option takes the encryption away', async (t) => {
  const ciphers = 'ECDHE-ECDSA-NULL-SHA:@SECLEVEL=0'
  const server = await serve((socket) => socket.end(reply('HTTP/1.1 200 OK')),
    { ciphers, maxVersion: 'TLSv1.2' })
  t.teardown(server.close)
  const options = [`--tls-cipher-list=${ciphers}`]
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0' }
  t.hasStrict(await child(server, env, options, true), { status: 200 }, 'a naive client goes along')
  const before = server.applicationBytes()
  t.hasStrict(await child(server, {}, options), { code: 'tls_failed', contact: 'none' })
  t.equal(server.applicationBytes(), before)
})

t.test('a run that would print requests or keys contacts nobody and says why', async (t) => {
  const folder = t.testdir()
  const keys = `${folder}/keys.log`
  const settings: [string, Record<string, string>, string[]][] = [
    ['NODE_DEBUG', { NODE_DEBUG: 'http,tls' }, []],
    ['NODE_DEBUG', { NODE_DEBUG: 'STREAM' }, []],
    ['--tls-keylog', {}, [`--tls-keylog=${keys}`]],
    ['NODE_OPTIONS', { NODE_OPTIONS: `--tls-keylog=${keys}` }, []],
  ]
  const server = await fine()
  t.teardown(server.close)
  for (const [variable, env, options] of settings) {
    const { noise, ...outcome } = await child(server, env, options)
    t.hasStrict(
      outcome, { code: 'debug_output_refused', kind: 'rejected', contact: 'none' }, variable
    )
    t.match(outcome.message, variable)
    t.notMatch(noise, /secret/)
  }
  t.equal(server.connections(), 0)
  t.notOk(existsSync(keys), 'no keys were written')
})

t.test('no option of Node widens how much of a reply is read', async (t) => {
  const server = await serve((socket) =>
    socket.end(reply(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(20_000)}`)))
  t.teardown(server.close)
  const env = { NODE_OPTIONS: '--max-http-header-size=100000' }
  const others = await child(server, { ...env, NODE_TLS_REJECT_UNAUTHORIZED: '0' }, [], true)
  t.hasStrict(others, { status: 200 }, 'it widens the limit of others')
  t.hasStrict(await child(server, env), { code: 'reply_malformed', contact: 'possible' })
})
