/** A text that is being bought: nobody buys it a second time, and nothing older is sent for it. */
import { digestDueCollection } from '../../src/shots/digest/due.js'
import { digestWindow } from '../../src/shots/digest/tick.js'
import { concludeReport } from '../../src/shots/report/conclude.js'
import { checkLedger } from '../support/ledger.js'
import { must } from '../support/must.js'
import { betweenLookAndClaim, set } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import type { Loose } from '../world/place.js'
import { moment } from '../world/texts.js'
import { World } from '../world/world.js'

const worldIn = (t: Parameters<typeof World.in>[0]) => World.in(t).sandbox().state().session()
  .gateway(forImages).images(allowed).proof('report').texts()

const since = moment(20)
const report = ['shots', 'report', '--json', '--since', since, '--conclude']

t.test('S-087 while a conclusion is being made a second asker is told so, and one who asks to retry buys none either', async (t) => {
  const world = await worldIn(t)
  await world.analysed({ name: 'a.png', at: moment(4, 1) })
  const told: Loose[] = []
  world.say('The one text.')
  const first = await world.run(report, {
    at: async (step) => {
      if (step !== 'conclude.replied') return
      for (const more of [[], ['--retry']]) {
        told.push((await world.run([...report, ...more])).error())
      }
    },
  })
  must(first)
  t.strictSame(
    told.map(({ code, status }) => [code, status]),
    [['conclusion_in_progress', 409], ['conclusion_in_progress', 409]],
  )
  t.equal(world.asked().length, 1)
  t.hasStrict((await world.run(report)).json().conclusion, { bought: false })
  checkLedger(t, world)
})

t.test('S-105 a digest that is being made is not made a second time, retry or not', async (t) => {
  const world = await worldIn(t)
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  const told: Loose[] = []
  const window = ['--window-end', moment(1)]
  const first = await world.run(['shots', 'digest', '--json', ...window], {
    at: async (step) => {
      if (step !== 'digest.replied') return
      for (const more of [[], ['--retry']]) {
        told.push((await world.digest(...window, ...more)).json())
      }
    },
  })
  t.hasStrict(must(first).json(), { written: 1 })
  t.strictSame(
    told.map(({ written, windows: [one] }) => [written, one.outcome, one.reason]),
    [[0, 'not_repeated', 'running'], [0, 'not_repeated', 'running']],
  )
  t.equal(world.asked().length, 1)
  t.equal(world.episodes()[0]?.revision, 1)
  checkLedger(t, world)
})

t.test('an hour of days ago is looked at again while a digest of it is being made elsewhere', async (t) => {
  const world = await worldIn(t)
  await world.analysed({ name: 'old.png', at: moment(70, 3) })
  const due = (): number => world.view().all(digestDueCollection).length
  const dueMeanwhile: number[] = []
  must(await world.run(['shots', 'digest', '--json', '--window-end', moment(69)], {
    at: async (step) => {
      if (step !== 'digest.replied') return
      t.hasStrict((await world.digest()).json(), { written: 0 })
      dueMeanwhile.push(due())
    },
  }))
  t.strictSame(dueMeanwhile, [1], 'whoever makes it may fail')
  t.equal((await world.digest()).json().written, 0)
  t.equal(due(), 0)
  t.equal(world.asked().length, 1)
})

t.test('S-166 a report whose inputs change between look and claim keeps everything unsent', async (t) => {
  const world = await worldIn(t)
  const rows = await world.analysed(
    { name: 'a.png', at: moment(4, 1) }, { name: 'b.png', at: moment(4, 2) },
  )
  const id = rows[0]?.observation_id ?? ''
  const ctx = betweenLookAndClaim(world, () =>
    world.change(id, { classification: 'source_missing' }))
  const period = { since, until: moment(0), timeZone: 'UTC' }
  await t.rejects(concludeReport(ctx, period, { retry: false }), {
    kind: 'conflict', code: 'report_inputs_changed',
  })
  t.equal(world.asked().length, 0)
  checkLedger(t, world)
})

t.test('S-016 a budget of the day that is lowered between look and claim buys no digest and no conclusion', async (t) => {
  const world = await worldIn(t)
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  const lowered = betweenLookAndClaim(world, () => set(world, '--budget-requests', '1'))
  t.hasStrict(await digestWindow(lowered, { windowEnd: moment(1) }),
    { written: 0, windows: [{ reason: 'budget_exhausted' }] })
  await set(world, '--budget-requests', '100')
  const period = { since, until: moment(0), timeZone: 'UTC' }
  const again = betweenLookAndClaim(world, () => set(world, '--budget-requests', '1'))
  await t.rejects(concludeReport(again, period, { retry: false }),
    { kind: 'budget', code: 'budget_exhausted' })
  t.equal(world.asked().length, 0)
  checkLedger(t, world)
})

t.test('where no model writes texts any more that is what is told, and what names one', async (t) => {
  const world = await worldIn(t)
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  must(await world.run(['gateway', 'setup', '--remove-slot', 'report', '--json']))
  const { code, reason, next: [step] } = (await world.run(report)).error()
  t.strictSame([code, reason], ['text_route_not_ready', 'slot_not_set'])
  t.match(step?.command, / --slot report --model /)
})
