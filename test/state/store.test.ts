import { join } from 'node:path'
import { statSync } from 'node:fs'
import { SallyportError } from '../../src/base/errors.js'
import { compactState } from '../../src/state/care/compact.js'
import { createStore, openStore } from '../../src/state/store.js'
import type { RangeOptions, Tx } from '../../src/state/types.js'
import { again, errorOf, items, notes, numbers, put } from '../support/state/notes.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'
import { bareProfile } from '../world/state.js'

t.test('a new store is empty, at sequence 0, private, and gives its profile back', async (t) => {
  const { store } = await World.in(t).store()
  t.equal(store.read().sequence, 0)
  t.strictSame(store.read().all(notes), [])
  t.strictSame(store.profile, bareProfile)
  t.equal(store.anchor().status, 'ok')
  t.equal(statSync(store.dir).mode & 0o777, 0o700)
  for (const name of ['STATE', 'lock', 'witness.log']) {
    t.equal(statSync(join(store.dir, name)).mode & 0o777, 0o600, name)
  }
  t.equal(statSync(store.keyPlaces.key).mode & 0o777, 0o600)
})

t.test('a place that holds something is never made into a state directory', async (t) => {
  const { store } = await World.in(t).store()
  const error = errorOf(() => createStore({
    dir: store.dir, configDir: join(store.dir, '..', 'config'), profile: {},
  }))
  t.hasStrict(error, { kind: 'conflict', code: 'state_exists' })
})

t.test('a place without a state directory is refused as no_state', async (t) => {
  const dir = t.testdir()
  const error = errorOf(() => openStore({ dir, configDir: dir, mode: 'read' }))
  t.matchStrict(error, { kind: 'no_state', next: /init/ })
})

t.test('a transaction reads its own writes and commits them as one record', async (t) => {
  const { store } = await World.in(t).store()
  const seen = await store.transact('test', (tx) => {
    tx.put(notes, 'b', { n: 1, text: '' })
    tx.put(notes, 'a', { n: 2, text: '' })
    tx.put(notes, 'b', { n: 3, text: '' })
    tx.put(notes, 'c', { n: 4, text: '' })
    tx.remove(notes, 'c')
    return { b: tx.get(notes, 'b')?.n, c: tx.get(notes, 'c'), ids: tx.all(notes).map((e) => e.id) }
  })
  t.strictSame(seen, { b: 3, c: undefined, ids: ['a', 'b'] })
  t.strictSame(numbers(store), { a: 2, b: 3 })
  t.equal(store.read().sequence, 1)
})

t.test('a throwing function and one that puts nothing write no record', async (t) => {
  const { store } = await World.in(t).store()
  await t.rejects(store.transact('test', (tx) => {
    tx.put(notes, 'a', { n: 1, text: '' })
    throw new Error('no')
  }), { message: 'no' })
  t.equal(await store.transact('test', () => 7), 7)
  t.equal(store.read().sequence, 0)
  t.strictSame(numbers(store), {})
})

t.test('an error thrown inside a transaction comes out as it was thrown', async (t) => {
  const { store } = await World.in(t).store()
  const own = Object.assign(new Error('mine'), { code: 'ENOSPC' })
  await t.rejects(store.transact('test', () => { throw own }), own)
})

t.test('a transaction may neither wait nor be used after its end', async (t) => {
  const { store } = await World.in(t).store()
  await t.rejects(store.transact('test', async () => undefined),
    new TypeError('a transaction must not wait'))
  let kept: Tx | undefined
  await store.transact('test', (tx) => { kept = tx })
  t.throws(() => kept?.put(notes, 'a', { n: 1, text: '' }),
    new TypeError('the transaction has ended'))
  t.equal(store.read().sequence, 0)
})

t.test('a document that breaks its shape is refused without quoting it', async (t) => {
  const { store } = await World.in(t).store()
  const bad = { n: 'secret-value', text: '' } as unknown as { n: number; text: string }
  const error = await store.transact('test', (tx) => tx.put(notes, 'a', bad)).catch((e) => e)
  t.ok(error instanceof SallyportError)
  t.hasStrict(error, { kind: 'failed', code: 'invalid_document', details: { field: 'n' } })
  t.notMatch(JSON.stringify([error.message, error.details, String(error.cause)]), 'secret-value')
  t.equal(store.read().sequence, 0)
})

t.test('names and ids that no record may hold are refused', async (t) => {
  const { store } = await World.in(t).store()
  const doc = { n: 1, text: '' }
  for (const id of ['', 'x'.repeat(513), '\ud800']) {
    await t.rejects(store.transact('test', (tx) => tx.put(notes, id, doc)),
      new TypeError('a document id must be 1 to 512 characters'))
  }
  const wrong = { ...notes, name: '../notes' }
  await t.rejects(store.transact('test', (tx) => tx.put(wrong, 'a', doc)),
    new TypeError('not a collection name'))
  t.equal(store.read().sequence, 0)
})

t.test('ids that look like prototype members are ordinary ids, also in snapshots', async (t) => {
  const { store } = await World.in(t).store()
  for (const id of ['__proto__', 'constructor', '10', '9']) await put(store, id, 1)
  await store.exclusive('fold', () => store.checkpoint())
  await put(store, 'z', 2)
  const ids = store.read().all(notes).map((e) => e.id)
  t.strictSame(ids, ['10', '9', '__proto__', 'constructor', 'z'])
  t.equal(store.read().get(notes, '__proto__')?.n, 1)
  t.equal(store.read().get(notes, 'toString'), undefined)
})

t.test('what a transaction has put stays what it was, for itself and for everybody after it', async (t) => {
  const { store } = await World.in(t).store()
  const [own, odd] = [{ n: -0, text: 'ü' }, { text: 'b', n: 1, 7: undefined }]
  await store.transact('test', (tx) => {
    tx.put(notes, 'own', own)
    t.throws(() => tx.put(notes, 'odd', odd), { code: 'invalid_document' })
    own.n = 5
    t.strictSame(tx.get(notes, 'own'), { n: 0, text: 'ü' })
    t.strictSame(tx.all(notes), [{ id: 'own', doc: { n: 0, text: 'ü' } }])
    t.ok(Object.isFrozen(tx.get(notes, 'own')))
    tx.put(notes, 'other', { text: 'a', n: 2 })
    tx.remove(notes, 'other')
    t.equal(tx.get(notes, 'other'), undefined)
  })
  for (const view of [store.read(), again(t, store).read()]) {
    t.strictSame(view.all(notes), [{ id: 'own', doc: { n: 0, text: 'ü' } }])
  }
})

t.test('documents that are read are frozen', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const doc = store.read().get(notes, 'a')
  t.ok(Object.isFrozen(doc))
})

t.test('what the caller does with a document after putting it changes nothing', async (t) => {
  const { store } = await World.in(t).store()
  const doc = { n: 1, text: 'x' }
  await store.transact('test', (tx) => {
    tx.put(notes, 'a', doc)
    doc.n = 99
  })
  t.strictSame(numbers(store), { a: 1 })
})

t.test('a view keeps its moment while later records and a fold arrive', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await put(store, 'gone', 1)
  const view = store.read()
  await put(store, 'a', 2)
  await store.transact('test', (tx) => tx.remove(notes, 'gone'))
  await store.exclusive('fold', () => store.checkpoint())
  await put(store, 'b', 3)
  t.equal(view.sequence, 2)
  t.equal(view.get(notes, 'a')?.n, 1)
  t.strictSame(view.all(notes).map((e) => e.id), ['a', 'gone'])
  t.strictSame(numbers(store), { a: 2, b: 3 })
})

t.test('another open store sees each record by reading only the tail of the log', async (t) => {
  const { store } = await World.in(t).store()
  const reader = again(t, store)
  for (let n = 1; n <= 5; n += 1) {
    await put(store, 'a', n)
    t.strictSame(numbers(reader), { a: n })
  }
  await store.exclusive('fold', () => store.checkpoint())
  await put(store, 'a', 6)
  t.strictSame(numbers(reader), { a: 6 })
})

t.test('two writers on one directory never lose each other\'s records', async (t) => {
  const { store } = await World.in(t).store()
  const other = again(t, store, 'write')
  const add = (by: typeof store): Promise<void> =>
    by.transact('add', (tx) => {
      tx.put(notes, 'sum', { n: (tx.get(notes, 'sum')?.n ?? 0) + 1, text: '' })
    })
  await Promise.all(Array.from({ length: 40 }, (_, i) => add(i % 2 === 0 ? store : other)))
  t.strictSame(numbers(store), { sum: 40 })
  t.strictSame(numbers(other), { sum: 40 })
})

t.test('a store that is open for reading refuses to write', async (t) => {
  const { store } = await World.in(t).store()
  const reader = again(t, store)
  await t.rejects(put(reader, 'a', 1), new TypeError('the store is open for reading only'))
  const refusal = new TypeError('the store is open for reading only')
  const never = () => t.fail('it runs')
  await t.rejects(reader.transactLoaded('x', never), refusal)
  await t.rejects(reader.exclusive('x', never), refusal)
  await t.rejects(reader.withoutFolding('x', async () => never()), refusal)
  for (const act of [
    () => reader.artifacts.write('x', Buffer.from('y')),
    () => reader.artifacts.remove('ab'.repeat(32)),
    () => reader.artifacts.removeTemporary('.tmp-1-0123456789abcdef-1'),
  ]) t.throws(act, refusal)
})

t.test('one transaction of more than 16 MiB is rejected and leaves the store usable', async (t) => {
  const { store } = await World.in(t).store()
  const big = 'x'.repeat(17 * 1024 * 1024)
  await t.rejects(put(store, 'a', 1, big), { kind: 'rejected', code: 'record_too_large' })
  await put(store, 'b', 2)
  t.strictSame(numbers(store), { b: 2 })
})

t.test('documents of many runs and files are found by id, in order and by range', async (t) => {
  const { store } = await World.in(t).store()
  const text = 'x'.repeat(60_000)
  for (let batch = 0; batch < 3; batch += 1) {
    await store.transact('fill', (tx) => {
      for (let i = 0; i < 60; i += 1) tx.put(items, `i${batch}-${i}`, { n: i, text })
    })
    await store.exclusive('fold', () => store.checkpoint())
  }
  await store.transact('touch', (tx) => {
    tx.put(items, 'i0-0', { n: -1, text })
    tx.remove(items, 'i1-7')
  })
  await store.exclusive('fold', () => store.checkpoint())
  const view = again(t, store).read()
  t.equal(view.get(items, 'i0-0')?.n, -1)
  t.equal(view.get(items, 'i1-7'), undefined)
  t.equal(view.get(items, 'i2-59')?.n, 59)
  t.equal(view.get(items, 'none'), undefined)
  t.equal(view.all(items).length, 179)
  const ids = (options: RangeOptions): string =>
    view.range(items, options).map(({ id }) => id).join()
  t.equal(ids({ prefix: 'i1-', limit: 3 }), 'i1-0,i1-1,i1-10')
  t.equal(ids({ prefix: 'i1-', after: 'i1-59', limit: 3 }), 'i1-6,i1-8,i1-9')
  t.equal(ids({ prefix: 'i1-', reverse: true, limit: 2 }), 'i1-9,i1-8')
  t.equal(ids({ prefix: 'i1-', after: 'i1-8', reverse: true, limit: 2 }), 'i1-6,i1-59')
  t.equal(ids({ after: 'i2-8' }), 'i2-9')
  t.equal(ids({ prefix: 'nothing' }), '')
  t.equal(ids({ limit: 0 }), '')
})

t.test('a range inside a transaction sees its own changes in their places', async (t) => {
  const { store } = await World.in(t).store()
  for (const id of ['a', 'b', 'c', 'd']) await put(store, id, 1)
  await store.exclusive('fold', () => store.checkpoint())
  await put(store, 'e', 1)
  await store.transact('test', (tx) => {
    const ids = (options: RangeOptions): string =>
      tx.range(notes, options).map(({ id, doc }) => `${id}${doc.n}`).join()
    t.equal(ids({}), 'a1,b1,c1,d1,e1')
    tx.put(notes, 'bb', { n: 2, text: '' })
    tx.put(notes, 'd', { n: 2, text: '' })
    tx.remove(notes, 'a')
    tx.remove(notes, 'e')
    t.equal(ids({}), 'b1,bb2,c1,d2')
    t.equal(ids({ limit: 2 }), 'b1,bb2')
    t.equal(ids({ limit: 2, reverse: true }), 'd2,c1')
    t.equal(ids({ after: 'b', limit: 2 }), 'bb2,c1')
    t.equal(ids({ prefix: 'b' }), 'b1,bb2')
  })
})

t.test('removing the last document of a collection leaves nothing of it in the runs', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await store.exclusive('fold', () => store.checkpoint())
  await store.transact('test', (tx) => tx.remove(notes, 'a'))
  await store.exclusive('fold', () => store.checkpoint())
  t.strictSame(numbers(again(t, store)), {})
  await compactState(store)
  t.strictSame(again(t, store).generation.manifest.runs, [])
  t.strictSame(numbers(again(t, store)), {})
})

t.test('a process that wrote folds a long log when it closes the store', async (t) => {
  const { store } = await World.in(t).store({ logBytesMax: 2000 })
  for (let n = 0; n < 20; n += 1) await put(store, 'a', n, 'x'.repeat(100))
  t.equal(store.generation.epoch, 1)
  store.close()
  const reader = again(t, store)
  t.equal(reader.generation.epoch, 2)
  t.strictSame(numbers(reader), { a: 19 })
})

t.test('a bulk writer folds when the log is 32 times too long', async (t) => {
  const { store } = await World.in(t).store({ logBytesMax: 100 })
  for (let n = 0; n < 40; n += 1) await put(store, 'a', n, 'x'.repeat(100))
  t.ok(store.generation.epoch > 1)
  t.strictSame(numbers(store), { a: 39 })
})

t.test('a view never expires: whatever is folded and merged meanwhile, it reads its own moment', async (t) => {
  const { store } = await World.in(t).store()
  await store.transact('test', (tx) => {
    tx.put(notes, 'a', { n: 1, text: '' })
    tx.put(items, 'i', { n: 1, text: '' })
  })
  await store.exclusive('fold', () => store.checkpoint())
  const reader = again(t, store)
  const untouched = reader.read()
  const touched = reader.read()
  t.equal(touched.get(items, 'i')?.n, 1)
  for (let n = 2; n < 12; n += 1) {
    await put(store, 'a', n)
    await store.exclusive('fold', () => store.checkpoint())
  }
  await compactState(store)
  await compactState(store)
  t.equal(reader.read().get(notes, 'a')?.n, 11)
  for (const view of [untouched, touched]) {
    t.equal(view.get(notes, 'a')?.n, 1)
    t.strictSame(view.all(items).map(({ doc }) => doc.n), [1])
  }
})

t.test('a keyed digest is of its own label', async (t) => {
  const { store } = await World.in(t).store()
  const digest = store.keyedDigest('fingerprint', Buffer.from('k'))
  t.match(digest, /^[0-9a-f]{64}$/)
  t.not(digest, store.keyedDigest('other', Buffer.from('k')))
})
