import t from 'tap'
import { newRequestLog } from '../../src/sandbox/log.js'
import type { SandboxHooks, SeenRequest } from '../../src/sandbox/types.js'
import { gate } from '../support/gate.js'
import { ask, askGateway, completionBody } from '../support/sandbox/asks.js'
import { jsonOf, post } from '../support/sandbox/https-post.js'
import { World } from '../world/world.js'
import { timeOf } from '../support/speed.js'

t.test('the record of a request holds what was sent, byte for byte', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const body = completionBody(sandbox)
  await ask(sandbox)
  const [seen] = sandbox.log.all({ service: 'provider', route: 'completion' })
  t.hasStrict(seen, {
    number: 1,
    connection: 1,
    method: 'POST',
    path: '/v1/chat/completions',
    httpVersion: '1.1',
    complete: true,
    aborted: false,
    repliedStatus: 200,
  })
  t.equal(seen?.body.toString(), JSON.stringify(body))
  t.strictSame(seen?.headers.get('authorization'), ['Bearer any-key'])
  t.strictSame(sandbox.log.connections('provider'), { opened: 1, secured: 1 })
  t.strictSame(sandbox.log.connections('gateway'), { opened: 0, secured: 0 })
  sandbox.log.clear()
  t.equal(sandbox.log.count(), 0)
})

t.test('the reply waits for the hook, and a fault set in the hook strikes it', async (t) => {
  const steps: string[] = []
  const hooks: SandboxHooks = {
    onConnect: (service) => void steps.push(`connect ${service}`),
    onSecure: () => void steps.push('secure'),
    onRequest: async (_service, request) => {
      await new Promise((resolve) => setImmediate(resolve))
      steps.push(`request ${request.route}`)
      sandbox.faults.set('status_503', { times: 1 })
    },
    onDone: () => void steps.push('done'),
  }
  const { sandbox } = await World.in(t).sandbox({ hooks })
  t.equal((await ask(sandbox)).status, 503)
  t.strictSame(steps.slice(0, 3), ['connect provider', 'secure', 'request completion'])
})

t.test('the peak of requests at the same moment is counted', async (t) => {
  const { open, passed } = gate()
  let waiting = 0
  const hooks: SandboxHooks = {
    onRequest: async () => {
      waiting += 1
      if (waiting === 3) open()
      await passed
    },
  }
  const { sandbox } = await World.in(t).sandbox({ hooks })
  await Promise.all([ask(sandbox), ask(sandbox), askGateway(sandbox)])
  t.equal(sandbox.log.maxConcurrent(), 3)
  t.equal(sandbox.log.maxConcurrent('provider'), 2)
  t.equal(sandbox.log.maxConcurrent('gateway'), 1)
  sandbox.log.clear()
  await ask(sandbox)
  await ask(sandbox)
  t.equal(sandbox.log.maxConcurrent(), 1)
})

t.test('a client that leaves is recorded as gone, with the bytes that it sent', async (t) => {
  const { open, passed } = gate()
  const done: SeenRequest[] = []
  const hooks: SandboxHooks = {
    onDone: (_service, request) => {
      done.push(request)
      open()
    },
  }
  const { sandbox } = await World.in(t).sandbox({ hooks })
  const bytes = Buffer.from('{"model":')
  const headers = { 'content-length': '500' }
  const reply = await ask(sandbox, {}, { bytes, headers, giveUpMs: timeOf(20) })
  t.equal(reply.error, 'gave_up')
  await passed
  t.hasStrict(done, [{ complete: false, aborted: true, repliedStatus: null }])
  t.equal(done[0]?.body.toString(), '{"model":')
  t.equal(sandbox.log.inProgress(), 0)
})

t.test('a client that leaves a hanging reply is recorded as gone', async (t) => {
  const { open, passed } = gate()
  const { sandbox } = await World.in(t).sandbox({ hooks: { onDone: () => open() } })
  sandbox.faults.set('hang_before_headers')
  await ask(sandbox, {}, { giveUpMs: timeOf(20) })
  await passed
  t.hasStrict(sandbox.log.all()[0], { complete: true, aborted: true, repliedStatus: null })
})

t.test('a hook that throws ends the connection and nothing else', async (t) => {
  let times = 0
  const hooks: SandboxHooks = {
    onRequest: () => {
      times += 1
      if (times === 1) throw new Error('test')
    },
  }
  const { sandbox } = await World.in(t).sandbox({ hooks })
  t.hasStrict(await ask(sandbox), { status: null, error: 'ECONNRESET' })
  t.equal((await ask(sandbox)).status, 200)
})

t.test('a reply can be given byte for byte', async (t) => {
  const { sandbox } = await World.in(t).sandbox()
  const once = { times: 1 }
  sandbox.faults.reply({ status: 418, headers: { 'X-A': '1' }, body: 'tea' }, once)
  const tea = await ask(sandbox)
  t.hasStrict(tea, { status: 418, headers: { 'x-a': '1', 'content-length': '3' }, whole: true })
  t.equal(tea.body.toString(), 'tea')

  const headers = [
    ['Inference-Id', 'a'],
    ['Inference-Id', 'b'],
  ] as const
  sandbox.faults.reply({ headers, chunks: ['{"a":', '', Buffer.from('1}')], chunkDelayMs: 1 }, once)
  const parts = await ask(sandbox)
  t.strictSame(jsonOf(parts), { a: 1 })
  t.equal(parts.headers['transfer-encoding'], 'chunked')
  t.equal(parts.rawHeaders.filter((name) => name === 'Inference-Id').length, 2)

  sandbox.faults.reply({ body: '{}', framing: 'close', delayMs: 1 }, once)
  const close = await ask(sandbox)
  t.hasStrict(close, { status: 200, whole: true })
  t.notOk('content-length' in close.headers)

  sandbox.faults.reply({ headers: { 'Content-Length': '9' }, body: '{}', framing: 'none' }, once)
  t.hasStrict(await ask(sandbox), { status: 200, whole: false })

  sandbox.faults.reply({ body: '{}', framing: 'chunked', end: 'hang' }, once)
  t.hasStrict(await ask(sandbox), { status: 200, whole: true })

  sandbox.faults.reply({ chunks: ['{'], framing: 'close', end: 'reset' }, once)
  t.hasStrict(await ask(sandbox), { whole: false, error: 'ECONNRESET' })

  sandbox.faults.reply({ verbatim: 'HTTP/1.1 200 OK\r\nBad Header\r\n\r\n' }, once)
  t.match((await ask(sandbox)).error, /^HPE_/)

  sandbox.faults.reply({}, once)
  t.hasStrict(await ask(sandbox), { status: 200, headers: { 'content-length': '0' } })
})

t.test('stopping ends whatever waits, and every port is free again', async (t) => {
  const { open, passed } = gate()
  const { sandbox } = await World.in(t).sandbox({ hooks: { onRequest: () => open() } })
  sandbox.faults.set('delay', { value: 1_000_000 })
  const waiting = ask(sandbox)
  await passed
  await sandbox.stop()
  await sandbox.stop()
  t.hasStrict(await waiting, { status: null, error: 'ECONNRESET' })
  t.equal(sandbox.log.inProgress(), 0)
  for (const port of Object.values(sandbox.ports)) {
    const url = `https://127.0.0.1:${port}/`
    t.hasStrict(await post({ url, ca: sandbox.caPem }), { error: 'ECONNREFUSED' })
  }
})

t.test('requests of one kept connection are each recorded', async (t) => {
  const { Agent, request } = await import('node:https')
  const { sandbox } = await World.in(t).sandbox()
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca: sandbox.caPem })
  t.teardown(() => agent.destroy())
  const get = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const url = `https://127.0.0.1:${sandbox.ports.gateway}/api/v1/models`
      request(url, { agent }, (incoming) => incoming.resume().on('end', resolve))
        .on('error', reject)
        .end()
    })
  for (let at = 0; at < 15; at += 1) await get()
  t.equal(sandbox.log.count({ route: 'unknown' }), 15)
  t.equal(sandbox.log.connections('gateway').opened, 1)
  t.ok(sandbox.log.all().every((one) => one.connection === 1))
})

t.test('bodies beyond the memory limit are let go, the oldest first', async (t) => {
  const log = newRequestLog(10)
  const seen = (body: string): SeenRequest =>
    log.begin({
      service: 'provider',
      connection: 1,
      route: 'completion',
      method: 'POST',
      path: '/',
      httpVersion: '1.1',
      headers: new Map(),
      rawHeaders: [],
      receivedAtMs: 0,
      body: Buffer.from(body),
      bodyBytes: body.length,
      bodySha256: '',
      complete: true,
      aborted: false,
      faults: [],
      violations: [],
      attempt: 1,
      repliedStatus: 200,
    })
  for (const body of ['first', 'next', 'last']) log.end(seen(body))
  t.strictSame(
    log.all().map((one) => one.body.toString()),
    ['', 'next', 'last'],
  )
  log.clear()
  log.end(seen('way too long'))
  t.equal(log.all()[0]?.body.length, 0)
})
