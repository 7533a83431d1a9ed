import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { silentObserver } from '../../src/base/observer.js'
import { reportRouteReceipt, routeReports } from '../../src/gateway/route-hook.js'
import { routeCollection } from '../../src/contact/routes.js'
import { collections } from '../../src/governance/rows.js'
import type { Gov } from '../../src/governance/context.js'
import { must } from '../support/must.js'
import { setupFlags } from '../world/alpha.js'
import { World, type RoutesWorld } from '../world/world.js'

const govOf = (rig: RoutesWorld): Gov =>
  ({ store: rig.open('write'), clock: systemClock, observer: silentObserver, face: 'job' })

const report = (change: object = {}) => ({
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

t.test('A-162 a hook that reports an alpha receipt lets nobody contact the provider', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ setUp: false }).gateway()
  const gov = govOf(rig)
  const before = [authority(rig), rig.kept()]
  await reportRouteReceipt(gov, report())
  t.same([authority(rig), rig.kept()], before, 'a report touches no row of authority')
  t.equal((await rig.ask()).status, 4, 'without a set-up')
  must(await rig.run(setupFlags(rig.place, await rig.revision())))
  must(await rig.run(['policy', 'revoke']))
  await reportRouteReceipt(gov, report({ outcome: 'allowed' }))
  t.equal((await rig.ask()).status, 4, 'after a revoke')
  t.equal((await rig.prove('chat')).status, 4, 'nor the gateway')
  t.same(rig.sandbox.log.all(), [], 'zero bytes anywhere')
})

t.test('A-162 a report that claims a decision or an allowance is refused', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ setUp: false }).gateway()
  const gov = govOf(rig)
  for (const change of [
    { decision_id: 'dec_1' }, { allowed: true }, { outcome: 'a b' }, { model: 'x'.repeat(201) },
    { schema: 'other' }, { operation_id: 7 }, { provider: 'a\nb' },
  ]) {
    await t.rejects(async () => reportRouteReceipt(gov, report(change)), {
      code: 'route_report_invalid',
    })
  }
  await t.rejects(async () => reportRouteReceipt(gov, null), { code: 'route_report_invalid' })
  t.same(routeReports(rig.view()), [])
})

t.test('the newest reports are kept and the oldest forgotten', async (t) => {
  const rig = await World.in(t).sandbox().state().session().alpha({ setUp: false }).gateway()
  const gov = govOf(rig)
  for (let number = 1; number <= 260; number += 1) {
    await reportRouteReceipt(gov, report({ operation_id: `op_${number}` }))
  }
  const kept = routeReports(rig.view())
  t.equal(kept.length, 256)
  t.equal(kept[0]?.number, 5)
  t.equal(kept.at(-1)?.report.operation_id, 'op_260')
})
