/** `sallyport serve` as a process: its files, its port, its signals, its neighbours. */
import { readFileSync, statSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { World } from '../world/world.js'
import { started, startedToComeBack } from '../support/service/process.js'
import { loadToken, tokenPath } from '../../src/governance/session/token.js'
import { until } from '../support/until.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'

t.test('S-177 S-199 S-206 S-212 one port and one key for good, and what is answered says which '
  + 'version it is of', async (t) => {
  const { place } = await World.in(t).state().session()
  const first = await startedToComeBack(t, place)
  t.equal(statSync(first.told.certificate_file).mode & 0o777, 0o600)
  const got = await first.ask('GET', '/api/session')
  t.equal(got.status, 200)
  t.equal(got.headers['sallyport-api'], '1')
  t.matchStrict(got.json(), { schema: /^sallyport\.session\.show\.v1$/ })
  const refused = await first.ask('GET', '/api/session', { token: null })
  t.strictSame(Object.keys(refused.json().error),
    ['code', 'message', 'reason', 'status', 'details', 'hint', 'next'])
  t.equal(refused.json().error.status, 401)
  first.child.kill('SIGTERM')
  t.equal(await first.ended, 0)
  const second = await started(t, place)
  t.equal(second.told.port, first.told.port)
  t.equal(second.told.pin, first.told.pin)
  t.equal(second.told.port_changed, false)
  second.child.kill('SIGINT')
  await second.ended
  const files = [first, second].map(({ err }) => err()).join('')
  t.notMatch(files, loadToken(tokenPath(place.stateDir)) ?? 'none')
})

t.test('where somebody sits on the port of either family it does not start', async (t) => {
  const { place } = await World.in(t).state().session()
  const first = await startedToComeBack(t, place)
  const { port } = first.told
  first.child.kill('SIGTERM')
  await first.ended
  for (const host of ['127.0.0.1', '::1']) {
    const squatter = createServer()
    const listens = await new Promise<boolean>((resolve) => {
      squatter.once('error', () => resolve(false))
      squatter.listen({ port, host, exclusive: true }, () => resolve(true))
    })
    if (!listens) continue
    const again = await started(t, place)
    t.equal(await again.ended, 7, host)
    await new Promise<void>((resolve) => void squatter.close(() => resolve()))
    await t.rejects(new Promise((resolve, reject) => {
      connect({ port, host: '127.0.0.1' }).on('connect', resolve).on('error', reject)
    }), { code: 'ECONNREFUSED' }, 'nothing was left listening')
  }
})

t.test('a terminal, and a restore, beside it: what they change is what it answers', async (t) => {
  const world = await World.in(t).state().session()
  const { place } = world
  const at = await started(t, place)
  must(await place.spawn(['state', 'backup', place.path('backup')]))
  must(await place.spawn(['goal', 'add', 'Tides']))
  t.equal((await at.ask('GET', '/api/status')).status, 200)
  must(await place.spawn(['logout']))
  t.equal((await at.ask('GET', '/api/session')).status, 401, 'ended in a terminal')
  must(await place.spawn(['state', 'restore', place.path('backup'), '--yes']))
  must(await place.spawn(['login']))
  await until('the restored state', async () =>
    (await at.ask('GET', '/api/session')).status === 200)
  t.hasStrict((await at.ask('GET', '/api/policy')).json(), { policy: { state: 'revoked' } })
  at.child.kill('SIGTERM')
  t.equal(await at.ended, 0)
  t.equal((await place.spawn(['state', 'check'])).status, 0)
})

t.test('what Node would print or store of requests starts nothing, and what makes it lenient changes nothing', async (t) => {
  const { place } = await World.in(t).state().session()
  const keys = place.path('keys')
  for (const env of [
    { NODE_DEBUG: 'http' }, { NODE_DEBUG: 'stream' }, { NODE_OPTIONS: `--tls-keylog=${keys}` },
    { NODE_OPTIONS: '--inspect=127.0.0.1:0' },
  ]) {
    const refused = await started(t, place, [], env)
    t.equal(await refused.ended, 3, JSON.stringify(env))
    t.match(refused.err(), '"code":"debug_output_refused"')
  }
  const lenient = await started(t, place, [], { NODE_OPTIONS: '--insecure-http-parser' })
  const { port } = lenient.told
  const token = loadToken(tokenPath(place.stateDir)) ?? ''
  const socket = tlsConnect({
    port, host: '127.0.0.1', servername: 'localhost',
    ca: [readFileSync(lenient.told.certificate_file)],
  })
  const input = '{"schema":"svc.alpha.text.input.v1","question":"q","max_output_tokens":5}'
  socket.end([
    'POST /api/work-board/inputs HTTP/1.1', `Host: localhost:${port}`,
    `Authorization: Bearer ${token}`, 'Content-Type: application/json', 'Content-Length: 4',
    'Transfer-Encoding: chunked', '', `${input.length.toString(16)}`, input, '0', '', '',
  ].join('\r\n'))
  let got = ''
  for await (const chunk of socket) got += String(chunk)
  t.match(got, /^HTTP\/1\.1 400 [\s\S]*"code":"http_malformed"/, 'two framings are none')
})
