/** What is answered came to be once, whoever else writes and whatever is lost. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { placeTimes, type Place, type PlacedRecord, type Position,
} from '../../../../src/state/place/place.js'
import { PlacedStore, fenced, linkOf, recordAfter, slowly } from '../../../support/place/placed.js'
import { startPostgres } from '../../../support/place/postgres.js'
import { startProxy } from '../../../support/place/proxy.js'
import { until } from '../../../support/until.js'

const server = await startPostgres(t)
const [writers, each] = [8, 200]

/** What a record says of itself and of all before it. */
const linked = (before: Position, body: Buffer): Buffer =>
  linkOf(`${before.link.toString('hex')}${body.toString()}`)

const all = async (place: Place, after: number, limit = 1_000): Promise<PlacedRecord[]> => {
  const records: PlacedRecord[] = []
  for (;;) {
    const looked = await place.follow(records.at(-1)?.sequence ?? after, limit)
    records.push(...looked.records)
    if (!looked.more) return records
  }
}

t.test('eight machines that write at once lose nothing and double nothing', async (t) => {
  const store = new PlacedStore(t, server)
  const { place } = await store.founded()
  const write = async (by: Place, name: number): Promise<number> => {
    let at: Position = store.base
    let moved = 0
    for (let number = 0; number < each;) {
      const body = Buffer.from(`${name}/${number}`)
      const record = { sequence: at.sequence + 1, link: linked(at, body), body }
      if (await by.append(at, record, []) === 'placed') {
        at = record
        number += 1
        continue
      }
      moved += 1
      at = (await by.follow(at.sequence, 1_000)).records.at(-1) ?? at
    }
    return moved
  }
  const joined = await Promise.all(Array.from({ length: writers }, (_, name) =>
    store.joined(place, `writer-${name}`)))
  const moved = await Promise.all(joined.map(({ place: by }, name) => write(by, name)))
  t.ok(moved.reduce((sum, one) => sum + one, 0) > 0, 'they met')
  const records = await all(place, store.base.sequence, 300)
  t.equal(records.length, writers * each)
  t.equal(new Set(records.map(({ body }) => body.toString())).size, writers * each)
  let at: Position = store.base
  for (const record of records) {
    if (record.sequence !== at.sequence + 1 || !record.link.equals(linked(at, record.body))) break
    at = record
  }
  t.equal(at.sequence, store.base.sequence + writers * each, 'each stands behind the one before')
})

t.test('a look has so many records and so many bytes, and says whether there are more', async (t) => {
  const store = new PlacedStore(t, server)
  const { place } = await store.founded()
  let at: Position = store.base
  for (const bytes of [10, 20 * 1024 * 1024, 10, 0]) {
    const record = recordAfter(at, bytes)
    t.equal(await place.append(at, record, []), 'placed')
    at = record
  }
  const numbers = async (after: number, limit: number) => {
    const { records, more } = await place.follow(after, limit)
    return [records.map(({ sequence }) => sequence), more]
  }
  t.strictSame(await numbers(6, 10), [[7, 8, 9], true], 'the one that is too much comes last')
  t.strictSame(await numbers(9, 10), [[10, 11], false])
  t.strictSame(await numbers(7, 1), [[8], true])
  t.strictSame(await numbers(11, 10), [[], false])
})

t.test('a place that has less than a machine, or something else, is another server', async (t) => {
  const store = new PlacedStore(t, server)
  const { place } = await store.founded()
  const at = { sequence: 9, link: linkOf('nine') }
  const changed = (reason: string) => ({ kind: 'conflict', code: 'server_changed', reason })
  await t.rejects(place.follow(9, 10), changed('behind'))
  await t.rejects(place.append(at, recordAfter(at), []), changed('behind'))
  const other = { ...store.base, link: linkOf('another') }
  await t.rejects(place.append(other, recordAfter(other), []), changed('other_history'))
  const { place: unknown } = await new PlacedStore(t, server).founded()
  await server.query('delete from sallyport.stores where store <> $1', [store.storeId])
  await t.rejects(unknown.follow(7, 10), changed('store_missing'))
  await t.rejects(unknown.append(store.base, recordAfter(store.base), []), changed('store_missing'))
})

t.test('what is answered stands on the disk of the server, whatever it is set to', async (t) => {
  t.teardown(() => server.query('alter role sallyport reset synchronous_commit;'
    + 'drop function says_durable cascade'))
  await server.query('create table said (kept_as text)')
  await server.query(`create function says_durable() returns trigger language plpgsql as
    $$ begin insert into said values (current_setting('synchronous_commit')); return new; end $$`)
  for (const [set, kept] of [
    ['off', 'on'], ['local', 'on'], ['on', 'on'], ['remote_write', 'remote_write'],
  ] as const) {
    await server.query(`alter role sallyport set synchronous_commit = '${set}'`)
    const store = new PlacedStore(t, server)
    const { place } = await store.founded()
    for (const table of ['records', 'stops', 'fences', 'blob_names']) {
      await server.query(`create or replace trigger says before insert on sallyport.${table}
        for each row execute function says_durable()`)
    }
    await server.query('delete from said')
    t.equal(await place.append(store.base, recordAfter(store.base), []), 'placed')
    await place.putStop('stp_1', Buffer.from('stop'))
    await fenced(place, 'op_1', Buffer.from('facts'), randomUUID(), [])
    await place.putBlob('one', Buffer.from('piece'))
    await place.putBlob('more', [Buffer.from('piece')])
    t.strictSame(await server.query('select kept_as from said'),
      Array.from({ length: 5 }, () => ({ kept_as: kept })), set)
  }
})

t.test('records are placed under leases that are ours, and renew them', async (t) => {
  const store = new PlacedStore(t, server)
  const { place } = await store.founded()
  const { place: other } = await store.joined(place, 'other')
  const lane = String(await place.take('lane', 60_000))
  const guard = String(await place.take('guard', 60_000))
  const theirs = String(await other.take('theirs', 60_000))
  const first = recordAfter(store.base)
  t.equal(await place.append(store.base, first, [lane, theirs]), 'lease_lost')
  t.equal((await place.follow(7, 10)).records.length, 0, 'nothing was placed')
  const left = async () => (await server.query<{ left: number }>(`
    select extract(epoch from min(ends) - clock_timestamp())::int as left
    from sallyport.leases where store = $1 and name in ('lane', 'guard')`,
  [store.storeId]))[0]?.left
  t.ok((await left() ?? 0) <= 60)
  t.equal(await place.append(store.base, first, [lane, guard, lane]), 'placed')
  t.ok((await left() ?? 0) > 60, 'both were renewed')
  await place.release([guard])
  t.equal(await place.append(first, recordAfter(first), [lane, guard]), 'lease_lost')
  t.equal(await place.append(store.base, first, [guard]), 'placed', 'it had been before')
})

t.test('a record whose answer was lost came to be once', async (t) => {
  const store = new PlacedStore(t, server)
  const { place: direct } = await store.founded()
  const proxy = await startProxy(t, () => server.port)
  const { machine } = await store.joined(direct, 'behind a proxy')
  const far = new PlacedStore(t, proxy)
  const place = far.placeOf(machine, { storeId: store.storeId })
  await place.follow(7, 10)
  let at: Position = store.base
  const isThere = async (sequence: number) =>
    (await direct.follow(sequence - 1, 1)).records.length === 1
  for (let round = 0; round < 5; round += 1) {
    const record = recordAfter(at)
    proxy.holdReplies()
    const appended = place.append(at, record, [])
    await until('the record is there', () => isThere(record.sequence))
    proxy.cut()
    proxy.free()
    t.equal(await appended, 'placed')
    at = record
  }
  t.equal((await all(direct, 7)).length, 5)
})

t.test('a record that came to be before its answer was lost did so, whatever is refused since', async (t) => {
  const refusals = (store: PlacedStore, machine: string) => ({
    machine_retired: ['update sallyport.machines set retired = now() where machine = $1', machine],
    server_changed: ["update sallyport.stores set run = 'x' where store = $1", store.storeId],
  } as const)
  for (const refusal of ['machine_retired', 'server_changed'] as const) {
    for (const isPlaced of [true, false]) {
      const store = new PlacedStore(t, server)
      const { place: direct, machine } = await store.founded()
      const proxy = await startProxy(t, () => server.port)
      const place = new PlacedStore(t, proxy).placeOf(machine, { storeId: store.storeId })
      await place.follow(7, 10)
      const record = recordAfter(store.base)
      proxy.holdReplies()
      const appended = place.append(store.base, record, []).catch((error: unknown) => error)
      await until('the record is there', async () =>
        (await direct.follow(7, 1)).records.length === 1)
      if (!isPlaced) {
        await server.query('delete from sallyport.records where store = $1 and sequence = 8',
          [store.storeId])
      }
      const [text, id] = refusals(store, machine)[refusal]
      await server.query(text, [id])
      proxy.cut()
      proxy.free()
      if (isPlaced) t.equal(await appended, 'placed', refusal)
      else t.hasStrict(await appended, { kind: 'partial', code: 'commit_unknown' }, refusal)
    }
  }
})

t.test('a record that is given again while it is being placed is placed once', async (t) => {
  const store = new PlacedStore(t, server)
  const { place: direct, machine } = await store.founded()
  const proxy = await startProxy(t, () => server.port)
  const place = new PlacedStore(t, proxy).placeOf(machine, { storeId: store.storeId })
  await place.follow(7, 10)
  const underWay = await slowly(server, store.storeId)
  const record = recordAfter(store.base)
  const appended = place.append(store.base, record, [])
  await underWay()
  proxy.cut()
  t.equal(await appended, 'placed')
  t.strictSame(await all(direct, 7), [record])
})

t.test('where nobody answers a record may have come to be, and giving it again tells', async (t) => {
  const store = new PlacedStore(t, server)
  const { place: direct, machine } = await store.founded()
  const proxy = await startProxy(t, () => server.port)
  const place = new PlacedStore(t, proxy).placeOf(machine, { storeId: store.storeId })
  await place.follow(7, 10)
  const { patienceMs } = placeTimes
  placeTimes.patienceMs = 300
  t.teardown(() => { placeTimes.patienceMs = patienceMs })
  const [first, other] = [recordAfter(store.base), recordAfter(store.base)]
  proxy.holdReplies()
  const unknown = { kind: 'partial', code: 'commit_unknown' }
  await t.rejects(place.append(store.base, first, []), unknown)
  proxy.cut()
  proxy.hold()
  await t.rejects(place.append(store.base, first, []),
    { kind: 'locked', code: 'place_unreachable', reason: 'no_answer' }, 'nothing was sent')
  proxy.cut()
  proxy.free()
  placeTimes.patienceMs = patienceMs
  t.equal(await place.append(store.base, first, []), 'placed')
  t.equal(await place.append(store.base, other, []), 'moved')
  t.strictSame((await all(direct, 7)), [first])
})
