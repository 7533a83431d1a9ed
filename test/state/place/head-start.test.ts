/** A machine that joins begins with the files of the one that invited. */
import t, { type Test } from 'tap'
import * as v from 'valibot'
import { checkState } from '../../../src/state/care/check.js'
import { takeBase } from '../../../src/state/place/base.js'
import { headStart } from '../../../src/state/place/head-start.js'
import type { HeadStart } from '../../../src/state/place/head-start-shape.js'
import { joinShared } from '../../../src/state/place/share.js'
import type { CollectionSpec } from '../../../src/state/types.js'
import { memoryPlace } from '../../support/place/memory.js'
import { reaching, replicas } from '../../support/place/replicas.js'

const rows: CollectionSpec<{ readonly n: number }> = {
  name: 'rows', schema: v.strictObject({ n: v.number() }), partition: 'hash256',
}
const files: CollectionSpec<{ readonly file: string }> = {
  name: 'files', schema: v.strictObject({ file: v.string() }), partition: 'hash256',
}
const count = 12

/** A state of some records with a stored file, and who joins it by a head start. */
const filled = async (t: Test) => {
  const { store, server } = await replicas(t)
  for (let n = 0; n < count; n += 1) {
    await store.transact('test', (tx) => tx.put(rows, `r${n}`, { n }))
  }
  const ref = store.artifacts.write('test', Buffer.from('stored'))
  await store.transact('test', (tx) => tx.put(files, 'a', { file: ref.stored_sha256 }))
  let joins = 0
  const joined = async (start: HeadStart) => {
    joins += 1
    const root = `${store.replica.dir}/../joined-${joins}`
    let machine = ''
    const place = memoryPlace(server, () => machine)
    const { replica: { state, keys } } = store
    const at = server.records.at(-1)
    if (at === undefined) throw new Error('no record')
    const other = await joinShared({
      dir: `${root}/state`, configDir: `${root}/config`,
      reaching: { ...reaching, machineName: `m${joins}` }, place,
      joining: {
        storeId: store.storeId, key: keys.raw, createdAt: state.created_at,
        profile: state.profile, at, headStart: start,
      },
    })
    machine = other.settings.machine
    t.teardown(() => other.close())
    return other
  }
  return { store, server, ref, joined }
}

const made = async (store: Awaited<ReturnType<typeof filled>>['store']): Promise<HeadStart> => {
  const start = await headStart(store, 'test', 1)
  if (start === null) throw new Error('none was made')
  return start
}

t.test('a machine begins with the files of another one and follows what came since', async (t) => {
  const { store, server, ref, joined } = await filled(t)
  const start = await made(store)
  t.equal(start.sequence, server.records.at(-1)?.sequence)
  await store.transact('test', (tx) => tx.put(rows, 'later', { n: 99 }))
  // What lies before it is not asked for.
  server.records = server.records.filter(({ sequence }) => sequence >= start.sequence)
  const other = await joined(start)
  t.strictSame(other.read().all(rows), store.read().all(rows))
  t.strictSame(other.replica.end, store.replica.end)
  t.ok(other.artifacts.read('test', ref).equals(Buffer.from('stored')))
  const { dir, keyPlaces: { configDir } } = other.replica
  t.strictSame(checkState({ dir, configDir, specs: [rows, files] }).problems, [])
  await other.transact('test', (tx) => tx.put(rows, 'of the new one', { n: 1 }))
  await store.fresh()
  t.strictSame(store.read().get(rows, 'of the new one'), { n: 1 })
})

t.test('a machine that has gone on since another process of it began keeps what it has', async (t) => {
  const { store, joined } = await filled(t)
  const start = await made(store)
  const other = await joined(start)
  const { stored_sha256, sha256, bytes } = start
  await other.blobs.fetchNamed([stored_sha256])
  await other.transact('test', (tx) => tx.put(rows, 'behind', { n: 1 }))
  const { end } = other.replica
  await takeBase(other.replica, { stored_sha256, sha256, bytes })
  t.strictSame(other.replica.end, end)
})

t.test('one is made where there are many records behind the last one, which goes', async (t) => {
  const { store, server } = await filled(t)
  t.equal(await headStart(store, 'test'), null)
  const blobs = server.blobs.size
  const first = await made(store)
  t.equal(server.blobs.size, blobs + 1)
  t.strictSame(await headStart(store, 'test', 2), first, 'nothing came since')
  await store.transact('test', (tx) => tx.put(rows, 'later', { n: 99 }))
  const second = await made(store)
  t.not(second.stored_sha256, first.stored_sha256)
  t.equal(server.blobs.size, blobs + 1)
  t.notOk(server.blobs.has(first.stored_sha256))
})

t.test('every record is followed where the place withholds it or has another history', async (t) => {
  const { store, server, joined } = await filled(t)
  const start = await made(store)
  const other = await joined({ ...start, link: 'f'.repeat(64) })
  t.strictSame(other.replica.end, store.replica.end)
  server.blobs.delete(start.stored_sha256)
  const third = await joined(start)
  t.strictSame(third.replica.end, store.replica.end)
  t.strictSame(third.read().all(rows), store.read().all(rows))
})

t.test('files that are not those of the invitation are refused', async (t) => {
  const { store, server, joined } = await filled(t)
  const start = await made(store)
  const pieces = server.blobs.get(start.stored_sha256) ?? []
  const altered = Buffer.concat(pieces)
  altered.writeUInt8(altered.readUInt8(altered.length >> 1) ^ 1, altered.length >> 1)
  server.blobs.set(start.stored_sha256, [altered])
  await t.rejects(joined(start), { kind: 'damaged', code: 'artifact_damaged' })
})
