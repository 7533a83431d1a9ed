/** Stops of a state that machines share: what the others were not told is not said to be done. */
import { unstoppedView } from '../../../src/contact/fence.js'
import type { Sending } from '../../../src/contact/operation.js'
import { revokePolicy, type RevokeOrder } from '../../../src/governance/policy/revoke.js'
import { collections } from '../../../src/governance/rows.js'
import { askedThrough, newStop, stopNow } from '../../../src/governance/stops/act.js'
import { signedIn } from '../../support/place/signed-in.js'
import { t } from '../../support/tests-in-slices.js'

const everything = { kind: 'all', target: null } as const
const untold = { kind: 'locked', code: 'stop_out_of_reach', message: /other machines/ }

t.test('a stop of a session that other machines were not told of lies here, and says so', async (t) => {
  const { gov, session, store, server } = await signedIn(t)
  const by = askedThrough('test', session)
  server.isAway = true
  await t.rejects(stopNow(gov, () => ({ aim: everything, by })), untold)
  t.equal(store.stops.lying().length, 1, 'it is in force here')
  t.equal(server.stops.length, 0)
})

t.test('a stop that other machines were not told of is carried by the next look or record, and no later one is called untold', async (t) => {
  for (const looks of [true, false]) {
    const { gov, session, store, server } = await signedIn(t)
    const by = askedThrough('test', session)
    const stop = (target: string) => stopNow(gov, () => ({ aim: { kind: 'root', target }, by }))
    await store.fresh()
    server.isAway = true
    await t.rejects(stop('root_a'), untold)
    server.isAway = false
    if (looks) {
      await store.fresh()
      t.strictSame(server.stops.map(({ id }) => id), store.stops.lying().map(({ id }) => id))
      t.equal(server.stops.length, 1, 'the others see it')
    }
    t.type((await stop('root_b'))?.stop.id, 'string')
    t.strictSame(store.stops.lying(), [], 'both are recorded')
  }
})

t.test('a revoke that other machines were not told of says so, whether or not the state opens', async (t) => {
  const { gov, store, server } = await signedIn(t)
  const order: Omit<RevokeOrder, 'open'> = {
    stateHolds: store.holds, boards: [store.stops], isShared: true, clock: gov.clock,
    by: { principal: null, root: null },
  }
  server.isAway = true
  await t.rejects(revokePolicy({ ...order, open: async () => gov }), untold)
  const open = async () => {
    await store.fresh()
    return gov
  }
  await t.rejects(revokePolicy({ ...order, open }), untold)
  t.equal(store.stops.lying().length, 2)
})

t.test('what another machine made a moment ago can be stopped from here', async (t) => {
  const { gov, session, store, next } = await signedIn(t)
  const other = await next()
  await store.fresh()
  const row = { ...session.principal, principal_id: 'prn_new', name: 'new' }
  await other.transact('test', (tx) => tx.put(collections.principals, row.principal_id, row))
  const by = askedThrough('test', session)
  const done = await stopNow(gov, () => {
    const isKnown = store.read().get(collections.principals, row.principal_id) !== undefined
    return isKnown ? { aim: { kind: 'principal', target: row.principal_id }, by } : null
  })
  t.hasStrict(done, { stop: { target: row.principal_id } })
})

t.test('a stop that another machine put is seen by whoever sends next', async (t) => {
  const { gov, session, store, next } = await signedIn(t)
  const other = await next()
  const op = {
    ctx: { gov }, order: {}, run: {}, taskId: 'task_x',
  } as unknown as Sending<unknown>
  await unstoppedView(op)
  await other.stops.put(newStop(gov.clock, everything, askedThrough('test', session)))
  t.strictSame(store.stops.lying(), [], 'nobody has looked yet')
  await t.rejects(unstoppedView(op), { kind: 'unauthorized' })
})

t.test('a stop at the place that nobody can read stops everything', async (t) => {
  const { gov, server } = await signedIn(t)
  const op = { ctx: { gov }, order: {}, run: {}, taskId: 'task_x' } as unknown as Sending<unknown>
  server.stops.push({ id: 'stp_x', body: Buffer.from('anything'), placed: 1 })
  await t.rejects(unstoppedView(op), { kind: 'unauthorized' })
})
