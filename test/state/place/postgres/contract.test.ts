import { randomUUID } from 'node:crypto'
import t from 'tap'
import { PlacedStore, fenced, recordAfter } from '../../../support/place/placed.js'
import { startPostgres } from '../../../support/place/postgres.js'

t.test('a store is founded, joined, written to and followed', async (t) => {
  const server = await startPostgres(t)
  const store = new PlacedStore(t, server)
  const { machine, place } = await store.founded()
  const { place: other } = await store.joined(place, 'second')
  const record = recordAfter(store.base)
  t.equal(await place.append(store.base, record, []), 'placed')
  t.equal(await other.append(store.base, recordAfter(store.base), []), 'moved')
  const followed = await other.follow(store.base.sequence, 10)
  t.strictSame(followed.records, [record])
  t.equal(followed.more, false)
  const token = await place.take('lane', 10_000)
  t.type(token, 'string')
  t.equal(await other.take('lane', 10_000), null)
  t.strictSame((await other.follow(8, 10)).leases, [{ name: 'lane', machine, token: null }])
  t.strictSame(await place.renew([String(token)], 10_000), [token])
  t.equal(await place.append(record, recordAfter(record), [String(token)]), 'placed')
  t.strictSame(await fenced(place, 'op_1', Buffer.from('a'), randomUUID(), []), [])
  await other.putStop('stp_1', Buffer.from('stop'))
  t.strictSame((await other.fencesSince('stp_1')).map(({ taken }) => taken), [true])
  t.strictSame(await fenced(place, 'op_1', Buffer.from('b'), randomUUID(), []),
    [{ id: 'stp_1', body: Buffer.from('stop') }])
  await place.giveFence('op_1', Buffer.from('c'), randomUUID(), true)
  t.hasStrict(await other.fencesSince('stp_1'), [{ closed: true, taken: false }])
  await other.dropStop('stp_1')
  const pieces = [Buffer.from('one'), Buffer.alloc(0), Buffer.alloc(3_000_000, 7)]
  await place.putBlob('f00', pieces)
  t.strictSame(await other.hasBlobs(['f01', 'f00']), ['f00'])
  const got: Buffer[] = []
  for await (const piece of other.getBlob('f00')) got.push(piece)
  t.ok(Buffer.concat(got).equals(Buffer.concat(pieces)))
  await other.removeBlobs(['f00'])
  t.strictSame(await other.hasBlobs(['f00']), [])
  await other.noteSeen(9)
  t.hasStrict(await place.machines(), [{ name: 'first' }, { name: 'second', sequence: 9 }])
  t.hasStrict(await place.facts(), { tls: null, standby: 'none', sequence: 9 })
})
