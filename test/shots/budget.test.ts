/** The day's budget: what is spent, what is held, and what a bill changes in it. */
import { moneyText } from '../../src/base/money.js'
import { systemClock } from '../../src/base/clock.js'
import { findReservation } from '../../src/governance/ledger/find-reservation.js'
import { collections } from '../../src/governance/rows.js'
import { verifyLedger } from '../../src/governance/ledger/verify-ledger.js'
import { greyPng } from '../support/png.js'
import { must } from '../support/must.js'
import { analyze, set, take } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment } from '../world/texts.js'
import { World } from '../world/world.js'

t.test('S-124 an unknown charge is held in the day of the budget until its bill is recorded',
  async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  t.equal((await world.prove('screenshot')).status, 0)
  world.file('a.png', greyPng(64, 48, 1))
  t.equal((await world.run(['shots', 'scan', '--json'])).status, 0)
  const budget = async () =>
    (await world.run(['shots', 'status', '--json'])).json().remote_vision.budget
  const before = await budget()
  t.equal(before.held_microusd, 0)
  world.sandbox.faults.set('no_cost', { service: 'gateway', times: 1 })
  await world.run(['shots', 'analyze', '--json'])
  const held = await budget()
  t.hasStrict(held, {
    settled_microusd: before.settled_microusd, held_microusd: 100_000,
    requests: before.requests + 1,
  })
  const text = await world.run(['shots', 'status'])
  t.match(text.stdout, `${moneyText(before.settled_microusd)} spent, `
    + '$0.10 (100,000 µUSD) held, of $1.00 (1,000,000 µUSD); ')

  const operation = world.rows()[0]?.analyzer.operation_id ?? ''
  const settle = await world.run([
    'ledger', 'settle', operation, '--amount-microusd', '1840', '--yes', '--json',
  ])
  t.equal(settle.status, 0, settle.stderr)
  t.hasStrict(await budget(), {
    settled_microusd: before.settled_microusd + 1840, held_microusd: 0, requests: held.requests,
  })
  t.equal((await world.run(['state', 'check', '--json'])).status, 0)
})

t.test('S-124 a charge that an old copy carried over is settled by hand: the day holds the bounds of others as '
  + 'before, and counts what was charged once', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  must(await world.prove('screenshot'))
  world.file('a.png', greyPng(64, 48, 1))
  must(await world.run(['shots', 'scan']))
  const backup = world.place.path('backup')
  must(await world.run(['state', 'backup', backup]))
  must(await world.run(['shots', 'analyze']))
  const known = world.rows()[0]?.analyzer.operation_id ?? ''
  world.file('b.png', greyPng(64, 48, 2))
  must(await world.run(['shots', 'scan']))
  world.sandbox.faults.set('no_cost', { service: 'gateway', times: 1 })
  await world.run(['shots', 'analyze'])
  const unknown = world.rows().map(({ analyzer }) => analyzer.operation_id)
    .find((id) => id !== known) ?? ''
  const charged = findReservation(world.view(), known)?.charged_microusd ?? 0
  t.ok(charged > 0)
  const budget = async () => {
    const { settled_microusd: settled, held_microusd: held, requests } =
      (await world.json(['shots', 'status'])).remote_vision.budget
    return { settled, held, requests }
  }
  const before = await budget()
  t.equal(before.held, 100_000, 'of the one whose charge nobody knows')
  must(await world.run(['state', 'restore', backup, '--yes']))
  must(await world.run(['login']))
  t.strictSame(await budget(), before)
  const settle = (operation: string, amount: number) =>
    world.run(['ledger', 'settle', operation, '--amount-microusd', String(amount), '--yes'])
  must(await settle(known, charged + 5))
  t.strictSame(await budget(), { ...before, settled: before.settled + 5 })
  must(await settle(unknown, 1_840))
  t.strictSame(await budget(), { ...before, settled: before.settled + 5 + 1_840, held: 0 })
})

t.test('a proof obeys the budget that is set, and is free to be made where none is', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  const set = await world.run(['shots', 'config', 'set', '--json', '--budget-requests', '1'])
  t.equal(set.status, 0)
  t.equal((await world.prove('screenshot')).status, 0)
  const refused = await world.prove('report')
  t.strictSame([refused.status, refused.error().code], [8, 'budget_exhausted'])
  t.equal(world.calls().length, 1, 'nothing was sent')
  const status = (await world.run(['shots', 'status', '--json'])).json()
  t.equal(status.remote_vision.budget.requests, 1)
  t.strictSame(verifyLedger(world.view()), [])
})

t.test('killed before anything was sent: the budget gets back what the call held', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  t.equal((await world.prove('screenshot')).status, 0)
  const budget = async () =>
    (await world.run(['shots', 'status', '--json'])).json().remote_vision.budget
  const before = await budget()
  world.file('a.png', greyPng(64, 48, 2))
  t.equal((await world.run(['shots', 'scan', '--json'])).status, 0)
  const openOnes = () => world.view().all(collections.openReservations)
  for (const step of ['claimed', 'reserved', 'contact_begin']) {
    const ran = await world.place.spawn(['shots', 'analyze', '--json'], {
      entry: 'test', env: { TEST_STOP_AT: `analyze.${step}` }, coverage: false,
    })
    t.equal(ran.status, 137, step)
    const stored = openOnes()
    const told = await budget()
    t.strictSame(told, { ...before, since: told.since }, `${step}: told as it will be recorded`)
    t.strictSame(openOnes(), stored, `${step}: reading records nothing`)
    t.equal((await world.run(['goal', 'add', step])).status, 0, 'any verb that writes recovers')
    t.strictSame(openOnes(), [], step)
    t.strictSame(await budget(), { ...before, since: (await budget()).since }, step)
  }
  const sent = await world.place.spawn(['shots', 'analyze', '--json'], {
    entry: 'test', env: { TEST_STOP_AT: 'analyze.contact_intent' }, coverage: false,
  })
  t.equal(sent.status, 137)
  t.equal((await world.run(['goal', 'add', 'last'])).status, 0)
  t.hasStrict(await budget(), { held_microusd: 100_000 }, 'what may have been sent stays counted')
  t.equal((await world.run(['state', 'check'])).status, 0)
})

t.test('one call under a clock that stood ahead does not wipe out what was spent today',
  async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  t.equal((await world.prove('screenshot')).status, 0)
  t.equal((await world.prove('report')).status, 0)
  const ahead = {
    clock: { ...systemClock, wallMs: () => Date.now() + 72 * 3_600_000 },
  }
  const { run } = world
  t.equal((await run(['login', '--replace', '--json'], ahead)).status, 0)
  t.equal((await run(['gateway', 'prove', 'screenshot', '--json'], ahead)).status, 0)
  const { requests } = (await world.run(['shots', 'status', '--json'])).json().remote_vision.budget
  t.equal(requests, 3)
})

t.test('a request that was ended before its first byte counts in no budget, and holds nothing of it', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  t.equal((await world.prove('screenshot')).status, 0)
  const budget = async () =>
    (await world.run(['shots', 'status', '--json'])).json().remote_vision.budget
  const before = await budget()
  world.file('a.png', greyPng(64, 48, 3))
  t.equal((await world.run(['shots', 'scan', '--json'])).status, 0)
  await world.run(['shots', 'analyze', '--json'], {
    at: async (step) => {
      if (step === 'analyze.before_dial') await world.run(['policy', 'revoke'])
    },
  })
  t.hasStrict(world.rows()[0]?.analyzer, { attempts: 1, contact: 'none' })
  t.equal(world.calls().length, 1, 'the proof alone')
  const after = await budget()
  t.strictSame(after, { ...before, since: after.since })
})

t.test('S-016 S-205 a budget of requests that is used up is raised by what the refusal names', async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  await set(world, '--budget-requests', '1')
  must(await world.prove('screenshot'))
  await take(world, 'a.png')
  const refused = await analyze(world)
  t.equal(refused.error().reason, 'budget_exhausted')
  const command = refused.error().next[0]?.command ?? ''
  t.match(command, / --budget USD --budget-requests N$/)
  const line = command.replace('USD', '1.00usd').replace(/N$/, '1000000').split(' ').slice(1)
  must(await world.run(line))
  t.hasStrict(must(await analyze(world)).json(), { analyzed: 1 })
})

t.test('S-016 S-205 a budget below the bound of one request never frees itself: it is told so, and waits for a person', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  must(await world.prove('screenshot'))
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  await take(world, 'b.png')
  await set(world, '--budget-microusd', '99999')
  const reason = 'budget_below_bound'
  const asked = world.calls().length
  const errors = [
    await analyze(world), await world.prove('report'),
    await world.run(['shots', 'digest', '--json']),
    await world.run(['shots', 'report', '--since', moment(20), '--conclude', '--json']),
    await world.run(['shots', 'reanalyze', '--blocked', '--reason', 'manual_operator_request']),
  ]
  for (const ran of errors) {
    t.not(ran.status, 0)
    t.match(ran.stdout + ran.stderr, 'shots setup --budget USD')
    t.notMatch(ran.stdout + ran.stderr, 'frees itself')
  }
  t.equal(errors[0]?.error().reason, reason)
  t.equal(errors[1]?.error().code, reason)
  t.equal(world.calls().length, asked)
  t.strictSame((await world.json(['shots', 'status'])).remote_vision.unsafe_reasons, [reason])
  const { waiting } = await world.json(['status'])
  t.match(JSON.stringify(waiting), 'less than one request may cost')
  await set(world, '--budget-microusd', '1000000')
  t.hasStrict(must(await analyze(world)).json(), { analyzed: 1 })
})
