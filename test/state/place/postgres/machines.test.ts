/** Who is let in: machines that joined, were not retired, and run a program that is new enough. */
import { randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { Place } from '../../../../src/state/place/place.js'
import { PlacedStore, fenced, recordAfter, slowly } from '../../../support/place/placed.js'
import { startProxy } from '../../../support/place/proxy.js'
import { startPostgres } from '../../../support/place/postgres.js'
import { until } from '../../../support/until.js'

const server = await startPostgres(t)
const facts = Buffer.from('facts')

const founded = async (t: Test) => {
  const store = new PlacedStore(t, server)
  return { store, ...await store.founded() }
}

type Asks = Readonly<Record<string, (place: Place) => Promise<unknown>>>

/** Everything that a machine may ask of a store that it is in. */
const asked = (store: PlacedStore): Asks => ({
  follow: (place) => place.follow(7, 1),
  append: (place) => place.append(store.base, recordAfter(store.base), []),
  take: (place) => place.take('lane', 1_000),
  renew: (place) => place.renew([randomUUID()], 1_000),
  release: (place) => place.release([randomUUID()]),
  takeFence: (place) => fenced(place, 'op_1', facts, randomUUID(), []),
  giveFence: (place) => place.giveFence('op_1', facts, randomUUID(), false),
  fencesSince: (place) => place.fencesSince('stp_1'),
  putStop: (place) => place.putStop('stp_1', facts),
  dropStop: (place) => place.dropStop('stp_1'),
  hasBlobs: (place) => place.hasBlobs(['a']),
  putBlob: (place) => place.putBlob('a', []),
  getBlob: (place) => place.getBlob('a')[Symbol.asyncIterator]().next(),
  removeBlobs: (place) => place.removeBlobs(['a']),
  oldBlobs: (place) => place.oldBlobs('', 1),
  keepBlob: (place) => place.keepBlob('a'),
  machines: (place) => place.machines(),
  noteSeen: (place) => place.noteSeen(9),
  retire: (place) => place.retire(randomUUID()),
  facts: (place) => place.facts(),
})

/** Rows of every table of a store, but the machines'. */
const rowsOf = async ({ storeId }: PlacedStore): Promise<number> => {
  const tables = ['records', 'leases', 'fences', 'stops', 'blobs', 'blob_names']
  const counts = tables.map((name) =>
    `(select count(*) from sallyport.${name} where store = '${storeId}')`)
  return (await server.query<{ n: number }>(`select (${counts.join(' + ')})::int as n`))[0]?.n ?? -1
}

t.test('a store is founded once, and the same founding may be said again', async (t) => {
  const { store, machine, place } = await founded(t)
  const founding = {
    format: 7, writes: 1, machine: { machine, name: 'first' }, at: store.base,
  }
  await place.found(founding)
  const exists = { kind: 'conflict', code: 'store_exists' }
  const other = randomUUID()
  await t.rejects(store.placeOf(other).found(
    { ...founding, machine: { machine: other, name: 'x' } }), exists)
  await place.append(store.base, recordAfter(store.base), [])
  await t.rejects(place.found(founding), exists, 'it has gone on')
  t.strictSame((await place.machines()).map(({ name }) => name), ['first'])
})

t.test('many that found at once at a new server make its tables once', async (t) => {
  await server.query('drop schema sallyport cascade')
  const stores = Array.from({ length: 8 }, () => new PlacedStore(t, server))
  await Promise.all(stores.map((store) => store.founded()))
  const [row] = await server.query<{ n: number }>('select count(*)::int as n from sallyport.stores')
  t.equal(row?.n, 8)
})

t.test('a role that may use the tables of another one founds a store beside theirs', async (t) => {
  await founded(t)
  for (const text of [
    'create role guest login', 'grant usage on schema sallyport to guest',
    'grant select, insert, update, delete on all tables in schema sallyport to guest',
  ]) await server.query(text)
  const store = new PlacedStore(t, server)
  const machine = randomUUID()
  const place = store.placeOf(machine, {
    address: { host: '127.0.0.1', port: server.port, user: 'guest', database: 'postgres' },
  })
  await place.found({ format: 7, writes: 1, machine: { machine, name: 'a' }, at: store.base })
  for (const [name, ask] of Object.entries(asked(store))) {
    await t.resolves(ask(place), `${name} asks for no more than these grants`)
  }
})

t.test('a machine has a name that no other one has, unless that one was retired', async (t) => {
  const { place } = await founded(t)
  const second = { machine: randomUUID(), name: 'Ärmel \'--; "\\' }
  await place.join(second)
  await place.join(second)
  const third = { machine: randomUUID(), name: second.name }
  await t.rejects(place.join(third), { kind: 'conflict', code: 'machine_name_taken' })
  await place.retire(second.machine)
  await place.retire(second.machine)
  await place.join(third)
  t.hasStrict((await place.machines()).map(({ name, machine, retired }) =>
    ({ name, machine, retired: retired !== null })), [
    { name: 'first', retired: false }, { ...second, retired: true }, { ...third, retired: false },
  ])
  await t.rejects(place.join(second), { kind: 'blocked', code: 'machine_retired' })
})

t.test('a joining whose answer was lost is its own, and one that another had come before is not', async (t) => {
  const { store, place: direct } = await founded(t)
  const proxy = await startProxy(t, () => server.port)
  const far = new PlacedStore(t, proxy)
  const lostFor = async (one: { machine: string, name: string }): Promise<boolean> => {
    const place = far.placeOf(one.machine, { storeId: store.storeId })
    // It is connected behind that, whatever it is told.
    await place.follow(7, 1).catch(() => undefined)
    proxy.holdReplies()
    const answer = place.join(one)
    await until('it is there', async () =>
      (await direct.machines()).some(({ machine }) => machine === one.machine))
    await setTimeout(100)
    proxy.cut()
    proxy.free()
    return answer
  }
  const [first, second] = ['b', 'c'].map((name) => ({ machine: randomUUID(), name }))
  if (first === undefined || second === undefined) throw new Error('two')
  t.equal(await lostFor(first), true)
  t.equal(await lostFor(first), false, 'a second use of one invitation')
  t.equal(await lostFor(second), true)
})

t.test('what a machine notes of itself never goes back', async (t) => {
  const { store, machine, place } = await founded(t)
  await server.query(`update sallyport.machines set seen = seen - interval '1 day',
    joined = '2026-01-02 03:04:05.678Z' where store = $1`, [store.storeId])
  await place.noteSeen(12)
  await place.noteSeen(11)
  const [row] = await place.machines()
  t.hasStrict(row, { machine, sequence: 12, retired: null, joined: '2026-01-02T03:04:05.678Z' })
  t.ok(Date.parse(row?.seen ?? '') > Date.now() - 3_600_000)
})

t.test('nothing of a machine that was retired, or never joined, is taken', async (t) => {
  const { store, place } = await founded(t)
  const { machine, place: retired } = await store.joined(place, 'second')
  const token = await retired.take('lane', 100_000)
  const [lease] = (await place.follow(7, 1)).leases
  await fenced(retired, 'op_open', facts, randomUUID(), [String(token)])
  await place.putStop('stp_0', facts)
  const left = await place.retire(machine)
  t.strictSame(left.operations, ['op_open'])
  t.ok(Date.parse(left.until ?? '') > Date.now(), 'what it has is told, and until when')
  t.strictSame(await place.retire(machine), left, 'and the next time')
  t.strictSame((await place.follow(7, 1)).leases, [{ ...lease, token: null }], 'it keeps the lane')
  t.equal(await place.take('lane', 100_000), null)
  t.strictSame((await place.fencesSince('stp_0')).map(({ taken, closed }) => [taken, closed]),
    [[true, false]], 'a piece of it may be leaving')
  const before = await rowsOf(store)
  for (const stranger of [retired, store.placeOf(randomUUID())]) {
    for (const [name, ask] of Object.entries(asked(store))) {
      await t.rejects(ask(stranger), { kind: 'blocked', code: 'machine_retired' }, name)
    }
  }
  t.equal(await rowsOf(store), before)
})

t.test('A-197 what a retired machine has is free once its lease is over, and its fence with it', async (t) => {
  const { store, place } = await founded(t)
  const { machine, place: retired } = await store.joined(place, 'second')
  await retired.take('lane', 100_000)
  await retired.take('hold/op_2', 100_000)
  for (const name of ['op_1', 'op_2']) await fenced(retired, name, facts, randomUUID(), [])
  await fenced(place, 'op_here', facts, randomUUID(), [])
  await place.putStop('stp_1', facts)
  await place.retire(machine)
  const taken = async () => (await place.fencesSince('stp_1'))
    .flatMap((one) => (one.taken ? one.operation : [])).sort()
  t.strictSame(await taken(), ['op_1', 'op_2', 'op_here'])
  await server.query(`update sallyport.fences set taken_at = taken_at - interval '151 s'
    where store = $1`, [store.storeId])
  t.strictSame(await taken(), ['op_here'], 'one that is not retired says itself what left')
  t.strictSame((await place.retire(machine)).operations, ['op_2'], 'it has the guard still')
  await server.query(`update sallyport.leases set ends = clock_timestamp() where store = $1`,
    [store.storeId])
  t.strictSame(await place.retire(machine), { operations: [], until: null })
  t.type(await place.take('lane', 100_000), 'string')
  await server.query(`update sallyport.machines set retired = retired - interval '11 minutes'
    where store = $1 and retired is not null`, [store.storeId])
  await place.giveFence('op_here', facts, randomUUID(), true)
  t.strictSame(await server.query(
    'select operation from sallyport.fences where store = $1', [store.storeId]),
  [{ operation: 'op_here' }], 'those rows are removed with others of long ago')
})

t.test('a program that writes less than the store has seen is refused', async (t) => {
  const { store, machine, place } = await founded(t)
  const newer = store.placeOf(machine, { writes: 3 })
  await newer.follow(7, 1)
  await newer.follow(7, 1)
  const before = await rowsOf(store)
  for (const [name, ask] of Object.entries(asked(store))) {
    await t.rejects(ask(place), {
      kind: 'blocked', code: 'state_too_new', details: { writes: 3, known: 1 },
    }, name)
  }
  await t.rejects(place.join({ machine: randomUUID(), name: 'older' }), { code: 'state_too_new' })
  t.equal(await rowsOf(store), before)
  await server.query('update sallyport.stores set format = 999 where store = $1', [store.storeId])
  await t.rejects(newer.follow(7, 1), { code: 'state_too_new', details: { format_version: 999 } })
})

t.test('a server that is another run than the store knows takes nothing', async (t) => {
  const { store, place } = await founded(t)
  await server.query("update sallyport.stores set run = 'x' where store = $1", [store.storeId])
  const before = await rowsOf(store)
  for (const [name, ask] of Object.entries(asked(store))) {
    await t.rejects(ask(place), { kind: 'conflict', code: 'server_changed', reason: 'run' }, name)
  }
  await t.rejects(place.join({ machine: randomUUID(), name: 'x' }), { code: 'server_changed' })
  t.equal(await rowsOf(store), before)
})

t.test('a server without tables, and one without the store, is another server', async (t) => {
  const store = new PlacedStore(t, server)
  const place = store.placeOf(randomUUID())
  const missing = { kind: 'conflict', code: 'server_changed', reason: 'store_missing' }
  for (const [name, ask] of Object.entries(asked(store))) await t.rejects(ask(place), missing, name)
  await t.rejects(place.join({ machine: randomUUID(), name: 'x' }), missing)
  await server.query('drop schema sallyport cascade')
  for (const [name, ask] of Object.entries(asked(store))) await t.rejects(ask(place), missing, name)
})

t.test('a machine that is retired while it writes has written before, or not at all', async (t) => {
  const { store, place } = await founded(t)
  for (let round = 0; round < 30; round += 1) {
    const { machine, place: leaving } = await store.joined(place, `m${round}`)
    let at = (await leaving.follow(7, 1_000)).records.at(-1) ?? store.base
    const write = async (): Promise<number> => {
      try {
        for (;;) {
          const record = recordAfter(at)
          if (await leaving.append(at, record, []) !== 'placed') return -1
          at = record
        }
      } catch {
        return at.sequence
      }
    }
    const writing = write()
    for (let number = 0; number < round % 5; number += 1) await place.follow(7, 1)
    await place.retire(machine)
    const last = (await place.follow(7, 1_000)).records.at(-1)?.sequence ?? 7
    t.equal(await writing, last, 'nothing came behind the answer')
  }
})

t.test('whoever retires a machine waits for what it is writing', async (t) => {
  const { store, place } = await founded(t)
  const { machine, place: leaving } = await store.joined(place, 'second')
  const underWay = await slowly(server, store.storeId)
  const record = recordAfter(store.base)
  const appended = leaving.append(store.base, record, [])
  await underWay()
  await place.retire(machine)
  t.strictSame((await place.follow(7, 10)).records, [record])
  t.equal(await appended, 'placed')
})

t.test('what a machine begins just before it is retired is told with the rest', async (t) => {
  const { store, place } = await founded(t)
  const { machine, place: leaving } = await store.joined(place, 'second')
  await fenced(leaving, 'op_0', facts, randomUUID(), [])
  const client = new pg.Client(server.url)
  await client.connect()
  t.teardown(() => client.end())
  await client.query('begin')
  await client.query('select from sallyport.machines where machine = $1 for share', [machine])
  await client.query(`insert into sallyport.fences
    (store, operation, machine, holder, turn, taken, closed, facts)
    values ($1, 'op_1', $2, '', gen_random_uuid(), true, false, $3)`,
  [store.storeId, machine, facts])
  const retired = place.retire(machine)
  await until('it waits', async () => (await server.query(
    "select from pg_stat_activity where wait_event_type = 'Lock'")).length > 0)
  await client.query('commit')
  t.strictSame((await retired).operations, ['op_0', 'op_1'])
})

t.test('what a machine writes while it is being retired waits, and is refused', async (t) => {
  const { store, place } = await founded(t)
  const { machine, place: leaving } = await store.joined(place, 'second')
  const client = new pg.Client(server.url)
  await client.connect()
  t.teardown(() => client.end())
  await client.query('begin')
  await client.query('update sallyport.machines set retired = now() where machine = $1', [machine])
  const asks = [
    leaving.append(store.base, recordAfter(store.base), []),
    fenced(leaving, 'op_1', facts, randomUUID(), []),
  ]
  const refused = Promise.allSettled(asks)
  await until('it waits', async () => (await server.query(
    "select from pg_stat_activity where wait_event_type = 'Lock'")).length > 0)
  await client.query('commit')
  for (const one of await refused) {
    t.hasStrict(one, { status: 'rejected', reason: { code: 'machine_retired' } })
  }
  t.equal(await rowsOf(store), 1, 'the record that it began with')
})
