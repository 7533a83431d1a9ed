/** A log that another took over from says so, and a newest log that is gone is noticed. */
import t from 'tap'
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { checkState } from '../../src/state/care/check.js'
import { repairState } from '../../src/state/care/repair.js'
import type { FileStore } from '../../src/state/store.js'
import { World } from '../world/world.js'
import type { Teardown } from '../world/place.js'
import { again, numbers, placeOf, put } from '../support/state/notes.js'

const fold = (store: FileStore): Promise<void> => store.exclusive('fold', () => store.checkpoint())

const folded = async (t: Teardown): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await fold(store)
  await put(store, 'b', 2)
  return store
}

t.test('durability 4: a newest log that is gone is damage for reads, writes and check', async (t) => {
  const store = await folded(t)
  rmSync(store.places.log(2))
  for (const mode of ['read', 'write'] as const) {
    t.equal(again(t, store, mode).health().damage?.code, 'log_missing', mode)
  }
  await t.rejects(put(again(t, store, 'write'), 'c', 3), { kind: 'damaged', code: 'log_missing' })
  const { ok, problems } = checkState(placeOf(store))
  t.strictSame([ok, problems.map(({ code }) => code)], [false, ['log_missing']])
})

t.test('durability 4: the manifest gone with its log changes nothing of that', async (t) => {
  const store = await folded(t)
  rmSync(store.places.log(2))
  rmSync(store.places.manifest(2))
  t.equal(again(t, store).health().damage?.code, 'log_missing')
  t.equal(checkState(placeOf(store)).ok, false)
})

t.test('a manifest that knows more than the newest log is damage: its log is gone', async (t) => {
  const store = await folded(t)
  await fold(store)
  const old = readFileSync(store.places.log(2))
  const seal = '{"at":'
  const cut = old.lastIndexOf('#c ', old.lastIndexOf(seal))
  rmSync(store.places.log(3))
  truncateSync(store.places.log(2), old.lastIndexOf('#c ', cut - 1))
  t.equal(again(t, store).health().damage?.code, 'log_missing')
})

t.test('repair of a lost newest log says what is lost, and a later writer finds nothing amiss', async (t) => {
  const store = await folded(t)
  rmSync(store.places.log(2))
  let asked = 0
  const report = await repairState({
    ...placeOf(store),
    onLoss: async (repaired) => {
      asked += 1
      await repaired.transact('loss', (tx) => tx.mark())
    },
  })
  t.hasStrict(report, { changed: true, loss: { records_after: 1 } })
  t.equal(asked, 1)
  const next = again(t, store, 'write')
  t.strictSame([next.health().damage, numbers(next)], [null, { a: 1 }])
  await put(next, 'c', 3)
  t.equal(checkState(placeOf(store)).ok, true)
})

t.test('a fold that ended before it sealed the old log is sealed by the next writer', async (t) => {
  const store = await folded(t)
  const sealed = readFileSync(store.places.log(1))
  const start = sealed.lastIndexOf('#c ')
  truncateSync(store.places.log(1), start)
  const reader = again(t, store)
  t.strictSame([reader.health().damage, numbers(reader)], [null, { a: 1, b: 2 }])
  await again(t, store, 'write').transact('nothing', () => undefined)
  t.strictSame(readFileSync(store.places.log(1)), sealed)
  truncateSync(store.places.log(1), start + 9)
  await again(t, store, 'write').transact('nothing', () => undefined)
  t.strictSame(readFileSync(store.places.log(1)), sealed, 'a torn seal is written anew')
})

t.test('what a fold left that was cut off before its log is no damage', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const before = readFileSync(store.places.log(1))
  await fold(store)
  rmSync(store.places.log(2))
  writeFileSync(store.places.log(1), before)
  const next = again(t, store, 'write')
  t.equal(next.health().damage, null)
  await put(next, 'b', 2)
  t.strictSame(numbers(again(t, store)), { a: 1, b: 2 })
  t.equal(checkState(placeOf(store)).ok, true)
})

t.test('a reader beside a fold follows it past the seal', async (t) => {
  const store = await folded(t)
  const reader = again(t, store)
  t.strictSame(numbers(reader), { a: 1, b: 2 })
  await fold(store)
  t.equal(reader.health().damage, null)
  await put(store, 'c', 3)
  t.strictSame(numbers(reader), { a: 1, b: 2, c: 3 })
  t.ok(statSync(store.places.log(2)).size > 0)
})
