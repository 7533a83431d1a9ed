/**
 * What a hook outside says of a route is a document like any other: it may be handed in wherever
 * this program takes one, and is no authority anywhere.
 */
import t, { type Test } from 'tap'
import { routeCollection } from '../../src/contact/routes.js'
import { collections } from '../../src/governance/rows.js'
import { must } from '../support/must.js'
import { setupFlags } from '../world/alpha.js'
import { World, type RoutesWorld } from '../world/world.js'

const report = (change: object = {}): string => JSON.stringify({
  schema: 'svc.route.report.v1', route: 'alpha', profile: 'alpha.text', model: 'a/b',
  provider: 'sandbox', operation_id: 'op_x', outcome: 'succeeded', ...change,
})

/** Every row that could let anybody contact anyone. */
const authority = (rig: RoutesWorld) => {
  const view = rig.view()
  return [
    collections.consents, collections.policy, collections.decisions, routeCollection,
    collections.ledgerRows, collections.openReservations, collections.openTasks,
  ].map((spec) => view.all<unknown>(spec as never))
}

/** Every verb that reads a document. */
const takers = [
  ['config', 'save'], ['alpha', 'setup'], ['gateway', 'setup'], ['alpha', 'ask'],
  ['shots', 'config', 'set'], ['shots', 'scan'],
] as const

/** Hands the report to every verb that reads a document; each refuses it. */
const tell = async (t: Test, rig: RoutesWorld, text: string): Promise<void> => {
  for (const verb of takers) {
    const ran = await rig.run([...verb, '--from', '-', '--json'], { stdin: text })
    t.equal(ran.status, 3, `${verb.join(' ')}: ${ran.stderr}`)
    t.notMatch(ran.stderr, /op_x|dec_1/, 'and repeats none of it')
  }
}

t.test('A-162 a hook that reports an alpha receipt lets nobody contact the provider', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ setUp: false }).gateway()
  const before = [authority(rig), rig.kept()]
  await tell(t, rig, report())
  t.strictSame([authority(rig), rig.kept()], before, 'a report touches no row of authority')
  t.equal((await rig.ask()).status, 4, 'without a set-up')
  must(await rig.run(setupFlags(rig.place, await rig.revision())))
  must(await rig.run(['policy', 'revoke']))
  await tell(t, rig, report({ outcome: 'allowed' }))
  t.equal((await rig.ask()).status, 4, 'after a revoke')
  t.equal((await rig.prove('chat')).status, 4, 'nor the gateway')
  t.strictSame(rig.sandbox.log.all(), [], 'zero bytes anywhere')
})

t.test('A-162 a report that claims a decision or an allowance is refused', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ setUp: false }).gateway()
  const before = [authority(rig), rig.kept()]
  for (const change of [
    { decision_id: 'dec_1' }, { allowed: true }, { schema: 'svc.alpha.text.input.v1' },
  ]) await tell(t, rig, report(change))
  t.strictSame([authority(rig), rig.kept()], before)
  t.strictSame(rig.sandbox.log.all(), [])
})
