/** Bodies: bounded before and while they come, refused by their type, in time. */
import { connect as tlsConnect } from 'node:tls'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import t from 'tap'
import { PassThrough } from 'node:stream'
import { request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http'
import { HttpRefusal } from '../../../src/service/http/refusal.js'
import { readBody } from '../../../src/service/http/body.js'
import { pairOver } from '../../support/service/devices.js'
import { askBy, serving, type Got, type Serving } from '../../support/service/serving.js'
import type { Loose } from '../../world/place.js'
import { World } from '../../world/world.js'

const inputs = '/api/work-board/inputs'

/** Sends the pieces one after the other and ends the connection there; what came back. */
const cutOff = ({ started }: Serving, pieces: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const { port, certificate } = started.identity
    let got = ''
    const socket = tlsConnect({
      host: '127.0.0.1', port, ca: [certificate], servername: 'localhost',
    }, () => {
      for (const piece of pieces) socket.write(piece)
      socket.end()
    })
    socket.on('data', (chunk) => (got += chunk.toString('latin1')))
    socket.on('close', () => resolve(got))
    socket.on('error', () => resolve(got))
  })

t.test('a body has its type, its length and its bound, and where none is taken none is sent', async (t) => {
  const at = await serving(t, await World.in(t).state().session())
  const cases = [
    ['http_body_missing', await at.ask('POST', inputs)],
    ['http_body_unexpected', await at.ask('POST', '/api/policy/revoke', { body: {} })],
    ['http_body_unexpected', await at.ask('GET', '/api/status', { body: {} })],
    ['http_media_type', await at.ask('POST', inputs, {
      body: {}, headers: { 'Content-Type': 'text/plain' },
    })],
    ['http_media_type', await at.ask('POST', inputs, {
      body: {}, headers: { 'Content-Encoding': 'gzip' },
    })],
    ['http_body_too_large', await at.ask('POST', inputs, { body: ' '.repeat(200_000) })],
    ['json_too_deep', await at.ask('POST', '/api/work-board/tasks', {
      body: `${'['.repeat(40)}${']'.repeat(40)}`,
    })],
    ['http_query', await at.ask('GET', '/api/status?x')],
  ] as const
  t.strictSame(cases.map(([, got]) => got.json().error.code), cases.map(([code]) => code))
  t.strictSame(cases.map(([, { status }]) => status), [400, 400, 400, 415, 415, 413, 400, 400])
  const chunked = await at.ask('POST', inputs, {
    body: ' '.repeat(200_000), headers: { 'Transfer-Encoding': 'chunked' },
  }).catch(() => null)
  t.ok(chunked === null || chunked.status === 413, 'too large without saying so')
})

t.test('what a device or a page says is JSON by its type, too, or is not read', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world, { page: null })
  const { credential } = await pairOver(world, at)
  const { port } = new URL(at.started.page?.url ?? '')
  const asks: Readonly<Record<string, (options: object) => Promise<Got>>> = {
    pairings: (options) => at.ask('POST', '/api/edge/pairings', { token: null, ...options }),
    spool: (options) =>
      at.ask('POST', '/api/edge/pairing/spool', { token: credential, ...options }),
    page: (options) =>
      askBy(httpRequest, { port, method: 'POST', path: '/api/page/open' }, options),
  }
  for (const [name, ask] of Object.entries(asks)) {
    for (const headers of [{ 'Content-Type': 'text/plain' }, { 'Content-Encoding': 'gzip' }]) {
      const got = await ask({ body: {}, headers })
      t.strictSame([got.status, got.json().error.code], [415, 'http_media_type'], name)
    }
    const large = await ask({ body: ' '.repeat(200_000) })
    t.strictSame([large.status, large.json().error.code], [413, 'http_body_too_large'], name)
  }
})

/** A path of the description that could be one of a row. */
const filled = (path: string): string => path.replace(/\{\w+\}/g, 'x_1')

t.test('no endpoint takes a body that it does not describe, whoever may ask it, and none of the page does', async (t) => {
  const at = await serving(t, await World.in(t).state().session(), { page: null })
  const { paths } = (await at.ask('GET', '/openapi.json')).json()
  const bodiless = Object.entries<Loose>(paths).flatMap(([path, methods]) =>
    Object.keys(methods).filter((method) => methods[method].requestBody === undefined)
      .map((method) => [method.toUpperCase(), filled(path)] as const))
  t.ok(bodiless.length > 30)
  for (const [method, path] of bodiless) {
    for (const headers of [{}, { 'Transfer-Encoding': 'chunked' }]) {
      const got = await at.ask(method, path, { body: {}, headers })
      t.equal(got.json().error?.code, 'http_body_unexpected', `${method} ${path}`)
    }
  }
  const { port } = new URL(at.started.page?.url ?? '')
  for (const [method, path] of [
    ['GET', '/'], ['GET', '/page.js'], ['GET', '/page.css'], ['GET', '/icon.svg'],
    ['POST', '/api/page/close'], ['POST', '/api/page/report'], ['GET', '/report/x_1'],
  ] as const) {
    const got = await askBy(httpRequest, { port, method, path }, { body: {} })
    t.equal(got.json().error?.code, 'http_body_unexpected', `the page: ${method} ${path}`)
  }
})

t.test('a body that ends before its length makes nothing and says so where anybody still listens', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const before = world.place.stateDir
  const head = [
    `POST ${inputs} HTTP/1.1`, `Host: 127.0.0.1:${at.started.identity.port}`,
    `Authorization: Bearer ${at.token()}`, 'Content-Type: application/json',
    'Content-Length: 90', '', '{"schema":',
  ].join('\r\n')
  const got = await cutOff(at, [head])
  t.ok(got === '' || /http_body_cut_short|400 Bad Request/.test(got), got)
  t.equal((await at.ask('GET', '/healthz')).status, 200)
  t.equal((await world.run(['state', 'check'])).status, 0, before)
})

t.test('what a session may is asked again behind the body: one that ended meanwhile writes nothing', async (t) => {
  const world = await World.in(t).state().session()
  const at = await serving(t, world)
  const token = at.token()
  const { port, certificate } = at.started.identity
  const body = JSON.stringify({
    schema: 'svc.alpha.text.input.v1', question: 'q', max_output_tokens: 1,
  })
  const answer = await new Promise<string>((resolve, reject) => {
    let got = ''
    const socket = tlsConnect({
      host: '127.0.0.1', port, ca: [certificate], servername: 'localhost',
    }, () => socket.write([
      `POST ${inputs} HTTP/1.1`, `Host: 127.0.0.1:${port}`, `Authorization: Bearer ${token}`,
      'Content-Type: application/json', 'Expect: 100-continue',
      `Content-Length: ${body.length}`, '', '',
    ].join('\r\n')))
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      const first = got === ''
      got += chunk
      if (first) void world.run(['logout']).then(() => socket.write(body), reject)
      if (/\}\n$/.test(got)) resolve(got)
    })
    socket.on('error', reject)
  })
  t.match(answer, /HTTP\/1\.1 401[\s\S]*"code":"session_(ended|invalid)"/)
  t.equal((await at.ask('POST', '/api/work-board/tasks', {
    body: {
      kind: 'inference.alpha-text.v1', input_artifact_id: 'art_x',
      idempotency_key: randomUUID(),
    },
  })).status, 401)
})

t.test('a body that does not come in its time is given up, whatever of it came', async (t) => {
  const request = new PassThrough() as unknown as IncomingMessage
  const response = {} as ServerResponse
  const reading = readBody({
    request, response, bytesMax: 10, expectsContinue: false, msMax: 5,
  })
  const refused = await reading.then(() => null, (error: unknown) => error)
  t.ok(refused instanceof HttpRefusal)
  t.equal((refused as HttpRefusal).status, 408)
  t.equal((refused as HttpRefusal).error.code, 'http_body_slow')
})

t.test('a body whose client went away before it was wanted is given up at once', async (t) => {
  const request = new PassThrough()
  request.destroy()
  await once(request, 'close')
  const asked: string[] = []
  const reading = readBody({
    request: request as unknown as IncomingMessage,
    response: { writeContinue: () => asked.push('continue') } as unknown as ServerResponse,
    bytesMax: 10, expectsContinue: true, msMax: 5,
  })
  const refused = await reading.then(() => null, (error: unknown) => error)
  t.equal((refused as HttpRefusal).error.code, 'http_body_cut_short', 'and not that it was slow')
  t.strictSame(asked, [])
})
