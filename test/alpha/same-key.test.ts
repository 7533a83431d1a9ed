/** The same key finds its answer from a later session too; where it may not, the way on works. */
import { randomUUID } from 'node:crypto'
import type { Test } from 'tap'
import { ask as askOnce } from '../../src/alpha/ask/ask.js'
import { deploymentProfile } from '../../src/governance/profile.js'
import type { Tx } from '../../src/state/types.js'
import { rowsUnder } from '../../src/state/indexes.js'
import { collections, auditByName } from '../../src/governance/rows.js'
import { newestTask } from '../support/board.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import type { Ran } from '../world/place.js'
import { limits, question } from '../world/alpha.js'
import { World, type AlphaWorld } from '../world/world.js'

const asking = (rig: AlphaWorld) => {
  const key = randomUUID()
  return (env = {}) => rig.ask({ args: ['--idempotency-key', key], env })
}

const newSession = async (rig: AlphaWorld): Promise<string> => {
  must(await rig.run(['logout']))
  return must(await rig.run(['login', '--json'])).json().root.id as string
}

const recoveries = (rig: AlphaWorld) =>
  rowsUnder(rig.view(), collections.audit, auditByName, { under: ['task.recovered'] })
    .map(({ doc }) => doc)

/** Types the commands of a refusal that need no word filled in, one after the other. */
const typeNext = async (t: Test, rig: AlphaWorld, ran: Ran, more: readonly string[] = []) => {
  const next = ran.error().next as readonly { readonly command: string }[]
  const lines = next.map(({ command }) => command.split(' ').slice(1)
    .map((word) => word === 'USD' ? '0.000009usd' : word))
  t.ok(lines.length > 0, 'it names a command')
  for (const [at, line] of lines.entries()) {
    const last = at === lines.length - 1
    const typed = await rig.run([...line, ...(last ? more : []), '--no-input'])
    t.equal(typed.status, 0, `${line.join(' ')}: ${typed.stderr}`)
  }
}

t.test('A-026 A-130 A-186 a repeat in a later session finds the answer of a finished ask, takes the task over with an audit row, and sends nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const ask = asking(rig)
  const first = must(await ask()).json()
  const root = await newSession(rig)
  const output = ['alpha', 'output', first.task.id, '--json']
  const before = await rig.run(output)
  t.strictSame([before.status, before.stdout], [4, ''], 'reading it is another matter')
  t.hasStrict(before.error(), { code: 'root_replaced', details: { task_id: first.task.id } })

  const again = await ask()
  t.equal(again.status, 0, again.stderr)
  t.hasStrict(again.json(), { task: { id: first.task.id }, answer: first.answer })
  t.matchOnlyStrict(recoveries(rig), [{
    ...recoveries(rig)[0], root, subject: first.task.id, principal: String,
  }])
  t.equal(must(await rig.run(output)).json().answer, first.answer, 'it is this session’s now')
  must(await ask())
  t.equal(recoveries(rig).length, 1, 'a third time there is nothing to take over')
  t.equal(rig.inferences().length, 1)
  await newSession(rig)
  await typeNext(t, rig, await rig.run(output))
  must(await rig.run(output))
  t.equal((await rig.run(['state', 'check'])).status, 0)
})

t.test('A-186 a repeat ends with the status that the first run told, whatever it was', async (t) => {
  const revoke = (rig: AlphaWorld) => rig.run(['policy', 'revoke'])
  const cases: Readonly<Record<string, {
    readonly status: number
    readonly faults?: readonly string[]
    readonly at?: string
  }>> = {
    'refused unsent': { status: 4, at: 'ask.slot' },
    'refused after its reply': { status: 4, at: 'ask.replied' },
    'not as asked': { status: 9, faults: ['refusal'] },
    'not as asked, and above its bound': { status: 7, faults: ['refusal', 'billing_overrun'] },
  }
  for (const [name, { status, faults = [], at }] of Object.entries(cases)) {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const args = ['--idempotency-key', randomUUID()]
    for (const fault of faults) {
      rig.sandbox.faults.set(fault, {
        service: 'provider', ...(fault === 'refusal' ? {} : { value: limits.boundMicrousd }),
      })
    }
    const first = await rig.ask({
      args, at: async (step) => { if (step === at) must(await revoke(rig)) },
    })
    const again = await rig.ask({ args })
    t.strictSame([first.status, again.status], [status, status], `${name}: ${again.stderr}`)
    t.equal(again.error().reason, first.error().reason)
    t.ok(rig.inferences().length <= 1)
  }
})

t.test('A-186 an ask that was cancelled behind its request ends with 130, and with 7 and its review where its charge passed the bound, as often as its key is repeated', async (t) => {
  for (const dear of [false, true]) {
    const rig = await World.in(t).sandbox().state().session().alpha()
    const args = ['--idempotency-key', randomUUID()]
    if (dear) {
      rig.sandbox.faults.set('billing_overrun', {
        service: 'provider', value: limits.boundMicrousd, times: 1,
      })
    }
    const first = await rig.ask({
      args, at: async (step) => {
        if (step === 'ask.replied') must(await rig.run(['task', 'cancel', newestTask(rig).task_id]))
      },
    })
    t.strictSame([first.status, first.stdout], [dear ? 7 : 130, ''], first.stderr)
    const { operation_id: id } = newestTask(rig)
    t.hasStrict(newestTask(rig), { state: 'cancelled', result_artifact_id: null })
    const again = await rig.ask({ args })
    t.strictSame([again.status, again.error()], [first.status, first.error()])
    t.strictSame(first.error().next, dear
      ? [{ command: `sallyport ledger review ${id}`, needs_person: true }] : [])
    if (dear) {
      await typeNext(t, rig, again, ['--accept'])
      t.equal((await rig.ask({ args })).status, 130, 'nothing waits any more')
    }
    t.equal(newestTask(rig).state, 'cancelled')
    t.equal(rig.inferences().length, 1)
    t.equal(checkLedger(t, rig)?.unknown_microusd, 0)
    must(await rig.run(['state', 'check']))
  }
})

t.test('A-130 A-186 a goal that was edited since is followed by the repeat, as by a recovery', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const ask = asking(rig)
  const { task } = must(await ask()).json()
  must(await rig.run(['goal', 'update', task.goal_id, '--title', 'Otherwise']))
  t.equal((await rig.run(['alpha', 'output', task.id, '--json'])).error().code, 'goal_changed')
  t.equal(must(await ask()).json().task.id, task.id)
  must(await rig.run(['alpha', 'output', task.id]))
  t.equal(rig.inferences().length, 1)
})

t.test('A-189 another owner, or other content, under the same key learns nothing of the task', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const key = randomUUID()
  const asked = (args: readonly string[] = [], env = {}) =>
    rig.ask({ args: ['--idempotency-key', key, ...args], env })
  const { task } = must(await asked()).json()
  await newSession(rig)
  const other = await asked(['--max-output-tokens', '7'])
  t.equal(other.error().code, 'idempotency_conflict')
  t.notMatch(other.stderr, task.id)
  const phrase = rig.place.write('phrase', 'correct horse battery\n')
  must(await rig.run(['principal', 'add', 'bob', '--passphrase-file', phrase]))
  must(await rig.run(['login', '--owner', 'bob', '--passphrase-file', phrase, '--replace']))
  const bob = await asked()
  t.equal(bob.error().code, 'idempotency_conflict')
  t.notMatch(bob.stderr, task.id)
  t.strictSame(recoveries(rig), [])
  t.equal(rig.inferences().length, 1)
})

t.test('A-122 A-128 an ask that is not finished is not taken over by a repeat: it tells its task, and what it says to do works', async (t) => {
  const ends = [
    { fault: 'billing_no_entry', state: 'blocked', next: ['--yes'], after: 'blocked' },
    { fault: 'billing_overrun', state: 'blocked', next: ['--accept-overrun'], after: 'succeeded' },
  ]
  for (const { fault, state, next, after } of ends) {
    const rig = await World.in(t).sandbox().state().session().alpha()
    rig.sandbox.faults.set(fault, {
      service: 'provider',
      ...(fault === 'billing_overrun' ? { value: limits.boundMicrousd } : {}),
    })
    const ask = asking(rig)
    const { task_id: id } = (await ask()).error().details
    await newSession(rig)
    const again = await ask()
    t.equal(again.status, 7, fault)
    t.hasStrict(again.error().details, { task_id: id, state })
    t.strictSame(recoveries(rig), [], 'nothing was taken over')
    await typeNext(t, rig, again, next)
    t.equal(must(await rig.run(['task', 'show', id, '--json'])).json().task.state, after, fault)
    t.equal(rig.inferences().length, 1)
  }
})

t.test('a repeat of an ask that failed tells how it ended, from any session', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  rig.sandbox.faults.set('refusal', { service: 'provider' })
  const ask = asking(rig)
  const { task_id: id } = (await ask()).error().details
  await newSession(rig)
  const again = await ask()
  t.hasStrict(again.error(), {
    code: 'ask_failed', reason: 'completion_refusal', details: { task_id: id },
  })
  await typeNext(t, rig, again)
  t.equal(rig.inferences().length, 1)
})

t.test('a repeat of an ask that a person ended ends as the first run, and says that nobody else did', async (t) => {
  const ends = [
    { fault: 'billing_status_500', reason: 'charge_settled_by_hand', act: [
      ['ledger', 'settle', 'OP', '--amount', '0usd', '--yes'], ['task', 'close', 'TASK'],
    ] },
    { fault: 'billing_overrun', reason: 'overrun_rejected', act: [
      ['task', 'review', 'TASK', '--reject'],
    ] },
  ]
  for (const { fault, reason, act } of ends) {
    const rig = await World.in(t).sandbox().state().session().alpha()
    rig.sandbox.faults.set(fault, {
      service: 'provider',
      ...(fault === 'billing_overrun' ? { value: limits.boundMicrousd } : {}),
    })
    const ask = asking(rig)
    const first = await ask()
    const { task_id: task, operation_id: operation } = first.error().details
    for (const line of act) {
      must(await rig.run(line.map((word) =>
        (word === 'OP' ? operation : word === 'TASK' ? task : word) as string)))
    }
    const again = await ask()
    t.strictSame([first.status, again.status, again.stdout], [7, 7, ''], reason)
    t.hasStrict(again.error(), { code: 'ask_blocked', reason, details: { task_id: task } })
    t.match(again.error().message, 'A person ended this ask')
    await typeNext(t, rig, again)
    t.equal(rig.inferences().length, 1)
  }
})

t.test('A-026 a repeat that another session of its owner overtook before it was admitted finds that answer, and sends nothing', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  const session = rig.session()
  const key = randomUUID()
  const real = rig.open('write')
  let id = ''
  let sealed = 0
  const overtaken = async (): Promise<void> => {
    must(await rig.run(['login']))
    id = must(await rig.ask({ args: ['--idempotency-key', key] })).json().task.id
    sealed = real.artifacts.list().length
  }
  const store = new Proxy(real, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (name !== 'transact') {
        return typeof value === 'function' ? (value.bind(target) as unknown) : value
      }
      return async (verb: string, fn: (tx: Tx) => unknown) => {
        if (id === '') await overtaken()
        return real.transact(verb, fn)
      }
    },
  })
  const found = await askOnce({
    gov: { ...rig.gov, store }, provider: deploymentProfile(real).provider,
    signal: new AbortController().signal,
    client: async () => ({ request: async () => { throw new Error('nobody is contacted') } }),
  }, session, { question, maxOutputTokens: null, goalId: null, idempotencyKey: key })
  t.equal(found.task.task_id, id)
  t.equal(found.task.current_root, session.root.root_id)
  t.equal(rig.inferences().length, 1)
  t.equal(real.artifacts.list().length, sealed - 1, 'its own question, which no task has, is gone')
})
