/**
 * Every gap of an ask meets every event that can come into it. A step is where the use case
 * announces it, or the moment in which the provider holds a request; the event is a command of
 * another person (or a kill); what must hold afterwards depends only on whether the gap lies before
 * the first request byte, after it, or after the closing record.
 */
import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { collections, type Task } from '../../src/governance/rows.js'
import { checkLedger, recover } from '../support/ledger.js'
import { limits, question } from '../world/alpha.js'
import type { Ran } from '../world/place.js'
import { World, type AlphaWorld } from '../world/world.js'
import { must } from '../support/must.js'
import { newestTask } from '../support/board.js'
import { t } from '../support/tests-in-slices.js'
import { slice } from '../support/slice.js'

/** Steps before any request byte: whatever comes here, nothing is sent. */
const before = [
  'ask.admitted', 'ask.queued', 'ask.slot', 'ask.reserved', 'ask.before_resolve',
  'ask.before_dial', 'ask.contact_begin', 'ask.contact_intent', 'ask.before_first_byte',
] as const
/** Steps with the contact mark durable and no byte sent yet. */
const marked = ['ask.contact_intent', 'ask.before_first_byte'] as const
/** Steps after the request: the charge is settled, the answer is dropped. */
const after = [
  'provider.request', 'ask.replied', 'ask.billing_1', 'provider.billing', 'ask.charge_known',
  'ask.answer_sealed',
] as const

/** What docs/dev/interrupts.md proves at every step is run here at the edges of the phases. */
const edges: readonly string[] = [
  'ask.admitted', 'ask.reserved', 'ask.before_first_byte', 'provider.request', 'ask.charge_known',
  'ask.answer_sealed',
]
const inTable: readonly string[] = [
  'revoke', 'replace the root', 'change the goal', 'disable the owner',
]
const stepsOf = <S extends string>(name: string, steps: readonly S[]): readonly S[] =>
  inTable.includes(name) ? steps.filter((step) => edges.includes(step)) : steps

type Step = (typeof before)[number] | (typeof after)[number] | 'ask.finished'

const key = '0b0e6a3c-7f0e-4a1e-9d3a-7a7c2f2f4a10'

/** What another person does, by name. */
const events: Readonly<Record<string, (rig: AlphaWorld) => Promise<unknown>>> = {
  cancel: async (rig) => must(await rig.run(['alpha', 'cancel', newestTask(rig).task_id])),
  revoke: async (rig) => must(await rig.run(['policy', 'revoke'])),
  disable: async (rig) => must(await rig.run(['alpha', 'setup', '--disable'])),
  'lower the cap': async (rig) => must(await rig.run([
    'alpha', 'setup', '--max-output-tokens', '10', '--acknowledge-plaintext-egress',
    '--expected-policy-revision', String(await rig.revision()),
  ])),
  'replace the root': async (rig) => must(await rig.run(['login', '--replace'])),
  'change the goal': async (rig) => must(await rig.run([
    'goal', 'update', newestTask(rig).goal_id, '--title', 'Another aim',
  ])),
  'disable the owner': async (rig) => {
    writeFileSync(rig.place.path('passphrase'), 'another person')
    const file = ['--passphrase-file', rig.place.path('passphrase')]
    must(await rig.run(['principal', 'add', 'other', ...file]))
    must(await rig.run(['principal', 'disable', 'owner']))
  },
}

const reasons: Readonly<Record<string, string>> = {
  revoke: 'policy_revoked',
  disable: 'alpha_disabled',
  'lower the cap': 'output_cap_lowered',
  'replace the root': 'root_gone',
  'change the goal': 'goal_changed',
  'disable the owner': 'root_gone',
}

/** Runs an ask and lets the event happen once, at the step. */
const askWith = async (
  t: Test, step: Step, event: (rig: AlphaWorld) => Promise<unknown>,
): Promise<{ rig: AlphaWorld; ran: Ran }> => {
  let done = false
  const once = async (): Promise<void> => {
    if (done) return
    done = true
    await event(rig)
  }
  const rig: AlphaWorld = await World.in(t).sandbox({
      hooks: {
        onRequest: async (_service, request) => {
          if (step === 'provider.request' && request.route === 'completion') await once()
          if (step === 'provider.billing' && request.route === 'billing') await once()
        },
      },
    }).state().session().alpha()
  const ran = await rig.ask({
    args: ['--idempotency-key', key],
    at: async (at) => { if (at === step) await once() },
  })
  t.ok(done, 'the event came')
  return { rig, ran }
}

const checkNothingReleased = async (t: Test, rig: AlphaWorld, ran: Ran): Promise<void> => {
  t.not(ran.status, 0, 'the ask does not succeed')
  t.equal(ran.stdout, '', 'nothing on stdout')
  t.not(newestTask(rig).state, 'succeeded')
  t.equal(newestTask(rig).result_artifact_id, null)
  const answers = rig.view().all(collections.artifacts)
    .filter(({ doc }) => doc.label === 'svc.alpha.text.answer.v1')
  t.strictSame(answers, [], 'no answer is kept')
}

const checkNoReplay = async (t: Test, rig: AlphaWorld, inferences: number): Promise<void> => {
  await rig.run(['login', '--replace'])
  await rig.ask({ args: ['--idempotency-key', key] })
  t.equal(rig.inferences().length, inferences, 'the same key never sends again')
}

/** Each event and each step before the first byte, or after it. */
const cellsOf = <S extends string>(table: string, names: readonly string[], steps: readonly S[]) =>
  slice(table, names.flatMap((name) => stepsOf(name, steps).map((step) => ({ name, step }))), {
    axesOf: ({ name, step }) => [name, step],
  })

const cellsBefore = cellsOf('before the first byte', Object.keys(events), before)
// What was asked under the cap of its time is not taken away by a lower one.
const cellsAfter = cellsOf(
  'after contact', Object.keys(events).filter((name) => name !== 'lower the cap'), after)

for (const [name, event] of Object.entries(events)) {
  t.test(`A-026 A-168 A-183 A-184 A-185 A-156 before the first byte, ${name} stops the ask`,
    async (t) => {
      for (const { step } of cellsBefore.filter((cell) => cell.name === name)) {
        await t.test(`A-069 A-070 A-097 ${name} at ${step}: nothing is sent`, async (t) => {
          const { rig, ran } = await askWith(t, step, event)
          t.equal(rig.inferences().length, 0, 'no inference request')
          t.equal(rig.billings().length, 0, 'no billing request')
          await checkNothingReleased(t, rig, ran)
          const task = newestTask(rig)
          t.equal(task.state, name === 'cancel' ? 'cancelled' : 'failed')
          if (name !== 'cancel') t.equal(task.reason, reasons[name])
          const account = checkLedger(t, rig)
          t.equal(account?.held_microusd, 0, 'the hold is released')
          t.equal(account?.unknown_microusd, 0)
          if (name !== 'disable the owner') await checkNoReplay(t, rig, 0)
        })
      }
    })

  if (name === 'lower the cap') continue
  t.test(`A-167 A-168 A-183 A-184 A-185 after contact, ${name} settles and adopts nothing`,
    async (t) => {
      for (const { step } of cellsAfter.filter((cell) => cell.name === name)) {
        await t.test(`A-128 A-136 ${name} at ${step}: charged once, no answer`, async (t) => {
          const { rig, ran } = await askWith(t, step, event)
          t.equal(rig.inferences().length, 1, 'one inference request')
          t.equal(rig.billings().length, 1, 'one billing request')
          await checkNothingReleased(t, rig, ran)
          const task = newestTask(rig)
          t.equal(task.state, name === 'cancel' ? 'cancelled' : 'failed')
          const account = checkLedger(t, rig)
          t.ok((account?.settled_microusd ?? 0) > 0, 'the charge stands')
          t.equal(account?.held_microusd, 0)
          t.equal(account?.unknown_microusd, 0)
          if (name !== 'disable the owner') await checkNoReplay(t, rig, 1)
        })
      }
    })
}

t.test('A-123 A-183 a cancel does not win against an unknown charge', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha()
  rig.sandbox.faults.set('billing_status_500', { service: 'provider' })
  const ran = await rig.ask({
    at: async (step) => { if (step === 'ask.replied') await events['cancel']?.(rig) },
  })
  t.equal(ran.status, 7)
  t.strictSame(
    newestTask(rig).blocked, { kind: 'cost_liability', reason: 'alpha_cost_readback_required' }
  )
  t.equal(checkLedger(t, rig)?.unknown_microusd, limits.boundMicrousd)
})

/** A real process that is killed at a step; what the next run makes of it. */
const killAt = async (t: Test, step: Step): Promise<{ rig: AlphaWorld; ran: Ran }> => {
  let kill: () => void = () => undefined
  const rig = await World.in(t).sandbox({
      hooks: {
        onRequest: async (_service, request) => {
          const here = (step === 'provider.request' && request.route === 'completion')
            || (step === 'provider.billing' && request.route === 'billing')
          if (!here) return
          kill()
          await new Promise((resolve) => setTimeout(resolve, 50))
        },
      },
    }).state().session().alpha()
  const atProvider = step.startsWith('provider.')
  const ran = await rig.place.spawn(['alpha', 'ask', '-', '--json', '--idempotency-key', key], {
    entry: 'test', coverage: false, stdin: question,
    env: atProvider ? {} : { TEST_STOP_AT: step },
    onChild: (child) => { kill = () => child.kill('SIGKILL') },
  })
  t.equal(ran.status, 137, 'the process was killed')
  return { rig, ran }
}

const afterKill = async (t: Test, rig: AlphaWorld, sent: number): Promise<Task> => {
  await recover(rig)
  t.equal(rig.inferences().length, sent, 'recovery sends nothing')
  const task = newestTask(rig)
  await rig.ask({ args: ['--idempotency-key', key] })
  t.equal(rig.inferences().length, sent, 'the same key never sends again')
  const check = await rig.run(['state', 'check', '--json'])
  t.equal(check.status, 0, check.stderr)
  return task
}

/**
 * Kills at every step are in soak.test.ts and in docs/dev/interrupts.md; here each phase is killed
 * at its first and its last one.
 */
const unmarkedEdges = ['ask.admitted', 'ask.slot', 'ask.reserved', 'ask.contact_begin'] as const
const sentEdges = ['provider.request', 'provider.billing', 'ask.answer_sealed'] as const

for (const step of unmarkedEdges) {
  t.test(`A-182 A-026 killed at ${step}: released, never contacted`, async (t) => {
    const { rig } = await killAt(t, step)
    const task = await afterKill(t, rig, 0)
    t.equal(task.state, 'failed')
    t.equal(task.reason, 'interrupted_before_contact')
    const account = checkLedger(t, rig)
    t.equal(account?.held_microusd, 0)
    t.equal(account?.unknown_microusd, 0)
  })
}

for (const step of [...marked, ...sentEdges]) {
  const sent = (marked as readonly string[]).includes(step) ? 0 : 1
  t.test(`A-182 A-026 A-108 A-122 A-124 killed at ${step}: unknown, never sent again`,
    async (t) => {
      const { rig } = await killAt(t, step)
      const task = await afterKill(t, rig, sent)
      t.equal(task.state, 'blocked')
      t.strictSame(task.blocked, { kind: 'cost_liability', reason: 'alpha_cost_readback_required' })
      t.equal(checkLedger(t, rig)?.unknown_microusd, limits.boundMicrousd, 'the full liability')
      t.ok(rig.billings().length <= 1, 'no billing is asked for after a crash')
      const output = await rig.run(['alpha', 'output', task.task_id, '--json'])
      t.equal(output.status, 7)
      t.equal(output.stdout, '')
    })
}

t.test('A-182 killed after the closing record: the answer is there', async (t) => {
  const { rig } = await killAt(t, 'ask.finished')
  const task = await afterKill(t, rig, 1)
  t.equal(task.state, 'succeeded')
  const output = await rig.run(['alpha', 'output', task.task_id, '--json'])
  t.equal(output.status, 0, output.stderr)
  checkLedger(t, rig)
})

t.test('A-130 what changes between the closing record and the read decides', async (t) => {
  const { rig } = await askWith(t, 'ask.finished', async (rig) => {
    await events['change the goal']?.(rig)
  })
  const output = await rig.run(['alpha', 'output', newestTask(rig).task_id, '--json'])
  t.equal(output.status, 4)
  t.equal(output.stdout, '')
})
