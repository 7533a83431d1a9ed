/** Stops of a state that machines share: what the others were not told is not said to be done. */
import { fail } from '../../../src/base/errors.js'
import { unstoppedView } from '../../../src/contact/fence.js'
import type { Sending } from '../../../src/contact/operation.js'
import { revokePolicy, type RevokeOrder } from '../../../src/governance/policy/revoke.js'
import { collections } from '../../../src/governance/rows.js'
import {
  askedThrough, newStop, stopNow, underWayError,
} from '../../../src/governance/stops/act.js'
import { closeBySave } from '../../../src/governance/stops/restrictive-save.js'
import type { PlacedStore } from '../../../src/state/place/placed-store.js'
import { signedIn } from '../../support/place/signed-in.js'
import { t } from '../../support/tests-in-slices.js'

const everything = { kind: 'all', target: null } as const
const folder = { kind: 'folder', target: 'a' } as const
const outcomes = (store: PlacedStore) =>
  store.read().all(collections.stops).map(({ doc }) => doc.outcome)
const unreached = () => fail.locked('place_unreachable', 'Nobody answers.')
const untold = {
  kind: 'locked', code: 'stop_out_of_reach', message: /machines .+ were not reached/,
}
const unseen = { ...untold, message: /^It is in force\. What other machines .+ be looked at\.$/ }

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

/** The server hears of no stop when it is put, nor before the look; it does of what follows. */
const missesStops = ({ place }: PlacedStore): void => {
  const { putStop } = place
  let tries = 0
  place.putStop = async (...given) => {
    if ((tries += 1) <= 2) throw unreached()
    return putStop(...given)
  }
}

/** Another machine begins to send something, and does not answer. */
const sendElsewhere = async ({ holds }: PlacedStore): Promise<string> => {
  const operation = 'op_elsewhere'
  const guard = await holds.hold('operation', operation)
  await holds.fence({ operation, task: null, principal: null, pid: 1 }, [guard])
    .take(new AbortController().signal)
  return operation
}

t.test('a stop says that nobody looked at other machines, also where it was recorded a moment later, and the same line looks', async (t) => {
  const { gov, session, store, next } = await signedIn(t)
  const operation = await sendElsewhere(await next())
  const aim = { kind: 'root', target: session.root.root_id } as const
  const order = { aim, by: askedThrough('test', session) }
  missesStops(store)
  await t.rejects(stopNow(gov, () => order), unseen)
  t.strictSame([store.stops.lying(), outcomes(store)], [[], ['recorded']])
  await t.rejects(stopNow(gov, () => ({ ...order, isDone: true })), {
    code: 'contact_under_way', details: { operation_id: operation },
  })
})

t.test('a save that closes something says that nobody looked at other machines, and the same line looks', async (t) => {
  const { gov, session, store, next } = await signedIn(t)
  const operation = await sendElsewhere(await next())
  const by = askedThrough('test', session)
  let saved = 0
  const save = (spend: Parameters<Parameters<typeof closeBySave>[2]>[0]) =>
    store.transact('test', (tx) => {
      saved += 1
      spend(tx)
    })
  missesStops(store)
  await t.rejects(closeBySave(gov, { aims: [folder], by }, save), unseen)
  t.strictSame([saved, outcomes(store)], [1, ['recorded']])
  await t.rejects(closeBySave(gov, { aims: [], closed: [folder], by }, save), {
    code: 'contact_under_way', details: { operation_id: operation },
  })
})

t.test('a stop that lies at the server stays in force where nobody can look at what was leaving; a save that is not made says no such thing', async (t) => {
  const { gov, session, store, server } = await signedIn(t)
  const by = askedThrough('test', session)
  store.place.fencesSince = async () => { throw unreached() }
  await t.rejects(closeBySave(gov, { aims: [folder], by }, async () => t.fail('saved')), {
    code: 'place_unreachable', message: /^Nobody answers\.$/,
  })
  t.strictSame([store.stops.lying(), outcomes(store)], [[], ['refused']])
  await t.rejects(stopNow(gov, () => ({ aim: folder, by })), {
    kind: 'locked', code: 'place_unreachable', message: 'The stop is in force; what was leaving '
      + 'before it cannot be looked at. Nobody answers.',
  })
  t.equal(store.stops.lying().length, 1)
  t.equal(server.stops.length, 1)
})

t.test('who may still send is named in the middle of a sentence, and what to do about it behind that', (t) => {
  const facts = { operation: 'op_a', task: null, principal: null, pid: 0, sent: 'begun' } as const
  const told = (one: Parameters<typeof underWayError>[0]) => {
    const { message, next } = underWayError(one, null)
    return [/request; (.+) does not/.exec(message)?.[1], next]
  }
  const again = ', then run this again.'
  t.strictSame(told(facts), ['a process (operation op_a)', `Kill that process${again}`])
  t.strictSame(told({ ...facts, pid: 7, task: 'task_a' }), [
    'process 7 (task task_a)', `Kill 7${again}`,
  ])
  t.strictSame(told({ ...facts, elsewhere: true }), [
    'a process of another machine (operation op_a)',
    `Kill that process${again} A machine that is gone: \`sallyport machine retire NAME\`.`,
  ])
  t.end()
})
