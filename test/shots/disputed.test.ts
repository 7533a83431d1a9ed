/** A charge above its bound that uses up the budget is looked at before the budget is raised. */
import t from 'tap'
import { greyPng } from '../support/png.js'
import { must } from '../support/must.js'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { moment } from '../world/texts.js'
import { World } from '../world/world.js'

t.test('images that wait because a disputed charge used up the budget are told to wait for its review, by every route, and the day tells of it', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  t.equal((await world.prove('screenshot')).status, 0)
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  world.say('Dear.', { cost: '5' })
  t.equal((await world.digest()).error().code, 'digest_overrun')
  const [{ operation_id: operation }] = await world.json(['ledger', 'reservations'])
  const review = `sallyport ledger review ${operation}`
  world.file('b.png', greyPng(64, 48, 1))
  must(await world.run(['shots', 'scan', '--json']))

  const pass = await world.run(['shots', 'analyze', '--json'])
  t.strictSame([pass.status, pass.error().reason], [8, 'budget_exhausted'])
  t.equal(pass.error().next[0]?.command, review)
  t.equal(pass.json().next[0]?.command, review)
  const since = ['--since', '2026-11-19']
  const { course: told } = (await world.json(['shots', 'report', ...since])).report
  t.equal(told.spend.disputed_charges, 1)
  t.hasStrict(told.reasons, [{ reason: 'budget_exhausted', needs_person: true }])
  t.match(told.reasons[0].next, `Run \`${review}\``)
  const status = await world.run(['shots', 'status'])
  t.match(status.stdout, /disputed +1 charge above the bound/)
  t.equal((await world.json(['shots', 'status'])).remote_vision.budget.disputed_charges, 1)
  must(await world.run(['ledger', 'review', operation, '--accept']))
  const after = await world.run(['shots', 'analyze', '--json'])
  t.match(after.json().next[0]?.command, 'shots config set --budget-microusd', 'nothing is left')
  t.equal((await world.json(['shots', 'status'])).remote_vision.budget.disputed_charges, 0)
})
