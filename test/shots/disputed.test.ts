/** A charge above its bound that uses up the budget is looked at before the budget is raised. */
import { hour, movedClock } from '../support/clock.js'
import { greyPng } from '../support/png.js'
import { must } from '../support/must.js'
import { set } from '../support/shots.js'
import { t } from '../support/tests-in-slices.js'
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
  t.match((await world.run(['shots', 'report', ...since])).stdout,
    'disputed  1 charge above its bound, waiting for a review')
  await world.analysed({ name: 'c.png', at: moment(3, 1) })
  const digest = await world.digest()
  t.strictSame([digest.error().reason, digest.error().next[0]?.command],
    ['budget_exhausted', review], 'a digest, too')
  const conclude = await world.run(['shots', 'report', ...since, '--conclude', '--json'])
  t.strictSame([conclude.error().reason, conclude.error().next[0]?.command],
    ['budget_exhausted', review])
  const status = await world.run(['shots', 'status'])
  t.match(status.stdout, /disputed +1 charge above the bound/)
  t.equal((await world.json(['shots', 'status'])).remote_vision.budget.disputed_charges, 1)
  must(await world.run(['ledger', 'review', operation, '--accept']))
  const after = await world.run(['shots', 'analyze', '--json'])
  t.match(after.json().next[0]?.command, 'shots setup --budget USD', 'nothing is left')
  t.equal((await world.json(['shots', 'status'])).remote_vision.budget.disputed_charges, 0)
})

t.test('a ceiling that a disputed charge used up is told by its review first: to images, digests and reports', async (t) => {
  const world = await World.in(t).sandbox().state().session()
    .gateway(forImages).images(allowed).proof('report').texts()
  t.equal((await world.prove('screenshot')).status, 0)
  await set(world, '--budget-microusd', '1000000000')
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  world.say('Dear.', { cost: '9.95' })
  t.equal((await world.digest()).error().code, 'digest_overrun')
  const [{ operation_id: operation }] = await world.json(['ledger', 'reservations'])
  const review = `sallyport ledger review ${operation}`
  world.file('b.png', greyPng(64, 48, 1))
  must(await world.run(['shots', 'scan', '--json']))
  const pass = await world.run(['shots', 'analyze', '--json'])
  t.strictSame([pass.error().reason, pass.error().next[0]?.command], ['ceiling_exceeded', review])
  const { course: told } = (await world.json(['shots', 'report', '--since', '2026-11-19'])).report
  t.hasStrict(told.reasons, [{
    reason: 'ceiling_exceeded', text: 'The ceiling has no room for another request.',
    needs_person: true,
  }])
  t.match(told.reasons[0].next, `Run \`${review}\``)
  await world.analysed({ name: 'c.png', at: moment(3, 1) })
  const digest = (await world.digest()).error()
  t.strictSame([digest.reason, digest.next[0]?.command], ['ceiling_exceeded', review])
  must(await world.run(['ledger', 'review', operation, '--accept']))
  const after = await world.run(['shots', 'analyze', '--json'])
  t.equal(after.json().next[0]?.command, 'sallyport ledger show', 'nothing is left to be reviewed')
})

t.test('the day tells of charges that count in it, and of no other', async (t) => {
  const clock = movedClock()
  const world = await World.in(t, { clock }).sandbox().state().session()
    .gateway({ ...forImages, slots: ['chat', 'report', 'screenshot'] }).images(allowed)
    .proof('report').texts()
  const disputed = async (): Promise<number> =>
    (await world.json(['shots', 'status'])).remote_vision.budget.disputed_charges
  world.say('ready', { cost: '5' })
  t.equal((await world.prove('chat')).status, 7)
  t.equal((await world.json(['ledger', 'show'])).open.overrun_review_required, 1)
  t.equal(await disputed(), 0, 'a proof of another slot is no part of the budget')
  await world.analysed({ name: 'a.png', at: moment(2, 1) })
  world.say('Dear.', { cost: '5' })
  await world.digest()
  t.equal(await disputed(), 1)
  clock.advance(26 * hour)
  t.equal(await disputed(), 0, 'nor is what was spent before it')
})
