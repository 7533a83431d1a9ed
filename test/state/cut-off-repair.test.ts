/** A repair that ended behind its loss, before that had its consequences: the next one tells it. */
import t, { type Test } from 'tap'
import { formerStates, settleFormers, unsettledFolder } from '../../src/state/care/aside.js'
import { backupState } from '../../src/state/care/backup.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import type { FileStore } from '../../src/state/file-store.js'
import { nodeFiles } from '../../src/state/files.js'
import { openStore } from '../../src/state/store.js'
import type { Store } from '../../src/state/types.js'
import { cpSync, existsSync, writeFileSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { recordsOf } from '../support/state/places-of-damage.js'
import { numbers, again, placeOf, put, specs } from '../support/state/notes.js'
import { World } from '../world/world.js'

/** Damages the second record, and repairs that up to where the process ends before its hook. */
const cutOff = async (t: Test, store: FileStore) => {
  const log = store.places.log(1)
  const bytes = readFileSync(log)
  const at = recordsOf(log)[1]?.start ?? 0
  bytes.fill(0, at + 50, at + 80)
  writeFileSync(log, bytes)
  const repair = (hook: (one: Store) => Promise<void>) =>
    repairState({ ...placeOf(store), specs, onLoss: hook })
  await t.rejects(repair(() => Promise.reject(new TypeError('the process ends'))), /process ends/)
  return repair
}

const onLoss = (store: Store): Promise<void> => store.transact('loss', (tx) => tx.mark())

t.test('what a repair lost that ended before it could say so is told by the next one, once', async (t) => {
  const { store } = await World.in(t).store()
  for (const [n, id] of ['a', 'b', 'c'].entries()) await put(store, id, n)
  store.close()
  const repair = await cutOff(t, store)
  t.hasStrict(await repairState({ ...placeOf(store), specs }), { loss: { records_after: 1 } })
  t.not(unsettledFolder(store.dir, nodeFiles), undefined, 'nothing has come of it yet')
  const key = readFileSync(store.keyPlaces.key)
  writeFileSync(store.keyPlaces.key, 'untrue')
  await repairState({ ...placeOf(store), specs })
  writeFileSync(store.keyPlaces.key, key)
  const told = await repair(onLoss)
  t.hasStrict(told, {
    changed: true, loss: { records_after: 1, records_seen: 2, documents: 0 },
    done: [{ code: 'earlier_loss_settled' }],
  })
  t.match(told.copied_to, /aside\/repair-/)
  t.hasStrict(await repair(onLoss), { changed: false, loss: { records_after: null } })
  t.strictSame(numbers(again(t, store)), { a: 0 })
})

t.test('a copy of before that moved the anchor on by one mark does not hide what a cut off repair lost', async (t) => {
  const world = await World.in(t).store()
  const { store } = world
  for (const [n, id] of ['a', 'b', 'c'].entries()) await put(store, id, n)
  await store.transact('mark', (tx) => tx.mark())
  store.close()
  const before = world.place.path('before')
  cpSync(store.dir, before, { recursive: true })
  const repair = await cutOff(t, store)
  const old = openStore({ ...placeOf(store), dir: before, mode: 'write' })
  await old.transact('mark', (tx) => tx.mark())
  t.equal(old.anchor().status, 'ok')
  old.close()
  t.hasStrict(await repair(onLoss), { changed: true, done: [{ code: 'earlier_loss_settled' }] })
  t.equal(again(t, store).anchor().status, 'ok')
})

t.test('a backup takes along what a cut off repair lost, until that has had its consequences', async (t) => {
  const world = await World.in(t).store()
  const { store } = world
  for (const [n, id] of ['a', 'b', 'c'].entries()) await put(store, id, n)
  store.close()
  const repair = await cutOff(t, store)
  const backup = world.place.path('backup')
  await backupState(again(t, store, 'write'), backup)
  const dir = world.place.path('elsewhere')
  await restoreState({ ...placeOf(store), dir, backup, specs })
  t.matchStrict(formerStates(dir, store.storeId), [{ settled: false, holes: [{ id: /^log-1-/ }] }])
  await repair(onLoss)
  const later = world.place.path('later')
  await backupState(again(t, store, 'write'), later)
  t.notOk(existsSync(join(later, 'state', 'aside')))
  settleFormers(store.dir)
  await restoreState({ ...placeOf(store), backup, specs })
  t.hasStrict(formerStates(store.dir, store.storeId).filter(({ holes }) => holes.length > 0),
    [{ settled: false }], 'and not in what the backup holds')
})
