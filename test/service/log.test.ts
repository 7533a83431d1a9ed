/** What the service tells of itself, and what it never tells. */
import { statSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { edgeCollections } from '../../src/edge/edge-rows.js'
import { ServiceLog, linesAMinute, stackOf } from '../../src/service/log.js'
import type { Endpoint } from '../../src/service/service.js'
import { image } from '../support/png.js'
import { headOf, pairOver, sendOver } from '../support/service/devices.js'
import { serving } from '../support/service/serving.js'
import { started } from '../support/service/process.js'
import { minute } from '../support/clock.js'
import { flipBit } from '../support/state/forge.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'
import type { Loose } from '../world/place.js'

const parsed = (lines: readonly string[]): Loose[] =>
  lines.map((line) => JSON.parse(line))

const secret = 'S3CRET'

/** An endpoint that fails as no endpoint should, and quotes what it was given. */
const failing: Endpoint = {
  method: 'POST', path: '/api/test/{what}', readsBody: true,
  answer: async () => {
    throw new TypeError(`${secret} is no body`)
  },
}

t.test('start, stop, refused credentials and failures are told, each by the id of its request, without what was asked', async (t) => {
  const world = await World.in(t).state().session()
  const lines: string[] = []
  const at = await serving(t, world, {
    endpoints: [failing], log: { write: (line) => lines.push(line), all: false },
  })
  await at.get('/api/status')
  const refused = await at.ask('GET', '/api/status', { token: secret })
  const failed = await at.ask('POST', `/api/test/${secret}?x=${secret}`, { body: { secret } })
  await at.ask('POST', '/api/edge/pairings', {
    token: null, body: { code: 'A'.repeat(22), device_name: secret },
  })
  await at.stop()
  const told = parsed(lines)
  t.hasStrict(told, [
    { event: 'start', origin: at.started.identity.origin, pid: process.pid },
    {
      event: 'refused', request_id: refused.headers['x-request-id'], method: 'GET',
      endpoint: '/api/status', status: 401, code: 'session_invalid',
    },
    {
      event: 'failed', request_id: failed.headers['x-request-id'], endpoint: '/api/test/{what}',
      status: 500, code: 'unexpected',
    },
    { event: 'refused', endpoint: '/api/edge/pairings', status: 403, code: 'edge_code_refused' },
    { event: 'stop' },
  ])
  t.match(told[2].stack, /^TypeError\n\s+at /)
  t.notMatch(failed.bytes.toString(), /\bat /, 'who asked is told no stack')
  t.notMatch(lines.join('\n'), secret)
  t.notOk(lines.join('\n').includes(at.token()))
})

t.test('a failure of a thread is told with its stack, too, and every request where that is wished for', async (t) => {
  const world = await World.in(t).state().session()
  const lines: string[] = []
  const at = await serving(t, world, { log: { write: (line) => lines.push(line), all: true } })
  await at.get('/api/status')
  await at.ask('GET', '/api/nowhere')
  const path = '/api/observer/screenshot-folder/scan'
  const scanned = await at.ask('POST', path, { body: {} })
  await at.stop()
  const [, first, , last] = parsed(lines.filter((line) => !line.includes('openapi')))
  t.hasStrict(first, { event: 'request', method: 'GET', endpoint: '/api/status', status: 200 })
  t.equal(typeof first.ms, 'number')
  t.hasStrict(last, { endpoint: path, status: scanned.status })
  t.ok(parsed(lines).some(({ endpoint, status }) => endpoint === null && status === 404))
})

t.test('only so many refusals are told in a minute, the rest by their number', async (t) => {
  const { clock } = await World.still(t)
  const lines: string[] = []
  const log = new ServiceLog({ clock, write: (line) => lines.push(line), all: false })
  const answer = {
    requestId: 'r', method: 'GET', endpoint: '/api/status', code: 'session_unknown', stack: null,
    tookMs: 1, elsewhere: false,
  }
  for (let n = 0; n < 100; n += 1) log.answered({ ...answer, status: 401 })
  log.answered({ ...answer, status: 503, stack: 'x' })
  t.equal(lines.length, linesAMinute + 1, 'each kind has lines of its own')
  clock.advance(minute)
  log.answered({ ...answer, status: 401 })
  log.answered({ ...answer, status: 404 })
  t.hasStrict(parsed(lines.slice(linesAMinute + 1)), [
    { event: 'left_out', of: 'refused', count: 100 - linesAMinute }, { event: 'refused' },
  ])
  for (let n = 0; n < linesAMinute; n += 1) log.answered({ ...answer, status: 401 })
  log.stopped()
  t.hasStrict(parsed(lines.slice(-2)), [
    { event: 'left_out', of: 'refused', count: 1 }, { event: 'stop' },
  ])
})

const bytesPath = '/api/edge/artifacts/{artifact_id}/bytes'

t.test('a capture whose bytes turn out to be damaged in the middle of its reply is told as a failure, a client that goes away in the middle is none', async (t) => {
  const world = await World.in(t).state().session()
  const lines: string[] = []
  const at = await serving(t, world, { log: { write: (line) => lines.push(line), all: true } })
  const { credential } = await pairOver(world, at)
  const body = Buffer.concat([image(1), Buffer.alloc(9_000_000, 1)])
  const id = String((await sendOver(at, credential, body, headOf(body, 1))).json().artifact_id)
  const path = bytesPath.replace('{artifact_id}', id)
  const told = () => parsed(lines).filter(({ endpoint }) => endpoint === bytesPath)
  const { port, certificate } = at.started.identity
  const gone = httpsRequest({
    port, path, host: '127.0.0.1', ca: [certificate], agent: false,
    headers: { Authorization: `Bearer ${at.token()}` },
  }, (response) => response.once('data', () => gone.destroy())).on('error', () => undefined)
  gone.end()
  await until('its line', () => told().length === 1)
  t.hasStrict(told()[0], { event: 'request', status: 200 })
  const name = world.view().get(edgeCollections.artifacts, id)?.ref.stored_sha256 ?? ''
  const sealed = join(world.place.stateDir, 'artifacts', name.slice(0, 2), name)
  flipBit(sealed, statSync(sealed).size - 100, 1)
  await t.rejects(at.ask('GET', path), { code: 'ECONNRESET' }, 'its reply is cut off')
  await until('its line', () => told().length === 2)
  t.hasStrict(told()[1], { event: 'failed', status: 500, code: 'artifact_damaged' })
  t.match(told()[1].stack, /^SallyportError: [^\n]+\n\s+at /)
})

t.test('a disk that takes no line of the log ends no request, and how many it took not is told later', async (t) => {
  const world = await World.in(t).state().session()
  const lines: string[] = []
  let isFull = true
  const at = await serving(t, world, { log: {
    all: true,
    write: (line) => {
      if (isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
      lines.push(...line.split('\n'))
    },
  } })
  t.equal((await at.ask('GET', '/api/session')).status, 200)
  t.equal((await at.ask('GET', '/api/session', { token: secret })).status, 401)
  const before = 4
  isFull = false
  await at.get('/healthz')
  await at.get('/healthz')
  t.hasStrict(parsed(lines.filter((line) => line !== '')), [
    { event: 'left_out', of: 'log', count: before },
    { event: 'request', endpoint: '/healthz' }, { event: 'request', endpoint: '/healthz' },
  ])
  t.equal(lines[0], '', 'a line that was cut off is ended first')
})

t.test('what could not be read as a request is told where every request is, by the id that its refusal has', async (t) => {
  const world = await World.in(t).state().session()
  const lines: string[] = []
  const at = await serving(t, world, {
    page: null, log: { write: (line) => lines.push(line), all: true },
  })
  const { port } = new URL(at.started.page?.url ?? '')
  const got = await new Promise<string>((resolve) => {
    let text = ''
    connect(Number(port), '127.0.0.1').on('data', (chunk) => (text += String(chunk)))
      .on('close', () => resolve(text)).end('NO HTTP\r\n\r\n')
  })
  const [, id] = /X-Request-Id: (\S+)/.exec(got) ?? []
  t.hasStrict(parsed(lines).at(-1), {
    event: 'request', request_id: id, method: null, endpoint: null, status: 400,
    code: 'http_malformed',
  })
})

t.test('a stack has the words of what is ours alone, and an end', (t) => {
  const deep = new Error(secret, { cause: new TypeError(secret) })
  t.notMatch(stackOf(deep, () => false), secret)
  t.match(stackOf(deep, (one) => !(one instanceof TypeError)), /^Error: S3CRET\n[^]*caused by: Type/)
  deep.stack = `x\n${'    at y\n'.repeat(10_000)}`
  t.ok(stackOf(deep, () => false).length <= 4_000)
  t.equal(stackOf(secret, () => true), 'string')
  t.end()
})

t.test('serve writes it to stderr; a journal has it line by line', async (t) => {
  const world = await World.in(t).state().session()
  const one = await started(t, world.place, ['--log-requests'])
  await one.ask('GET', '/healthz')
  one.child.kill('SIGTERM')
  t.equal(await one.ended, 0)
  await until('the end of its log', () => one.err().includes('"event":"stop"'))
  t.hasStrict(parsed(one.err().trim().split('\n')), [
    { event: 'start', pid: one.child.pid }, { event: 'request', endpoint: '/healthz' },
    { event: 'stop' },
  ])
})
