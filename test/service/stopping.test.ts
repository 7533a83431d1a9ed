/** A stop of the service: nothing new is taken, what goes on comes to its end first. */
import { randomUUID } from 'node:crypto'
import { connect as tlsConnect } from 'node:tls'
import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { alphaCapability } from '../../src/alpha/constants.js'
import { Service } from '../../src/service/service.js'
import { Threads } from '../../src/service/threads.js'
import { newestTask } from '../support/board.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { standInReply } from '../support/service/reply.js'
import { processWorld, serving, type Serving } from '../support/service/serving.js'
import { until } from '../support/until.js'
import { question } from '../world/alpha.js'
import { World } from '../world/world.js'

t.test('what is under way is answered, and nobody else gets in meanwhile', async (t) => {
  let release: () => void = () => undefined
  let asked = 0
  const waiting = new Promise<void>((resolve) => (release = resolve))
  const at = await serving(t, await World.in(t).state().session(), {
    endpoints: [{
      method: 'GET', path: '/slow',
      answer: async () => {
        asked += 1
        await waiting
        return { status: 200, body: { slow: true } }
      },
    }],
  })
  const { port, certificate } = at.started.identity
  const line = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`
  let got = ''
  const socket = tlsConnect({ host: '127.0.0.1', port, ca: [certificate], servername: 'localhost' },
    () => socket.write(line('/slow')))
  socket.on('data', (chunk) => (got += chunk.toString('latin1')))
  socket.on('error', () => undefined)
  const closed = new Promise((resolve) => socket.on('close', resolve))
  await until('the slow one', () => asked === 1)
  let ended = false
  const stopped = at.stop().then(() => (ended = true))
  await t.rejects(at.ask('GET', '/healthz'), { code: 'ECONNREFUSED' }, 'no new connection')
  t.equal(ended, false)
  release()
  await stopped
  await closed
  t.match(got, /HTTP\/1\.1 200[\s\S]*"slow":true/)
  t.equal(asked, 1)
})

t.test('a request on a connection of before is refused by name once it stops', async (t) => {
  const world = await World.in(t).state()
  const { stateDir, configDir } = world.place
  const process = processWorld(world, new AbortController().signal)
  const start = { stateDir, configDir, home: '/', env: {}, execArgv: [] }
  const service = new Service({
    world: process, place: { stateDir, configDir }, threads: new Threads(start), endpoints: [],
  })
  await service.stop()
  const { response, written } = standInReply()
  const request = {
    method: 'GET', url: '/healthz', headers: { host: 'localhost:1' }, complete: true,
    rawHeaders: ['Host', 'localhost:1'],
  } as unknown as IncomingMessage
  await service.handle(request, response, { hosts: ['localhost:1'], scheme: 'https' })
  t.equal(written.status, 503)
  t.match(written.text, '"code":"service_stopping"')
})

const ask = (at: Serving, id: string, key: string) =>
  at.ask('POST', '/api/work-board/tasks', {
    body: { kind: alphaCapability, input_artifact_id: id, idempotency_key: key },
  })

/** A question over HTTP whose service is stopped when the provider comes to a moment of it. */
const stoppedAt = async (
  t: Parameters<typeof World.in>[0], moment: 'connected' | 'completion' | 'billing',
) => {
  let stopped: Promise<void> | null = null
  const stop = (now: string): void => {
    if (now === moment) stopped ??= at.stop()
  }
  const world = await World.in(t).sandbox({
    hooks: {
      onConnect: async () => stop('connected'),
      onRequest: async (_service, { route }) => stop(route),
    },
  }).state().session().alpha()
  const at = await serving(t, world)
  const { input_artifact_id: id } = (await at.ask('POST', '/api/work-board/inputs', {
    body: { schema: 'svc.alpha.text.input.v1', question, max_output_tokens: 100 },
  })).json()
  const key = randomUUID()
  const made = await ask(at, id, key)
  await until('it is stopped', () => stopped !== null)
  await at.stop()
  return { world, id, key, made }
}

for (const moment of ['completion', 'billing'] as const) {
  t.test(`a question whose ${moment} is under way when the service is stopped is answered, and nobody is told to have cancelled it`, async (t) => {
    const { world, id, key, made } = await stoppedAt(t, moment)
    t.equal(made.status, 202)
    t.hasStrict(newestTask(world), { state: 'succeeded', cancel_requested_at: null })
    t.strictSame(await world.json(['audit', 'list', '--what', 'task.cancel_requested']), [])
    t.ok((checkLedger(t, world)?.settled_microusd ?? 0) > 0)
    const { answer } = must(
      await world.run(['alpha', 'output', newestTask(world).task_id, '--json'])).json()
    const again = await ask(await serving(t, world), id, key)
    t.equal(again.status, 200, 'the same key finds what was paid for')
    t.equal(again.json()['answer'], answer)
    t.equal(world.inferences().length, 1)
  })
}

t.test('a question that has not left when the service is stopped ends as cancelled, and holds nothing', async (t) => {
  const { world } = await stoppedAt(t, 'connected')
  t.hasStrict(newestTask(world), {
    state: 'cancelled', reason: 'cancelled_before_contact', cancel_requested_at: null,
  })
  t.hasStrict(checkLedger(t, world), { held_microusd: 0, unknown_microusd: 0, settled_microusd: 0 })
  t.equal(world.inferences().length, 0)
})
