/** A blob is there whole or not at all. */
import { createHash, randomBytes } from 'node:crypto'
import pg from 'pg'
import t, { type Test } from 'tap'
import type { Place } from '../../../../src/state/place/place.js'
import { PlacedStore } from '../../../support/place/placed.js'
import { startPostgres } from '../../../support/place/postgres.js'
import { until } from '../../../support/until.js'

const server = await startPostgres(t)

const two = async (t: Test) => {
  const store = new PlacedStore(t, server)
  const { place } = await store.founded()
  const pieces = async (): Promise<number> => (await server.query<{ count: number }>(
    'select count(*)::int from sallyport.blobs where store = $1', [store.storeId]))[0]?.count ?? -1
  return { store, place, pieces, other: (await store.joined(place, 'other')).place }
}

const got = async (place: Place, name: string): Promise<readonly Buffer[]> => {
  const pieces: Buffer[] = []
  for await (const piece of place.getBlob(name)) pieces.push(piece)
  return pieces
}

t.test('a blob comes back in the pieces that it was put in', async (t) => {
  const { place, other } = await two(t)
  const pieces = [1, 0, 2_500_000, 3, ...Array<number>(150).fill(9), 5_000_000, 7]
    .map((bytes) => randomBytes(bytes))
  await place.putBlob('a', pieces)
  const back = await got(other, 'a')
  t.strictSame(back.map(({ length }) => length), pieces.map(({ length }) => length))
  t.ok(Buffer.concat(back).equals(Buffer.concat(pieces)))
  await place.putBlob('nothing', [])
  t.strictSame(await got(other, 'nothing'), [])
  t.strictSame(await other.hasBlobs(['b', 'nothing', 'a']), ['nothing', 'a'])
  t.strictSame(await other.hasBlobs([]), [])
})

t.test('a blob that was cut off while it was put is not there', async (t) => {
  const { place, other, pieces } = await two(t)
  const torn = async function* (): AsyncGenerator<Buffer> {
    yield randomBytes(2_000_000)
    throw new Error('cut off')
  }
  await t.rejects(place.putBlob('a', torn()), /cut off/)
  t.equal(await pieces(), 1)
  t.strictSame(await other.hasBlobs(['a']), [])
  t.strictSame(await got(other, 'a'), [])
  await other.putBlob('a', [Buffer.from('whole')])
  t.strictSame(await got(place, 'a'), [Buffer.from('whole')])
  t.equal(await pieces(), 1, 'what the first try left is gone')
})

t.test('a blob that is there whole stays as it is, and its pieces are not asked for', async (t) => {
  const { place, other, pieces } = await two(t)
  await place.putBlob('a', [Buffer.from('first')])
  const never = async function* (): AsyncGenerator<Buffer> {
    t.fail('a piece was asked for')
    yield Buffer.alloc(1)
  }
  await other.putBlob('a', never())
  t.strictSame(await got(other, 'a'), [Buffer.from('first')])
  t.equal(await pieces(), 1)
})

t.test('of two that put a blob at once one is taken, whole', async (t) => {
  const { place, other, pieces } = await two(t)
  for (let round = 0; round < 10; round += 1) {
    const name = `r${round}`
    const mine = [1, 2, 3].map(() => randomBytes(400_000))
    const theirs = [1, 2].map(() => randomBytes(400_000))
    await Promise.all([place.putBlob(name, mine), other.putBlob(name, theirs)])
    const back = Buffer.concat(await got(place, name))
    t.ok(back.equals(Buffer.concat(mine)) || back.equals(Buffer.concat(theirs)))
    await place.removeBlobs([name])
    t.equal(await pieces(), 0)
  }
})

t.test('a blob that is removed while it is put is not there in part', async (t) => {
  const { place, other, pieces } = await two(t)
  const removing = async function* (): AsyncGenerator<Buffer> {
    yield randomBytes(2_000_000)
    await other.removeBlobs(['a', 'b'])
    yield randomBytes(2_000_000)
  }
  await t.rejects(place.putBlob('a', removing()), { kind: 'conflict', code: 'blob_removed' })
  t.strictSame(await place.hasBlobs(['a']), [])
  t.strictSame(await got(place, 'a'), [])
  await place.removeBlobs(['a'])
  await place.removeBlobs([])
  t.equal(await pieces(), 0)
})

t.test('a blob whose pieces are being removed while it is named is not there', async (t) => {
  const { store, place } = await two(t)
  const client = new pg.Client(server.url)
  await client.connect()
  t.teardown(() => client.end())
  const removing = async function* (): AsyncGenerator<Buffer> {
    yield randomBytes(2_000_000)
    await client.query('begin')
    await client.query('delete from sallyport.blobs where store = $1', [store.storeId])
  }
  const put = place.putBlob('a', removing()).then(() => 'put', (error: unknown) => error)
  await until('the naming waits', async () => (await server.query(
    "select from pg_stat_activity where wait_event_type = 'Lock'")).length > 0)
  await client.query('commit')
  t.hasStrict(await put, { kind: 'conflict', code: 'blob_removed' })
  t.strictSame(await place.hasBlobs(['a']), [])
})

t.test('a blob that is removed while it is read is no shorter one', async (t) => {
  const { place, other } = await two(t)
  const pieces = [1, 2, 3].map(() => randomBytes(3_000_000))
  for (const again of [[], [Buffer.concat(pieces)]]) {
    await place.putBlob('a', pieces)
    const reading = place.getBlob('a')[Symbol.asyncIterator]()
    t.ok((await reading.next()).value?.equals(pieces[0] ?? Buffer.alloc(0)))
    await other.removeBlobs(['a'])
    if (again.length > 0) await other.putBlob('a', again)
    const rest = (async () => { while ((await reading.next()).done !== true); })()
    await t.rejects(rest, { kind: 'conflict', code: 'blob_removed' })
    await other.removeBlobs(['a'])
  }
})

t.test('a blob that grows while it is read has as many pieces as it had', async (t) => {
  const { store, place } = await two(t)
  const pieces = [1, 2, 3].map(() => randomBytes(3_000_000))
  await place.putBlob('a', pieces)
  const back: Buffer[] = []
  for await (const piece of place.getBlob('a')) {
    back.push(piece)
    if (back.length > 9) break
    await server.query(`insert into sallyport.blobs (store, name, attempt, piece, body)
      select store, name, attempt, max(piece) + 1, 'more' from sallyport.blobs
      where store = $1 group by store, name, attempt`, [store.storeId])
    await server.query('update sallyport.blob_names set pieces = pieces + 1 where store = $1',
      [store.storeId])
  }
  t.ok(Buffer.concat(back).equals(Buffer.concat(pieces)))
})

t.test('a gap in a blob is damage', async (t) => {
  const { store, place } = await two(t)
  await place.putBlob('a', [1, 2, 3].map(() => randomBytes(3_000_000)))
  await server.query('delete from sallyport.blobs where store = $1 and piece = 2', [store.storeId])
  await t.rejects(got(place, 'a'), { kind: 'damaged', code: 'blob_torn' })
})

t.test('of many blobs each is compared with its name', async (t) => {
  const { store, place } = await two(t)
  const bodies = Array.from({ length: 45 }, (_, n) => Buffer.from(`body ${n}`))
  const names = bodies.map((body) => createHash('sha256').update(body).digest('hex'))
  for (const [at, body] of bodies.entries()) await place.putBlob(names[at] ?? '', body)
  t.strictSame(await place.untrueBlobs(names), [])
  await server.query("update sallyport.blobs set body = 'x' where store = $1", [store.storeId])
  t.strictSame((await place.untrueBlobs(names)).toSorted(), names.toSorted())
})

t.test('pieces of a machine that is retired while it puts a blob are not taken', async (t) => {
  const { store, place, pieces } = await two(t)
  const { machine, place: retired } = await store.joined(place, 'retired')
  const pieceBytes = 1024 * 1024
  const given = async function* (): AsyncGenerator<Buffer> {
    yield Buffer.alloc(pieceBytes, 1)
    await place.retire(machine)
    yield Buffer.alloc(pieceBytes, 2)
  }
  await t.rejects(retired.putBlob('a', given()), { kind: 'blocked', code: 'machine_retired' })
  t.equal(await pieces(), 1)
})

t.test('blobs that have lain there for a day are told in order, but for one that is kept', async (t) => {
  const store = new PlacedStore(t, server)
  const { place } = await store.founded()
  for (const name of ['d', 'b', 'a', 'c', 'new']) await place.putBlob(name, [Buffer.from(name)])
  await place.keepBlob('c')
  t.strictSame(await place.oldBlobs('', 9), [], 'their records may be about to be placed')
  await server.query(`update sallyport.blob_names set placed = placed - interval '25 hours'
    where store = $1 and name <> 'new'`, [store.storeId])
  t.strictSame(await place.oldBlobs('', 9), ['a', 'b', 'd'])
  t.strictSame(await place.oldBlobs('', 2), ['a', 'b'])
  t.strictSame(await place.oldBlobs('b', 2), ['d'])
})
