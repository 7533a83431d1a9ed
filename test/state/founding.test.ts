/** A founded manifest and its second copy: what readers take, what counts, what is swept. */
import {
  cpSync, existsSync, readFileSync, readdirSync, renameSync, rmSync, unlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { backupState } from '../../src/state/care/backup.js'
import { checkState } from '../../src/state/care/check.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import { encodeManifest, readManifest } from '../../src/state/snapshot/manifest.js'
import { nodeFiles } from '../../src/state/files.js'
import type { FileStore } from '../../src/state/store.js'
import type { Store } from '../../src/state/types.js'
import { flipBit } from '../support/state/forge.js'
import { again, numbers, placeOf, put, specs } from '../support/state/notes.js'
import { World } from '../world/world.js'

const onLoss = (store: Store): Promise<void> => store.transact('loss', (tx) => tx.mark())

/** A restored store: `a` came with the backup, `b` was replaced, `c` was written since. */
const restored = async (t: Test): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const backup = join(store.dir, '..', 'backup')
  await backupState(store, backup)
  await put(store, 'b', 2)
  store.close()
  await restoreState({ ...placeOf(store), backup, specs, afterRestore: onLoss })
  const opened = again(t, store, 'write')
  await put(opened, 'c', 3)
  opened.close()
  return opened
}

t.test('a reader takes the second copy of a founded manifest, and nothing that a restore replaced', async (t) => {
  const store = await restored(t)
  const { manifest, log } = { manifest: store.places.manifest(2), log: store.places.log(2) }
  const bytes = readFileSync(manifest)
  t.ok(readFileSync(store.places.founding(2)).equals(bytes))
  for (const hurt of [() => flipBit(manifest, 40, 2), () => unlinkSync(manifest)]) {
    hurt()
    const opened = again(t, store, 'write')
    t.strictSame(numbers(opened), { a: 1, c: 3 })
    t.equal(opened.health().damage?.code, 'generation_damaged')
    await t.rejects(put(opened, 'd', 4), { code: 'generation_damaged' })
    t.hasStrict(checkState({ ...placeOf(store), specs }).problems, [{ code: 'manifest_damaged' }])
    t.hasStrict((await repairState({ ...placeOf(store), specs })).done, [{ code: 'files_mended' }])
    t.ok(readFileSync(manifest).equals(bytes))
    t.strictSame(checkState({ ...placeOf(store), specs }).problems, [])
  }
  t.ok(existsSync(log))
})

t.test('a flipped bit of a founded manifest without a second copy is put right by its own check', async (t) => {
  const store = await restored(t)
  const manifest = store.places.manifest(2)
  const bytes = readFileSync(manifest)
  unlinkSync(store.places.founding(2))
  for (const at of [40, bytes.length - 30, bytes.length - 1]) {
    flipBit(manifest, at, 2)
    const { loss } = await repairState({ ...placeOf(store), specs, onLoss })
    t.equal(loss.records_after, null)
    t.ok(readFileSync(manifest).equals(bytes), `byte ${at}`)
  }
  t.strictSame(numbers(again(t, store)), { a: 1, c: 3 })
})

t.test('a second copy that the log does not name counts for nothing', async (t) => {
  const store = await restored(t)
  const copy = store.places.founding(2)
  const manifest = readManifest(nodeFiles, copy)
  if (manifest === undefined) throw new Error('no copy')
  writeFileSync(copy, encodeManifest({ ...manifest, mark_floor: 0 }))
  unlinkSync(store.places.manifest(2))
  t.not(again(t, store).health().damage, null)
  const { loss } = await repairState({ ...placeOf(store), specs, onLoss })
  t.not(loss.records_after, null, 'what came after the restore is told as lost')
})

t.test('where a founded manifest and its copy are gone, its log is damage, and a repair loses no record', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  store.close()
  flipBit(store.places.log(1), 3, 1)
  t.ok((await repairState({ ...placeOf(store), specs, onLoss })).changed)
  const founded = again(t, store, 'write')
  await put(founded, 'b', 2)
  founded.close()
  // What the repair was for is right again, as where a founding changed the format alone.
  flipBit(store.places.log(1), 3, 1)
  unlinkSync(store.places.manifest(2))
  unlinkSync(store.places.founding(2))
  t.not(again(t, store).health().damage, null, 'no reader takes the log')
  const found = checkState({ ...placeOf(store), specs })
  t.hasStrict([found.ok, found.problems[0]],
    [false, { code: 'manifest_missing', severity: 'damage' }])
  const { changed, loss } = await repairState({ ...placeOf(store), specs, onLoss })
  t.strictSame([changed, loss.records_after], [true, null])
  const opened = again(t, store, 'write')
  t.strictSame([numbers(opened), opened.health().damage], [{ a: 1, b: 2 }, null])
  await put(opened, 'c', 3)
  t.strictSame(checkState({ ...placeOf(store), specs }).problems, [])
})

t.test('what a store writes that was open over a restore is kept, also where the backup had a later log', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const image = `${store.dir}.image`
  cpSync(store.dir, image, { recursive: true })
  for (let n = 0; n < 2; n += 1) await store.exclusive('fold', () => store.checkpoint())
  await put(store, 'b', 2)
  const backup = join(store.dir, '..', 'backup')
  await backupState(store, backup)
  store.close()
  rmSync(store.dir, { recursive: true })
  renameSync(image, store.dir)
  const open = again(t, store, 'write')
  await put(open, 'c', 3)
  await restoreState({ ...placeOf(store), backup, specs, afterRestore: onLoss })
  await put(open, 'd', 4)
  t.strictSame(numbers(again(t, store)), { a: 1, b: 2, d: 4 })
  t.strictSame(checkState({ ...placeOf(store), specs }).problems, [])
})

t.test('second copies are swept with their logs', async (t) => {
  const store = await restored(t)
  const opened = again(t, store, 'write')
  const copies = (): string[] =>
    readdirSync(store.places.wal).filter((name) => name.endsWith('.founding'))
  t.strictSame(copies(), ['000000000002.founding'])
  for (let n = 0; n < 2; n += 1) {
    await put(opened, 'd', n)
    await opened.exclusive('fold', () => opened.checkpoint())
  }
  t.strictSame(copies(), [])
  t.strictSame(checkState({ ...placeOf(store), specs }).problems, [])
})

t.test('a manifest that a sweep has removed is not made again, although its log still lies there', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const log = readFileSync(store.places.log(1))
  for (let n = 0; n < 2; n += 1) {
    await put(store, 'b', n)
    await store.exclusive('fold', () => store.checkpoint())
  }
  t.notOk(existsSync(store.places.manifest(1)))
  store.close()
  writeFileSync(store.places.log(1), log)
  t.strictSame(checkState({ ...placeOf(store), specs }).problems, [])
  t.equal((await repairState({ ...placeOf(store), specs })).changed, false)
  t.notOk(existsSync(store.places.manifest(1)))
})
