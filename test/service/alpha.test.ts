/** The text capability over HTTP: the checks of its rows, with a request in place of the verb. */
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { alphaCapability } from '../../src/alpha/constants.js'
import { dropInput, keptInputMs, takeKeptInput } from '../../src/alpha/ask/kept-input.js'
import { keyOf, type Answered } from '../../src/service/route.js'
import { alphaRoutes } from '../../src/service/routes/alpha.js'
import { gate } from '../support/gate.js'
import { failure, must } from '../support/must.js'
import { until } from '../support/until.js'
import { processWorld, serving, type Got, type Serving } from '../support/service/serving.js'
import { t } from '../support/tests-in-slices.js'
import { question } from '../world/alpha.js'
import type { Teardown } from '../world/place.js'
import { World, type AlphaWorld } from '../world/world.js'

const schema = 'svc.alpha.text.input.v1'
const input = (over: object = {}): object =>
  ({ schema, question, max_output_tokens: 100, ...over })

const setup = async (t: Teardown, options = {}) => {
  const world = await World.in(t).sandbox().state().session().alpha(options)
  return { world, at: await serving(t, world) }
}

const handIn = async (at: Serving, over: object = {}): Promise<string> => {
  const got = await at.ask('POST', '/api/work-board/inputs', { body: input(over) })
  if (got.status !== 201) throw new Error(got.bytes.toString())
  return String(got.json()['input_artifact_id'])
}

const create = (
  at: Serving, id: string, key: string = randomUUID(), headers = {}, over: object = {},
) => at.ask('POST', '/api/work-board/tasks', {
  headers,
  body: {
    kind: alphaCapability, input_artifact_id: id, idempotency_key: key, ...over,
  },
})

t.test('A-099 A-102 A-131 A-132 A-133 a question over HTTP: handed in, asked once, read back', async (t) => {
  const { world, at } = await setup(t)
  const id = await handIn(at)
  const key = randomUUID()
  const made = await create(at, id, key)
  t.equal(made.status, 202)
  const task = made.json()
  t.hasStrict(task, { schema: 'sallyport.task.v1', idempotency_key: key })
  const path = `/api/work-board/tasks/${String(task['id'])}`
  await until('the answer', async () => (await at.get(path)).task.state === 'succeeded')
  const output = await at.get(`${path}/alpha-text/output`)
  const { stdout } = must(await world.run(['alpha', 'output', String(task['id']), '--json']))
  t.strictSame(output, JSON.parse(stdout), 'the same document as the verb gives')
  t.equal(world.inferences().length, 1)
  t.matchStrict(JSON.parse(String(world.inferences()[0]?.body)), { max_tokens: 100 })
  const again = await create(at, id, key)
  t.equal(again.status, 200, 'the same key finds the answer')
  t.equal(again.json()['answer'], output['answer'])
  const other = await handIn(at, { max_output_tokens: 99 })
  const conflict = await create(at, other, key)
  t.equal(conflict.status, 409)
  t.hasStrict(conflict.json(), { error: { code: 'idempotency_conflict', status: 409 } })
  const used = await create(at, id)
  t.equal(used.status, 409)
  t.hasStrict(used.json(), { error: { code: 'input_used' } })
  t.equal(world.inferences().length, 1, 'nothing else was sent')
  t.equal((await world.run(['state', 'check'])).status, 0)
})

t.test('A-093 A-094 A-095 A-096 A-098 an input that is none is refused as at the terminal, and nothing is kept', async (t) => {
  const { world, at } = await setup(t)
  const files = () => readdirSync(join(world.place.stateDir, 'artifacts'), { recursive: true })
  const before = files()
  const refused: readonly (readonly [string, unknown, number])[] = [
    ['an extra field', input({ owner: 'me' }), 400],
    ['a field of authority', input({ consent: 'yes' }), 400],
    ['another schema', input({ schema: 'svc.alpha.text.input.v2' }), 400],
    ['an empty question', input({ question: '' }), 400],
    ['a question of 8193 bytes', input({ question: 'ä'.repeat(4_096) + 'b' }), 400],
    ['no tokens', input({ max_output_tokens: 0 }), 400],
    ['too many tokens', input({ max_output_tokens: 1_025 }), 400],
    ['half a token', input({ max_output_tokens: 1.5 }), 400],
    ['tokens as text', input({ max_output_tokens: '5' }), 400],
    ['true', input({ max_output_tokens: true }), 400],
    ['1e2', `{"schema":"${schema}","question":"q","max_output_tokens":1e2}`, 400],
    ['a key twice',
      `{"schema":"${schema}","question":"q","question":"r","max_output_tokens":1}`, 400],
    ['a byte order mark', `\uFEFF${JSON.stringify(input())}`, 400],
    ['an array', [], 400],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 400],
  ]
  for (const [what, body, status] of refused) {
    const got = await at.ask('POST', '/api/work-board/inputs', { body })
    t.equal(got.status, status, what)
    t.notOk(got.bytes.includes('MARK-'), 'it quotes nothing')
  }
  t.strictSame(files(), before)
  const above = await handIn(at, { max_output_tokens: 257 })
  const capped = await create(at, above)
  t.equal(capped.status, 400, 'above the configured maximum')
  t.hasStrict(capped.json(), { error: { code: 'max_output_tokens_above_cap' } })
  const key = await create(at, await handIn(at), 'not-a-uuid')
  t.equal(key.status, 400)
  t.strictSame(world.inferences(), [])
})

t.test('A-052 A-063 A-064 A-085 A-051 the configuration is read and saved by the rules of the verb', async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha().gateway()
  const at = await serving(t, world)
  const path = '/api/settings/model-configuration'
  const shown = await at.get(path)
  t.strictSame(shown, JSON.parse(must(await world.run(['config', 'show', '--json'])).stdout))
  const setup = {
    enabled: true, max_output_tokens: 200, timeout_seconds: 20,
    request_cost_bound_microusd: 50_000,
    spend_ceiling_microusd: shown['alpha_text']['spend_ceiling_microusd'],
  }
  const save = async (alpha: object, rest: object) => {
    const got = await at.ask('PUT', path, { body: { alpha_text: alpha, ...rest } })
    return [got.status, got.json()['error']?.['code'] ?? null]
  }
  const revision = shown['policy_revision']
  const yes = { plaintext_provider_egress_acknowledged: true }
  t.strictSame((await save(setup, { expected_policy_revision: revision }))[0], 400)
  t.strictSame(await save({ ...setup, ...yes }, { expected_policy_revision: revision - 1 }),
    [409, 'stale_policy_revision'])
  t.strictNotSame((await save({ ...setup, ...yes }, {}))[0], 200)
  const both = await save({ ...setup, ...yes, spend_ceiling_microusd: 7_000_000 }, {
    expected_policy_revision: revision,
  })
  t.equal(both[0], 409, 'a ceiling that differs from the other route')
  t.equal((await at.get(path))['policy_revision'], revision, 'nothing was published')
  t.strictSame((await save({ ...setup, ...yes }, { expected_policy_revision: revision }))[0], 200)
  const after = await at.get(path)
  t.equal(after['alpha_text']['max_output_tokens'], 200)
})

t.test('A-129 A-130 an answer is for the session that holds its task', async (t) => {
  const { world, at } = await setup(t)
  const made = await create(at, await handIn(at), randomUUID(), { Prefer: 'wait=30' })
  t.equal(made.status, 200)
  const path = `/api/work-board/tasks/${String(made.json()['task']['id'])}/alpha-text/output`
  const { goal_id: goal } = made.json().task
  must(await world.run(['goal', 'update', goal, '--title', 'Another purpose']))
  const changed = await at.ask('GET', path)
  t.not(changed.status, 200, 'the goal is another one')
  t.notOk(changed.bytes.includes('Sandbox answer'))
  const first = at.token()
  for (const token of [null, '', 'x', 'A'.repeat(43), `${first}x`]) {
    const got = await at.ask('GET', path, { token })
    t.equal(got.status, 401)
    t.notOk(got.bytes.includes('Sandbox answer'))
  }
  must(await world.run(['login', '--replace']))
  t.equal((await at.ask('GET', path, { token: first })).status, 401, 'the ended one')
  const later = await at.ask('GET', path)
  t.not(later.status, 200, 'another session of the same owner')
  t.notOk(later.bytes.includes('Sandbox answer'))
  t.hasStrict(later.json(), { error: { details: { task_id: made.json().task.id } } })
})

t.test('A-026 A-186 the same request from a later session of its owner is answered with the first answer, and sends nothing', async (t) => {
  const { world, at } = await setup(t)
  const [id, key] = [await handIn(at), randomUUID()]
  const made = await create(at, id, key, { Prefer: 'wait=30' })
  must(await world.run(['logout']))
  must(await world.run(['login']))
  for (const input of [id, await handIn(at)]) {
    const again = await create(at, input, key)
    t.equal(again.status, 200, again.bytes.toString())
    t.equal(again.json()['answer'], made.json()['answer'])
    t.equal(again.json()['task']['id'], made.json()['task']['id'])
  }
  const path = `/api/work-board/tasks/${String(made.json()['task']['id'])}/alpha-text/output`
  t.equal((await at.get(path)).answer, made.json()['answer'])
  t.equal(world.inferences().length, 1)
})

/** A service whose provider holds every answer back until the gate is open. */
const heldBack = async (t: Teardown) => {
  const held = gate()
  const world = await World.in(t).sandbox({
    hooks: {
      onRequest: async (_service, { route }) => {
        if (route === 'completion') await held.passed
      },
    },
  }).state().session().alpha()
  t.teardown(held.open)
  return { world, held, at: await serving(t, world) }
}

/** Posts by the route itself; another request comes in between its look at the rows and its ask. */
const overtaken = async (
  world: AlphaWorld, body: object, waitMs: number, sooner: () => Promise<unknown>,
) => {
  let once: Promise<unknown> | null = null
  const observer = {
    at: async (step: string) => {
      if (step === 'ask.admit') await (once ??= sooner())
    },
  }
  const route = alphaRoutes.find((one) => keyOf(one) === 'POST /api/work-board/tasks')
  const store = world.open('write')
  return await route?.run({
    gov: { ...world.gov, store, observer, face: 'service' }, session: world.session(),
    world: processWorld(world, new AbortController().signal),
    asked: { params: {}, query: {}, body: Buffer.from(JSON.stringify(body)), waitMs },
    goOn: (work) => void work.catch(() => undefined),
    cut: () => '', stopped: async () => undefined,
  }) as Answered
}

t.test('A-186 of two equal requests at once the later one is told the task of the sooner one, or its answer where it waits', async (t) => {
  for (const waitMs of [0, 30_000]) {
    const { world, held, at } = await heldBack(t)
    const body = {
      kind: alphaCapability, input_artifact_id: await handIn(at), idempotency_key: randomUUID(),
    }
    const made: Got[] = []
    const told = await overtaken(world, body, waitMs, async () => {
      made.push(await at.ask('POST', '/api/work-board/tasks', { body }))
      if (waitMs > 0) setTimeout(held.open, 50)
    })
    t.strictSame(made.map(({ status }) => status), [202])
    const id: string = made[0]?.json()['id']
    t.hasStrict(told, waitMs === 0 ? { status: 202, document: { id, state: 'running' } }
      : { status: 200, document: { task: { id } } })
    held.open()
    await until('the answer', async () =>
      (await at.get(`/api/work-board/tasks/${id}`)).task.state === 'succeeded')
    t.equal(world.inferences().length, 1)
  }
})

t.test('A-186 a repeat that would wait is answered when the ask ends, or with the task once its time is over', async (t) => {
  const { world, held, at } = await heldBack(t)
  const [id, key] = [await handIn(at), randomUUID()]
  const made = await create(at, id, key)
  await until('it was sent', () => world.inferences().length === 1)
  const short = await create(at, id, key, { Prefer: 'wait=1' })
  t.strictSame([made.status, short.status], [202, 202])
  t.equal(short.json()['state'], 'running')
  const waits = create(at, id, key, { Prefer: 'wait=30' })
  held.open()
  const waited = await waits
  t.equal(waited.status, 200, waited.bytes.toString())
  t.equal(waited.json()['task']['id'], made.json()['id'])
  t.equal(waited.json()['answer'], (await create(at, id, key)).json()['answer'])
  t.equal(world.inferences().length, 1)
})

t.test('an input without a task is gone after a quarter of an hour, and so is its file', async (t) => {
  const world = await World.still(t).sandbox().state().session()
  const at = await serving(t, world)
  const artifacts = join(world.place.stateDir, 'artifacts')
  const files = () => readdirSync(artifacts, { recursive: true }).length
  const before = files()
  const id = await handIn(at)
  t.ok(files() > before)
  world.clock.advance(keptInputMs + 1)
  const store = world.open('write')
  await t.rejects(store.transact('late', (tx) =>
    takeKeptInput(tx, world.clock.wallMs(), world.session(), id, 'task_x')), {
    code: 'input_not_found',
  })
  const late = await create(at, id)
  t.not(late.status, 202)
  const kept = await handIn(at)
  t.ok(kept)
  must(await world.run(['goal', 'add', 'Anything that writes']))
  t.equal((await at.ask('POST', '/api/work-board/tasks', {
    body: { kind: alphaCapability, input_artifact_id: id, idempotency_key: randomUUID() },
  })).json()['error']['code'], 'input_not_found')
  t.equal((await world.run(['state', 'check'])).status, 0)
})

t.test('at most sixteen questions of an owner wait, and another one seals nothing', async (t) => {
  const world = await World.in(t).sandbox().state().session()
  const at = await serving(t, world)
  for (let n = 0; n < 16; n += 1) await handIn(at, { question: `MARK-${n}` })
  const one = await at.ask('POST', '/api/work-board/inputs', { body: input() })
  t.equal(one.status, 409)
  t.equal(one.json().error.code, 'inputs_waiting')
  t.match(one.json().error.hint, /sallyport alpha inputs.*sallyport alpha drop/)
  t.equal((await world.run(['state', 'check'])).status, 0)
})

const drop = (at: Serving, id: string, token?: string) =>
  at.ask('POST', `/api/work-board/inputs/${id}/drop`, token === undefined ? {} : { token })

t.test('questions that wait are listed and dropped, by verb and by route, and another one has room then', async (t) => {
  const world = await World.in(t).sandbox().state().session()
  const at = await serving(t, world)
  const list = async () => (await world.json(['alpha', 'inputs'])).map(
    ({ input_artifact_id: id }: { input_artifact_id: string }) => id)
  t.strictSame(await list(), [])
  const artifacts = join(world.place.stateDir, 'artifacts')
  const files = () => readdirSync(artifacts, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile()).length
  const before = files()
  const ids: string[] = []
  for (let n = 0; n < 16; n += 1) ids.push(await handIn(at, { question: `MARK-${n}` }))
  t.strictSame(await list(), ids, 'oldest first')
  t.strictSame(await at.get('/api/work-board/inputs'), await world.json(['alpha', 'inputs']))
  const said = must(await world.run(['alpha', 'inputs'])).stdout
  t.notMatch(JSON.stringify([said, await at.get('/api/work-board/inputs')]), 'MARK')
  const [first = '', second = '', ...rest] = ids
  t.hasStrict((await drop(at, first)).json(), { input_artifact_id: first, dropped: true })
  must(await world.run(['alpha', 'drop', second]))
  t.strictSame(await list(), rest)
  t.hasStrict((await drop(at, first)).json(), { error: { code: 'input_not_found', status: 404 } })
  t.equal(failure(await world.run(['alpha', 'drop', first, '--json'])).code, 'input_not_found')
  const late = await create(at, first)
  t.hasStrict(late.json(), { error: { code: 'input_not_found' } }, 'nothing is asked of it')
  t.ok(await handIn(at))
  for (const id of await list()) t.equal((await drop(at, id)).status, 200)
  t.equal(files(), before, 'what they asked is gone, too')
  t.equal((await world.run(['state', 'check'])).status, 0)
})

t.test('a session that ends before the record drops no question', async (t) => {
  const world = await World.in(t).sandbox().state().session()
  const at = await serving(t, world)
  const id = await handIn(at)
  const session = world.session()
  must(await world.run(['logout']))
  await t.rejects(dropInput(world.gov, session, id), { code: 'session_ended' })
  must(await world.run(['login']))
  t.hasStrict(await world.json(['alpha', 'inputs']), [{ input_artifact_id: id }])
})

t.test('a question that has its task, or is another owner\'s, is not dropped and not listed', async (t) => {
  const { world, at } = await setup(t)
  const used = await handIn(at)
  t.equal((await create(at, used, undefined, { Prefer: 'wait=30' })).status, 200)
  t.strictSame(await at.get('/api/work-board/inputs'), [])
  t.hasStrict((await drop(at, used)).json(), { error: { code: 'input_used', status: 409 } })
  const mine = await handIn(at)
  const { place } = world
  const [phrase, token] = [place.write('phrase', 'a long passphrase'), place.path('bob')]
  must(await world.run(['principal', 'add', 'bob', '--passphrase-file', phrase]))
  must(await world.run(
    ['login', '--owner', 'bob', '--passphrase-file', phrase, '--token-file', token]))
  const bob = readFileSync(token, 'utf8').trim()
  t.strictSame((await at.ask('GET', '/api/work-board/inputs', { token: bob })).json(), [])
  for (const id of [mine, used]) {
    t.hasStrict((await drop(at, id, bob)).json(), { error: { code: 'input_not_found' } })
    const asked = await at.ask('POST', '/api/work-board/tasks', {
      token: bob, body: {
        kind: alphaCapability, input_artifact_id: id, idempotency_key: randomUUID(),
      },
    })
    t.hasStrict(asked.json(), { error: { code: 'input_not_found', status: 404 } })
  }
  t.equal((await at.get('/api/work-board/inputs')).length, 1, 'it waits on')
  t.equal((await world.run(['state', 'check'])).status, 0)
})
