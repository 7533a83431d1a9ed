/** Giving a directory to a place, taking it back, and a server that another one took over from. */
import t from 'tap'
import * as v from 'valibot'
import { acceptServer, unshareDirectory } from '../../../src/state/place/sharing.js'
import { openStore } from '../../../src/state/store.js'
import type { CollectionSpec } from '../../../src/state/types.js'
import { replicas } from '../../support/place/replicas.js'

const rows: CollectionSpec<{ readonly n: number }> = {
  name: 'rows', schema: v.strictObject({ n: v.number() }), partition: 'hash256',
}
const put = (store: Awaited<ReturnType<typeof replicas>>['store'], n: number) =>
  store.transact('test', (tx) => {
    tx.put(rows, `r${n}`, { n })
    tx.mark()
  })

t.test('what a promoted standby lost is given back by the machine that had come farthest', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  for (const n of [1, 2, 3]) await put(store, n)
  server.records = server.records.slice(0, 2)
  server.isChanged = true
  await t.rejects(put(store, 4), { kind: 'conflict', code: 'server_changed' })
  await t.rejects(acceptServer(store), { code: 'machines_to_ask', details: { machines: 'b' } })
  await t.rejects(acceptServer(other), { code: 'machines_to_ask', details: { machines: 'a' } })
  t.strictSame(await acceptServer(store), { gave_back: 2, without: [] })
  t.strictSame((await other.fresh()).get(rows, 'r3'), { n: 3 })
  await put(other, 4)
  t.strictSame((await store.fresh()).get(rows, 'r4'), { n: 4 })
  t.equal(await acceptServer(store), null)
})

t.test('a machine that is gone is left out by name, and taken from then on no more', async (t) => {
  const { store, next, server } = await replicas(t)
  await next()
  await put(store, 1)
  server.isChanged = true
  t.strictSame(await acceptServer(store, 'b'), { gave_back: 0, without: ['b'] })
  t.ok(server.machines.find(({ name }) => name === 'b')?.retired)
})

t.test('a server that went on with records of its own is not accepted', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  await put(store, 1)
  await put(store, 2)
  await other.fresh()
  const [base, , second] = server.records
  if (base === undefined || second === undefined) throw new Error('no records')
  server.records = [base, { ...second, sequence: 1 }]
  server.isChanged = true
  await t.rejects(acceptServer(store), { code: 'machines_to_ask' })
  await t.rejects(acceptServer(other), { kind: 'conflict', code: 'server_changed' })
})

t.test('a state that is taken back is a directory again, and the others write no more', async (t) => {
  const { store, next } = await replicas(t)
  const other = await next()
  await put(other, 1)
  const { dir, keyPlaces: { configDir } } = store.replica
  await unshareDirectory(store)
  await t.rejects(put(other, 2), { kind: 'blocked', code: 'state_unshared' })
  const opened = openStore({ dir, configDir, mode: 'write' })
  t.teardown(() => opened.close())
  t.equal(opened.keptIn, 'directory')
  t.strictSame(opened.read().get(rows, 'r1'), { n: 1 })
  await opened.transact('test', (tx) => tx.put(rows, 'r2', { n: 2 }))
  t.equal(opened.anchor().status, 'ok')
})
