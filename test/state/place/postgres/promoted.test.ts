/** A standby that takes over is another server, for machines that were behind it, too. */
import { randomUUID } from 'node:crypto'
import t from 'tap'
import { PlacedStore, fenced, recordAfter } from '../../../support/place/placed.js'
import { startPostgres } from '../../../support/place/postgres.js'
import { startProxy } from '../../../support/place/proxy.js'
import { until } from '../../../support/until.js'

t.test('a standby reads only, and what it is behind by is noticed once it is promoted', async (t) => {
  const server = await startPostgres(t)
  const store = new PlacedStore(t, server)
  const { place, machine } = await store.founded()
  const way = await startProxy(t, () => server.port)
  const standby = await server.standby(way)
  const known = recordAfter(store.base)
  t.equal(await place.append(store.base, known, []), 'placed')
  await until('the standby has it', async () => (await standby.query(
    'select 1 from sallyport.records where sequence = 8')).length === 1)
  t.equal((await place.facts()).standby, 'asynchronous')

  const there = new PlacedStore(t, standby).placeOf(machine, { storeId: store.storeId })
  const reads = { kind: 'locked', code: 'place_unreachable', reason: 'read_only' }
  await t.rejects(there.follow(7, 10), reads)
  await t.rejects(there.append(known, recordAfter(known), []), reads)
  await t.rejects(fenced(there, 'op_1', known.body, randomUUID(), []), reads)

  way.hold()
  t.equal(await place.append(known, recordAfter(known), []), 'placed')
  await server.stop('SIGKILL')
  await standby.promote()
  const changed = { kind: 'conflict', code: 'server_changed', reason: 'run' }
  await t.rejects(there.follow(7, 10), changed, 'for one that never had the lost record')
  await t.rejects(there.append(known, recordAfter(known), []), changed)
  await t.rejects(fenced(there, 'op_1', known.body, randomUUID(), []), changed)
  await t.rejects(there.take('lane', 1_000), changed)
  const [row] = await standby.query<{ n: number }>(
    'select count(*)::int as n from sallyport.records')
  t.equal(row?.n, 2, 'nothing was placed')
})

t.test('a server that starts again after a loss of power is the same one', async (t) => {
  const server = await startPostgres(t, { settings: { fsync: 'on' } })
  const store = new PlacedStore(t, server)
  const { place } = await store.founded()
  const record = recordAfter(store.base)
  await place.append(store.base, record, [])
  await server.stop('SIGKILL')
  await server.start()
  t.strictSame((await place.follow(7, 10)).records, [record])
})
