/** A day without anybody: what goes on by itself, what does not, and how that is told. */
import type { Test } from 'tap'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { isRenewalDue } from '../../src/shots/renew-proof.js'
import type { ProofState } from '../../src/gateway/proof.js'
import { collections } from '../../src/governance/rows.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { analyze, healthy, nextImage, rowOf, scan, sent, set } from '../support/shots.js'
import { takenForDead } from '../support/taken-for-dead.js'
import { t } from '../support/tests-in-slices.js'
import { forImages, slotFlags } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { World, type AnalysisWorld } from '../world/world.js'

const hourMs = 3_600_000

/** The machine's clock, with a wall that the test moves on. */
interface LaterClock extends Clock {
  advance(ms: number): void
}

const laterClock = (): LaterClock => {
  let laterMs = 0
  return {
    wallMs: () => systemClock.wallMs() + laterMs,
    monotonicMs: () => systemClock.monotonicMs(),
    sleep: (ms, signal) => systemClock.sleep(ms, signal),
    advance: (ms) => { laterMs += ms },
  }
}

const proved = async (
  t: Test,
): Promise<{ readonly world: AnalysisWorld, readonly clock: LaterClock }> => {
  const clock = laterClock()
  const world = await World.in(t, { clock }).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  return { world, clock }
}

const takeIn = async (world: AnalysisWorld, clock: LaterClock, name: string): Promise<void> => {
  world.file(name, nextImage(), new Date(clock.wallMs() - 60_000).toISOString())
  await scan(world)
}

t.test('S-152 S-153 without renew_proof a stale proof blocks, and every summary says so for as long as it does', async (t) => {
  const { world, clock } = await proved(t)
  await takeIn(world, clock, 'a.png')
  clock.advance(25 * hourMs)
  const first = await analyze(world)
  t.strictSame([first.status, first.json().blocked], [7, 1])
  t.equal(rowOf(world, 'a.png').analyzer.attempts, 1)
  const later = await analyze(world)
  t.hasStrict(later.json(), {
    status: 'blocked', reason: 'proof_stale', blocked: 0, passed_over: 1,
    passed_over_reasons: [{ reason: 'proof_stale', count: 1 }], proof_renewal: null,
  })
  t.equal(later.status, 7, 'and it is no good pass either')
  t.equal(rowOf(world, 'a.png').analyzer.attempts, 1, 'no attempt is used up again')
  t.match((await world.run(['shots', 'analyze'])).stdout, '1 stand blocked')
  const once = await world.run(['shots', 'run', '--once'])
  t.equal(once.status, 7, once.stderr)
  t.match(once.stdout, /1 stand blocked \(1 proof_stale\)/)
  t.match((await world.run(['status'])).stdout, /shots +blocked \(proof_stale\)\. 1 image/)
  t.hasStrict((await world.run(['status', '--json'])).json().shots, {
    status: 'blocked', reason_code: 'proof_stale',
  })
  const doctor = (await world.run(['doctor', '--json'])).json()
  t.strictSame(doctor.checks.at(-1), {
    name: 'shots', result: 'note', next: 'sallyport status',
    text: 'blocked (proof_stale). 1 image is blocked: `sallyport shots status`',
  })
  t.equal(sent(world), 0, 'no image left')
})

t.test('S-152 S-205 with renew_proof on the jobs renew a proof before it is stale, paid from the budget of the day and told', async (t) => {
  const { world, clock } = await proved(t)
  const note = await set(world, '--renew-proof', 'on')
  t.match(note.stderr, 'renew the proof of their slot by')
  clock.advance(19 * hourMs)
  await takeIn(world, clock, 'a.png')
  t.equal(must(await analyze(world)).json().proof_renewal, null, 'a young one stays')
  clock.advance(2 * hourMs)
  t.equal(must(await analyze(world)).json().proof_renewal, null, 'nothing waits to be sent')
  await takeIn(world, clock, 'b.png')
  const before = world.calls().length
  const ran = must(await analyze(world))
  const { proof_renewal: renewal, items, cost_microusd: cost } = ran.json()
  t.hasStrict(renewal, { slot: 'screenshot', outcome: 'renewed', reason: null, due: null })
  t.equal(cost, renewal.cost_microusd + items[0].cost_microusd)
  t.equal(world.calls().length, before + 2)
  t.match((await world.run(['shots', 'status'])).stdout, 'renewed by the jobs')

  clock.advance(60 * hourMs)
  await takeIn(world, clock, 'c.png')
  const { remote_vision: vision } = (await world.run(['shots', 'status', '--json'])).json()
  t.strictSame([vision.renew_proof, vision.capability_proof.state], ['on', 'stale'])
  const once = must(await world.run(['shots', 'run', '--once', '--json']))
  t.match(once.stdout, '"outcome":"renewed"')
  t.equal(rowOf(world, 'c.png').analysis_status, 'succeeded', 'after a weekend too')
  checkLedger(t, world)
})

t.test('S-152 S-205 what keeps a renewal from being made is told, and blocks only once the proof is stale', async (t) => {
  const { world, clock } = await proved(t)
  await set(world, '--renew-proof', 'on', '--budget-requests', '1')
  await takeIn(world, clock, 'a.png')
  clock.advance(21 * hourMs)
  const full = await analyze(world)
  t.hasStrict(full.json().proof_renewal, { outcome: 'not_sent', reason: 'budget_exhausted' })
  t.equal(full.status, 8)
  must(await world.run(['login', '--json']))
  await set(world, '--budget-requests', '10')
  world.sandbox.faults.set('status_500', { service: 'gateway', times: 1 })
  const failed = await analyze(world)
  t.hasStrict(failed.json(), { analyzed: 0, status: 'blocked', reason: 'http_status_500' })
  t.hasStrict(failed.json().proof_renewal, { outcome: 'failed', due: 'settle' })
  t.equal(failed.status, 7, 'its charge is for a person to settle')
  clock.advance(hourMs / 10)
  await takeIn(world, clock, 'b.png')
  const again = await analyze(world)
  t.hasStrict(again.json(), { analyzed: 2 }, 'while the old one is current images go on')
  t.hasStrict(again.json().proof_renewal, { outcome: 'not_sent', reason: 'charge_unknown' })
  clock.advance(4 * hourMs)
  await takeIn(world, clock, 'c.png')
  const stale = await analyze(world)
  t.strictSame([stale.status, stale.json().reason], [7, 'proof_stale'], 'and never by itself again')
})

t.test('S-152 age alone is renewed: a first proof, and one of another set-up, are a person\'s', (t) => {
  const made = { made_at: new Date(0).toISOString() }
  const of = (state: string, reason: string | null) =>
    ({ state, reason, proof: made }) as ProofState
  const due = (state: ProofState, hours: number) => isRenewalDue(state, hours * hourMs)
  t.equal(due({ state: 'missing', reason: null, proof: null }, 30), false)
  t.equal(due(of('current', null), 19.9), false)
  t.equal(due(of('current', null), 20), true)
  t.equal(due(of('stale', 'older_than_24_hours'), 200), true)
  for (const reason of ['model_changed', 'key_fingerprint_changed', 'made_in_the_future']) {
    t.equal(due(of('stale', reason), 30), false, reason)
  }
  t.end()
})

t.test('S-152 the digest job renews the proof of the report slot', async (t) => {
  const clock = laterClock()
  const world = await World.in(t, { clock }).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await set(world, '--renew-proof', 'on')
  clock.advance(25 * hourMs)
  const at = new Date(clock.wallMs() - 2 * hourMs).toISOString()
  await world.analysed({ name: 'a.png', at })
  const ran = must(await world.run(['shots', 'digest', '--json'])).json()
  t.hasStrict(ran.proof_renewal, { slot: 'report', outcome: 'renewed' })
  t.equal(ran.written, 1)
})

/** Flags of `shots setup` that close one gate each, and what opens it again. */
const gates: readonly (readonly [closing: readonly string[], opening: readonly string[]])[] = [
  [['--analysis', 'off'], ['--analysis', 'on']],
  [['--cloud-upload', 'off'], ['--cloud-upload', 'on']],
  [['--fallbacks', 'allow'], ['--fallbacks', 'deny']],
  [['--data-collection', 'allow'], ['--data-collection', 'deny']],
  [['--zdr', 'off'], ['--zdr', 'on']],
  [['--unset', 'budget_microusd'], ['--budget-microusd', '1000000']],
  [['--unset', 'budget_requests'], ['--budget-requests', '100']],
  [
    ['--unset', 'budget_microusd', 'budget_requests'],
    ['--budget-microusd', '1000000', '--budget-requests', '100'],
  ],
  [['--budget-microusd', '1'], ['--budget-microusd', '1000000']],
  [['--unset', 'request_cost_bound_microusd'], ['--request-cost-bound-microusd', '100000']],
]

/** Both proofs are a day old, and an image and a digest wait for one each. */
const bothDue = async (t: Test) => {
  const clock = laterClock()
  const world = await World.in(t, { clock }).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').proof('screenshot').texts()
  await set(world, '--renew-proof', 'on')
  clock.advance(25 * hourMs)
  must(await world.run(['login', '--json']))
  const at = new Date(clock.wallMs() - 2 * hourMs).toISOString()
  await world.analysed({ name: 'told.png', at })
  await takeIn(world, clock, 'a.png')
  return { world, clock }
}

const jobs = ['analyze', 'digest'] as const

t.test('S-008 S-009 S-014 S-015 S-016 no job pays for a proof while any other gate is closed', async (t) => {
  const { world } = await bothDue(t)
  const before = world.calls().length
  for (const [closing, opening] of gates) {
    await set(world, ...closing)
    for (const job of jobs) {
      const { proof_renewal: renewal } = (await world.run(['shots', job, '--json'])).json()
      t.equal(renewal, null, `${closing.join(' ')}: ${job}`)
    }
    t.equal(world.calls().length, before, closing.join(' '))
    await set(world, ...opening)
  }
  for (const job of jobs) {
    const { proof_renewal: renewal } = (await world.run(['shots', job, '--json'])).json()
    t.hasStrict(renewal, { outcome: 'renewed' }, `${job}: with all of them open it does`)
  }
})

t.test('S-021 no proof is paid for digests that nobody consented to', async (t) => {
  const { world } = await bothDue(t)
  must(await world.run(['policy', 'revoke', '--json']))
  must(await world.widen(slotFlags('report', 'gateway.report')))
  const before = world.calls().length
  const ran = (await world.run(['shots', 'digest', '--json'])).json()
  t.hasStrict(ran, { status: 'blocked', reason: 'consent_not_current', proof_renewal: null })
  t.equal(world.calls().length, before)
})

t.test('who consents to digests alone proves the slot and has the job renew that', async (t) => {
  const { world, clock } = await bothDue(t)
  must(await world.run(['policy', 'revoke', '--json']))
  must(await world.widen(slotFlags('report', 'gateway.digest')))
  const renewed = (await world.run(['shots', 'digest', '--json'])).json()
  t.hasStrict(renewed, { status: 'ok', written: 1, proof_renewal: { outcome: 'renewed' } })
  clock.advance(25 * hourMs)
  must(await world.run(['login', '--json']))
  t.hasStrict((await world.prove('report', { args: ['--if-stale'] })).json(), {
    made: true, receipt: { purpose: 'gateway.digest' },
  })
  checkLedger(t, world)
})

t.test('S-021 no proof is paid for images that the consent does not reach', async (t) => {
  const { world, clock } = await proved(t)
  await set(world, '--renew-proof', 'on')
  await takeIn(world, clock, 'a.png')
  must(await world.run(['policy', 'revoke', '--json']))
  must(await world.widen([
    '--slot', 'screenshot', '--model', 'gateway/acme/screenshot-1',
    '--upstream-allow', 'acme-host,other-host', '--consent', 'gateway.vision',
  ]))
  clock.advance(21 * hourMs)
  must(await world.run(['login', '--replace']))
  const before = world.calls().length
  t.hasStrict((await analyze(world)).json(), { proof_renewal: null, blocked: 1 })
  t.equal(world.calls().length, before)
  await takeIn(world, clock, 'b.png')
  t.hasStrict((await analyze(world)).json(), { proof_renewal: { outcome: 'renewed' }, analyzed: 1 })
})

t.test('a renewal that was sent and whose end could not be recorded is told with its operation and what it holds, and ends the pass with 7', async (t) => {
  for (const job of jobs) {
    const { world } = await bothDue(t)
    let renewals = 0
    const ran = await world.run(['shots', job, '--json'], {
      at: async (step) => {
        if (step !== 'prove.charge_known') return
        renewals += 1
        await takenForDead(world)
      },
    })
    const open = world.view().all(collections.openReservations).map(({ doc }) => doc)
    t.strictSame([renewals, open.map(({ state }) => state)], [1, ['unknown']], job)
    const { operation_id: id, bound_microusd: held } = open[0] ?? {}
    t.hasStrict(ran.json().proof_renewal, {
      outcome: 'failed', reason: 'outcome_not_recorded', operation_id: id, cost_microusd: null,
      due: 'settle', held_microusd: held,
    }, job)
    t.equal(ran.status, 7, ran.stderr)
    t.match(ran.error().hint, `ledger settle ${id}`)
    must(await world.run(['ledger', 'settle', `${id}`, '--amount-microusd', '1', '--yes']))
    await healthy(t, world)
  }
})

t.test('S-009 a switch that goes off while a renewal is prepared keeps it from being sent', async (t) => {
  for (const [job, step] of [
    ['analyze', 'prove.claimed'], ['analyze', 'prove.before_dial'],
    ['digest', 'prove.reserved'], ['digest', 'prove.contact_begin'],
  ] as const) {
    const { world } = await bothDue(t)
    const before = world.calls().length
    const ran = await world.run(['shots', job, '--json'], {
      at: async (at) => {
        if (at === step) await set(world, '--cloud-upload', 'off')
      },
    })
    const told = { outcome: 'not_sent', reason: 'proof_not_due', held_microusd: null }
    t.hasStrict(ran.json().proof_renewal, told, `${job}: ${step}`)
    t.equal(world.calls().length, before)
    checkLedger(t, world)
  }
})
