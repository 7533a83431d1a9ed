/**
 * Nothing private is found in the clear: not in a log, an error text, the arguments of a process,
 * the state directory or a temporary file, however an ask or a save ended. One deployment goes
 * through every kind of ending; everything it wrote and said is searched byte by byte.
 */
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { collections } from '../src/governance/rows.js'
import { recover } from './support/ledger.js'
import type { Ran } from './world/place.js'
import { leakWorld, marks, texts, type LeakWorld } from './support/leak-world.js'

const bound = 50_000

const expect = (t: Test, ran: Ran, status: number, what: string): Ran => {
  t.equal(ran.status, status, `${what}: ${ran.stderr}`)
  return ran
}

const taskOf = (ran: Ran): string => String(ran.error().details.task_id)

const succeed = async (t: Test, world: LeakWorld): Promise<void> => {
  const text = expect(t, await world.ask({ released: true, process: true }), 0, 'an ask')
  t.equal(text.stdout, texts.answer, 'the answer is released, and only there')
  const flags = ['--json', '--verbose']
  const ran = expect(t, await world.ask({ released: true, process: true, flags }), 0, 'in JSON')
  const { id } = ran.json<{ task: { id: string } }>().task
  expect(t, await world.command(['alpha', 'output', id], { released: true }), 0, 'its output')
  for (const argv of [['alpha', 'task', id], ['alpha', 'tasks'], ['task', 'show', id, '--json']]) {
    expect(t, await world.command(argv), 0, argv.join(' '))
  }
}

const fail = async (t: Test, world: LeakWorld): Promise<void> => {
  const flags = ['--json', '--verbose']
  for (const route of ['completion', 'billing']) {
    const twice = `{"id":"${marks.body}","id":"${marks.body}"}`
    for (const body of [`${marks.body} is no JSON`, twice]) {
      world.reply = { raw: { route, body } }
      expect(t, await world.ask({ flags }), 7, `a broken ${route}`)
    }
  }
  world.reply = { choices: 2 }
  expect(t, await world.ask({ flags }), 9, 'two choices: charged, rejected')
  world.reply = {}
}

const overrun = async (t: Test, world: LeakWorld): Promise<void> => {
  world.reply = { costNanoUsd: (bound + 1) * 1000 }
  const accepted = taskOf(expect(t, await world.ask({ flags: ['--json'] }), 7, 'an overrun'))
  const rejected = taskOf(expect(t, await world.ask({ flags: ['--json'] }), 7, 'another'))
  world.reply = {}
  expect(t, await world.command(['alpha', 'output', accepted]), 7, 'held back')
  expect(t, await world.command(['alpha', 'review', accepted, '--accept-overrun']), 0, 'accepted')
  const output = await world.command(['alpha', 'output', accepted], { released: true })
  t.equal(expect(t, output, 0, 'read').stdout, texts.answer)
  expect(t, await world.command(['alpha', 'review', rejected, '--reject']), 0, 'rejected')
}

const interrupt = async (t: Test, world: LeakWorld): Promise<void> => {
  world.during('completion', (child) => void child.kill('SIGINT'))
  const interrupted = await world.ask({ process: true, flags: ['--verbose'] })
  expect(t, interrupted, 130, 'interrupted after the first byte')
  for (const step of [
    'ask.admitted', 'ask.contact_intent', 'ask.replied', 'ask.billing_1', 'ask.charge_known',
    'ask.answer_sealed', 'ask.finished',
  ]) {
    expect(t, await world.ask({ env: { TEST_STOP_AT: step } }), 137, `killed at ${step}`)
  }
  for (const step of ['ask.reserved', 'ask.replied', 'ask.answer_sealed']) {
    const env = { TEST_STOP_AT: step, TEST_STOP_DO: 'throw' }
    const ran = await world.ask({ env, flags: ['--verbose'] })
    t.not(ran.status, 0, `a defect at ${step}, with its stack`)
  }
}

const save = async (t: Test, world: LeakWorld): Promise<void> => {
  const revision = async (): Promise<string> => {
    // What an interrupted save left raises the revision when it is resolved.
    await recover(world.rig)
    return String(await world.rig.revision())
  }
  const key = world.file('second-key', `${marks.secondKey}\n`)
  const setup = async (...more: string[]): Promise<string[]> => [
    'alpha', 'setup', '--enable', '--acknowledge-plaintext-egress', '--verbose',
    '--expected-policy-revision', await revision(), ...more,
  ]
  for (const step of ['save.revoked', 'save.credential', 'save.accounting', 'save.published']) {
    const argv = await setup('--api-key-file', key)
    expect(t, await world.command(argv, { env: { TEST_STOP_AT: step } }), 137, step)
  }
  expect(t, await world.command(await setup('--api-key-file', key), { process: true }), 0, 'saved')
  const stdin = `${marks.secondKey}-b`
  expect(t, await world.command(await setup('--api-key-file', '-'), { stdin }), 0, 'from stdin')
  const broken = await setup('--api-key-file', world.file('lines', `${marks.secondKey}\nmore\n`))
  expect(t, await world.command(broken), 3, 'a key of two lines')
  const config = {
    gateway: {
      api_key: marks.gatewayKey, spend_ceiling_microusd: 1_000_000,
      cloud_egress_acknowledged: true, consents: ['gateway.chat'],
      slots: { chat: { model: 'gateway/acme/chat-1', upstream_allow: ['acme-host'] } },
    },
    expected_policy_revision: Number(await revision()),
  }
  const from = world.file('config.json', JSON.stringify(config))
  expect(t, await world.command(['config', 'save', '--from', from]), 0, 'the gateway')
  expect(t, await world.command(['gateway', 'prove', 'chat', '--json']), 0, 'its proof')
  for (const argv of [['config', 'show'], ['gateway', 'show', '--json'], ['alpha', 'show']]) {
    expect(t, await world.command(argv), 0, argv.join(' '))
  }
}

const refuse = async (t: Test, world: LeakWorld): Promise<void> => {
  const bad = (name: string, value: unknown): string => world.file(name, JSON.stringify(value))
  const input = {
    schema: 'svc.alpha.text.input.v1', question: marks.question, max_output_tokens: 5,
  }
  const cases: [string, string[], string | undefined][] = [
    ['too long', ['alpha', 'ask', '-'], marks.question.repeat(600)],
    ['no JSON', ['alpha', 'ask', '--from', '-'], `{"question":"${marks.question}"`],
    ['a strange field', ['alpha', 'ask', '--from', bad('a', {
      ...input, [marks.input]: marks.input,
    })], undefined],
    ['a value of another type', ['alpha', 'ask', '--from', bad('b', {
      ...input, max_output_tokens: marks.input,
    })], undefined],
    ['a strange setting', ['alpha', 'setup', '--from', bad('c', {
      alpha_text: { api_key: marks.secondKey, [marks.input]: marks.input },
      expected_policy_revision: 1,
    })], undefined],
  ]
  for (const [what, argv, stdin] of cases) {
    const ran = await world.command([...argv, '--json', '--verbose'], stdin ? { stdin } : {})
    expect(t, ran, 3, what)
  }
  const phrase = world.file('phrase', `${marks.passphrase}\n`)
  const wrong = world.file('wrong', `${marks.passphrase}-not\n`)
  const owner = ['--owner', 'other', '--passphrase-file']
  const adding = ['principal', 'add', 'other', '--passphrase-file', phrase]
  expect(t, await world.command(adding), 0, 'add')
  expect(t, await world.command(['login', ...owner, wrong, '--verbose']), 4, 'a wrong passphrase')
  expect(t, await world.command(['login', ...owner, phrase, '--json']), 0, 'the right one')
}

const keep = async (t: Test, world: LeakWorld): Promise<void> => {
  const backup = join(world.rig.place.dir, 'backup')
  for (const argv of [
    ['state', 'backup', backup], ['state', 'compact'], ['state', 'check', '--json'], ['doctor'],
    ['status', '--json'], ['ledger', 'show'], ['ledger', 'reservations', '--json'],
    ['policy', 'history'], ['session', 'list', '--json'],
  ]) {
    expect(t, await world.command(argv), 0, argv.slice(0, 2).join(' '))
  }
}

t.test('A-041 A-101 A-104 A-106 A-108 A-125 A-126 A-165 A-178 nothing private is ever found in the clear', async (t) => {
  const world = await leakWorld(t)
  await succeed(t, world)
  await fail(t, world)
  await overrun(t, world)
  await interrupt(t, world)
  t.strictSame(world.findings(), [], 'nothing after the asks')
  await save(t, world)
  await refuse(t, world)
  await keep(t, world)
  t.strictSame(world.findings(), [], 'nothing at the end')
  const view = world.rig.view()
  const answers = view.all(collections.artifacts).filter(({ doc }) => doc.label.includes('answer'))
  t.ok(answers.length >= 4, 'answers were kept, sealed')
  t.ok(world.rig.inferences().every(({ body }) => body.includes(marks.question)), 'and asked')
  t.ok(world.searches() > 100, `${world.searches()} searches`)
})
