/** A log that another took over from says so, and a newest log that is gone is noticed. */
import t from 'tap'
import { existsSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.js'
import { checkState } from '../../src/state/care/check.js'
import { repairState } from '../../src/state/care/repair.js'
import { nodeFiles, temporaryName } from '../../src/state/files.js'
import { Follower } from '../../src/state/follow.js'
import { encodeLogHeader } from '../../src/state/log/format.js'
import { publishFounded } from '../../src/state/snapshot/founding.js'
import { basesAfter, headerOf } from '../../src/state/snapshot/header.js'
import { readManifest, writeManifest } from '../../src/state/snapshot/manifest.js'
import { encodeStateFile, keptAt, looseStateFile } from '../../src/state/state-file.js'
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

/** The same with a log that is sealed and not folded yet. */
const rotated = async (t: Teardown): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await store.exclusive('rotate', () => store.rotate())
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

t.test('a store that met a lost newest log, and one that had written to it, write again once it is repaired', async (t) => {
  for (const made of [folded, rotated]) {
    const store = await made(t)
    rmSync(store.places.log(2))
    const met = again(t, store, 'write')
    await t.rejects(put(met, 'c', 3), { code: 'log_missing' })
    await repairState({
      ...placeOf(store), onLoss: (repaired) => repaired.transact('loss', (tx) => tx.mark()),
    })
    await put(met, 'c', 3)
    await put(store, 'd', 4)
    t.strictSame(numbers(again(t, store)), { a: 1, c: 3, d: 4 })
    t.equal(checkState(placeOf(store)).ok, true)
  }
})

t.test('whoever met the lost newest log of a replica follows the one that it is emptied into', async (t) => {
  const store = await rotated(t)
  const { dir, places, storeId } = store
  const state = looseStateFile(nodeFiles, places.state)
  if (state === undefined) throw new Error('no STATE')
  writeFileSync(places.state, encodeStateFile(keptAt(state, 'place')))
  rmSync(places.log(2))
  const follower = new Follower({ files: nodeFiles, clock: systemClock, dir, places, storeId })
  t.teardown(() => follower.close())
  t.equal(follower.damage?.code, 'log_missing')
  t.hasStrict((await repairState(placeOf(store))).done, [{ code: 'replica_emptied' }])
  follower.catchUp(true)
  t.strictSame([follower.damage, follower.generation.sequence], [null, 0])
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

t.test('a founding that was cut off before its log is no damage, and later logs do not revive it', async (t) => {
  const store = await folded(t)
  const manifest = readManifest(store.files, store.places.manifest(2))
  if (manifest === undefined) throw new Error('no manifest')
  const { sequence, chain } = store.generation
  const stray = { ...manifest, number: 3, founding: true, epoch: 2, sequence, chain, runs: [] }
  writeManifest(store.files, store.places.manifest(3), stray)
  const [base] = basesAfter(stray)
  const left = join(store.places.wal, temporaryName())
  writeFileSync(left, base === undefined ? '' : encodeLogHeader(headerOf(base).header))
  const next = again(t, store, 'write')
  t.equal(next.health().damage, null)
  await next.exclusive('fold', () => next.rotate())
  await put(next, 'c', 3)
  t.strictSame(numbers(again(t, store)), { a: 1, b: 2, c: 3 })
  t.equal(checkState(placeOf(store)).ok, true)
  await fold(next)
  t.strictSame(numbers(again(t, store)), { a: 1, b: 2, c: 3 })
  t.notOk(existsSync(left), 'the fold sweeps what was left')
  t.notOk(existsSync(store.places.manifest(3)))
})

t.test('durability 4: a founded manifest whose log is gone for good is damage, not a cut-off founding', async (t) => {
  const store = await folded(t)
  const manifest = readManifest(store.files, store.places.manifest(2))
  if (manifest === undefined) throw new Error('no manifest')
  publishFounded(store.files, store.places, { ...manifest, number: 3, founding: true, epoch: 2 })
  t.strictSame(numbers(again(t, store)), { a: 1 })
  rmSync(store.places.log(3))
  t.equal(again(t, store).health().damage?.code, 'log_missing')
  t.hasStrict(checkState(placeOf(store)).problems, [{ code: 'log_missing' }])
})

t.test('a newest manifest that is gone costs nothing: the one before and the logs say the same', async (t) => {
  const store = await folded(t)
  await fold(store)
  await put(store, 'c', 3)
  rmSync(store.places.manifest(3))
  const next = again(t, store, 'write')
  t.strictSame([next.health().damage, numbers(next)], [null, { a: 1, b: 2, c: 3 }])
  t.hasStrict(checkState(placeOf(store)).problems, [{ code: 'spare_damaged' }])
  await fold(next)
  t.strictSame(numbers(again(t, store)), { a: 1, b: 2, c: 3 })
  t.strictSame(checkState(placeOf(store)).problems, [])
})

t.test('a log in the middle that is gone or cut is damage, and nothing behind it is read', async (t) => {
  for (const hurt of ['gone', 'cut'] as const) {
    await t.test(hurt, async (t) => {
      const store = await folded(t)
      await store.exclusive('rotate', () => store.rotate())
      await put(store, 'c', 3)
      const path = store.places.log(2)
      const bytes = readFileSync(path)
      if (hurt === 'gone') rmSync(path)
      else truncateSync(path, bytes.indexOf(0x0a) + 1)
      const next = again(t, store, 'write')
      const code = hurt === 'gone' ? 'log_missing' : 'log_damaged'
      t.equal(next.health().damage?.code, code)
      t.strictSame(numbers(next), { a: 1 })
      await t.rejects(put(next, 'd', 4), { kind: 'damaged', code })
      t.hasStrict(checkState(placeOf(store)).problems, [{ code, severity: 'damage' }])
      writeFileSync(path, bytes)
      t.strictSame(numbers(again(t, store)), { a: 1, b: 2, c: 3 })
    })
  }
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
