/** Charges that nobody knows, and those above their bound: who hears of them, with which status. */
import { join } from 'node:path'
import { systemClock, type Clock } from '../../src/base/clock.js'
import { tryHoldFile } from '../../src/state/holds/kernel-file.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment } from '../world/texts.js'
import { World, type AnalysisWorld } from '../world/world.js'
import { healthy, set, take } from '../support/shots.js'
import { keptOf } from '../support/kept.js'
import { takenForDead } from '../support/taken-for-dead.js'
import { t } from '../support/tests-in-slices.js'

const costless = (world: AnalysisWorld, times = 1): void => {
  world.sandbox.faults.set('no_cost', { service: 'gateway', times })
}

const settleOne = /ledger settle op_\S+ --amount USD/

t.test('S-168 an analysis whose charge is not known ends with 7, names what is held and how to '
  + 'settle it', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('screenshot')
  await take(world, 'a.png')
  costless(world)
  const ran = await world.run(['shots', 'analyze'])
  t.equal(ran.status, 7, ran.stderr)
  t.match(ran.stdout, /\$0\.10 \(100,000 µUSD\) stay held/)
  t.match(ran.stderr, /full bound of \$0\.10 \(100,000 µUSD\) stays held/)
  t.match(ran.stderr, settleOne)
  const back = keptOf(world)

  await t.test('the command that was named settles it', async (t) => {
    const id = /ledger settle (op_\S+)/.exec(ran.stderr)?.[1] ?? ''
    const line = ['ledger', 'settle', id, '--amount-microusd', '12', '--yes']
    t.equal((await world.run(line)).status, 0)
  })

  await t.test('so does a reanalysis, and its JSON holds the operation', async (t) => {
    back()
    costless(world)
    const again = await world.run([
      'shots', 'reanalyze', '--failed', '--reason', 'provider_failure_retry', '--yes', '--json',
    ])
    t.equal(again.status, 7, again.stderr)
    t.hasStrict(again.json(), {
      status: 'degraded', held_microusd: 100_000,
      items: [{ due: 'settle', held_microusd: 100_000 }],
    })
    t.hasStrict(again.error(), {
      code: 'analysis_charge_unknown', status: 423,
      details: { operation_id: again.json().items[0].operation_id, held_microusd: 100_000 },
    })
  })

  await t.test('S-136 one turn of the scheduler ends with 7, its receipt like the one of the verb',
    async (t) => {
    back()
    await take(world, 'b.png')
    costless(world)
    const once = await world.run(['shots', 'run', '--once', '--json'])
    t.equal(once.status, 7, once.stderr)
    t.hasStrict(once.error(), { code: 'job_charge_unknown' })
    const turns = once.stdout.trim().split('\n').map((line) => JSON.parse(line))
    const turn = turns.find(({ job }) => job === 'screenshot_folder_analysis')
    t.hasStrict(turn, { outcome: 'degraded', receipt: { held_microusd: 100_000, failed: 1 } })
  })

  await t.test('several are told together', async (t) => {
    back()
    await take(world, 'c.png')
    await take(world, 'd.png')
    costless(world, 2)
    const both = await world.run(['shots', 'analyze'])
    t.equal(both.status, 7)
    t.match(both.stderr, /charges of 2 requests are not known; \$0\.20 \(200,000 µUSD\)/)
    t.match(both.stderr, /ledger reservations.*ledger settle OPERATION --amount USD/)
  })
  checkLedger(t, world)
})

t.test('a digest whose charge is not known ends with 7, and one above its bound names the review',
  async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  world.say('No cost.', { cost: null })
  const ran = await world.run(['shots', 'digest'])
  t.equal(ran.status, 7, ran.stderr)
  t.match(ran.stdout, /\$0\.10 \(100,000 µUSD\) stay held/)
  t.match(ran.stderr, /full bound of \$0\.10 \(100,000 µUSD\) stays held/)
  t.match(ran.stderr, settleOne)
  t.equal((await world.digest()).status, 0, 'it is told where it happened, and not repeated')

  await world.analysed({ name: 'b.png', at: moment(3, 1) })
  world.say('Dear.', { cost: '0.2' })
  const dear = await world.digest()
  t.equal(dear.status, 7)
  t.hasStrict(dear.json(), { held_microusd: 0, windows: [{ due: 'review' }, { due: null }] })
  t.hasStrict(dear.error(), { code: 'digest_overrun', reason: 'overrun_review_required' })
  checkLedger(t, world)
})

t.test('S-105 a digest that was sent and could not be recorded is not told as refused',
  async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  world.say('Sent.')
  let jumpMs = 0
  let release = (): void => undefined
  const clock: Clock = { ...systemClock, monotonicMs: () => systemClock.monotonicMs() + jumpMs }
  const ran = await world.run(['shots', 'digest', '--json', '--wait', '0'], {
    clock,
    at: (step) => {
      if (step !== 'digest.charge_known') return
      release = tryHoldFile(join(world.place.stateDir, 'lock'))?.release ?? release
      jumpMs = 120_000
    },
  })
  release()
  t.equal(ran.status, 7, ran.stderr)
  t.hasStrict(ran.json(), {
    held_microusd: 100_000, blocked: 0, failed: 1,
    windows: [{ outcome: 'failed', reason: 'outcome_not_recorded', due: 'settle' }],
  })
  t.hasStrict(ran.error(), { code: 'digest_charge_unknown' })
})

for (const job of ['analyze', 'digest'] as const) {
  t.test(`what ${job} did not send, but others took for sent, is owed, ends with 7 and is not sent by the next pass`, async (t) => {
    const world = await World.in(t).sandbox().state().session()
      .gateway(forImages).images(allowed).proof('report').proof('screenshot').texts()
    if (job === 'analyze') await take(world, 'a.png')
    else await world.analysed({ name: 'a.png', at: moment(2, 1) })
    const before = world.calls().length
    let taken = 0
    const ran = await world.run(['shots', job, '--json'], {
      at: async (step) => {
        if (step !== `${job}.contact_intent`) return
        taken += 1
        await takenForDead(world)
        await set(world, '--cloud-upload', 'off')
      },
    })
    t.equal(taken, 1)
    t.equal(ran.status, 7, ran.stderr)
    const [one] = ran.json().items ?? ran.json().windows
    t.hasStrict(one, {
      outcome: 'failed', reason: 'outcome_not_recorded', due: 'settle', held_microusd: 100_000,
    })
    await set(world, '--cloud-upload', 'on')
    t.equal((await world.run(['shots', job, '--json'])).status, 0)
    t.equal(world.calls().length, before, 'nothing left')
    must(await world.run(['ledger', 'settle', one.operation_id, '--amount-microusd', '0', '--yes']))
    await healthy(t, world)
  })
}

t.test('a proof and a conclusion whose charge is not known print the whole command', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  costless(world)
  const proof = await world.run(['gateway', 'prove', 'screenshot'])
  t.equal(proof.status, 7)
  t.match(proof.stderr, /full bound of \S+ \(\S+ µUSD\) stays held/)
  t.match(proof.stderr, settleOne)
  world.say('No cost.', { cost: null })
  const concluded = await world.run(['shots', 'report', '--conclude'])
  t.equal(concluded.status, 7)
  t.match(concluded.stderr, /full bound of \S+ \(\S+ µUSD\) stays held/)
  t.match(concluded.stderr, settleOne)
  t.match((await world.run(['ledger', 'show'])).stdout, /settle OPERATION --amount USD/)
})
