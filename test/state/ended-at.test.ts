/** What is cut from a log, though a process had seen it as it ended, is told. */
import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { checkState } from '../../src/state/care/check.js'
import { repairState } from '../../src/state/care/repair.js'
import { noteEnd } from '../../src/state/ended-at.js'
import { nodeFiles } from '../../src/state/files.js'
import { openStore } from '../../src/state/store.js'
import type { FileStore } from '../../src/state/store.js'
import type { Store } from '../../src/state/types.js'
import { recordsOf } from '../support/state/places-of-damage.js'
import { again, numbers, placeOf, put, specs } from '../support/state/notes.js'
import { World } from '../world/world.js'

const written = async (): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  for (const [n, id] of ['a', 'b', 'c'].entries()) await put(store, id, n)
  store.close()
  return store
}

/** Cuts the last two records, all but some bytes of the first of them. */
const cut = ({ places }: FileStore, kept: number): void => {
  const at = recordsOf(places.log(1)).at(-2)?.start ?? 0
  truncateSync(places.log(1), at + kept)
}

const problems = (store: FileStore) => checkState({ ...placeOf(store), specs }).problems

const gone = /records 2 to 3 were there when a process ended, and are gone/
const unknown = /no process is known to have ended behind it/

t.test('durability 6: a torn record that a process had ended behind is told by check, reader, writer and repair', async (t) => {
  const store = await written()
  t.equal(readFileSync(store.places.endedAt, 'utf8'), '000000000001 0000000000000003\n')
  cut(store, 40)
  t.matchStrict(problems(store), [{ code: 'log_torn', severity: 'torn', message: gone }])
  const reader = again(t, store)
  t.matchStrict(reader.health().notices, [{ code: 'log_torn', message: gone }])
  const log = readFileSync(store.places.log(1))
  const { done } = await repairState({ ...placeOf(store), specs })
  t.matchStrict(done, [{ code: 'torn_tail_cut', message: gone }])
  writeFileSync(store.places.log(1), log)
  const writer = again(t, store, 'write')
  await put(writer, 'd', 4)
  t.matchStrict(writer.health().notices, [{ code: 'torn_tail_cut', message: gone }])
  t.strictSame(numbers(writer), { a: 0, d: 4 })
})

t.test('how far the log had come is noted without a sync', async (t) => {
  const store = await written()
  const synced: string[] = []
  const files = new Proxy(nodeFiles, {
    get: (target, name) => {
      if (/sync/i.test(String(name))) return () => void synced.push(String(name))
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  noteEnd(files, store.places, { epoch: 1, sequence: 9 })
  t.strictSame(synced, [])
  t.equal(readFileSync(store.places.endedAt, 'utf8'), '000000000001 0000000000000009\n')
})

t.test('a log that was cut behind a whole record is told until it has come further', async (t) => {
  const store = await written()
  cut(store, 0)
  t.matchStrict(problems(store), [{ code: 'log_cut', severity: 'notice', message: gone }])
  const told = [{ code: 'log_cut', severity: 'notice', message: gone }]
  t.matchStrict(again(t, store).health().notices, told)
  const writer = again(t, store, 'write')
  await put(writer, 'd', 4)
  t.matchStrict(writer.health().notices,
    [{ code: 'log_cut', message: /records 3 to 3 were there/ }])
  writer.close()
  t.hasStrict(problems(store), [{ code: 'log_cut' }], 'what was seen further on stays')
  const next = again(t, store, 'write')
  await put(next, 'e', 5)
  t.strictSame(next.health().notices, [])
  next.close()
  t.strictSame(problems(store), [])
})

t.test('a record that comes while somebody looks is not told as one that is gone', async (t) => {
  const store = await written()
  const { log, endedAt } = { log: store.places.log(1), endedAt: store.places.endedAt }
  const after = [readFileSync(log), readFileSync(endedAt)] as const
  for (const kept of [0, 40]) {
    for (const look of ['check', 'open'] as const) {
      writeFileSync(log, after[0])
      cut(store, kept)
      writeFileSync(endedAt, '000000000001 0000000000000001\n')
      let isDue = true
      // Another process writes and ends just then.
      const open: typeof nodeFiles.open = (path, intent) => {
        if (path === endedAt && isDue) {
          isDue = false
          writeFileSync(log, after[0])
          writeFileSync(endedAt, after[1])
        }
        return nodeFiles.open(path, intent)
      }
      const place = { ...placeOf(store), specs, files: { ...nodeFiles, open } }
      const found = look === 'check' ? checkState(place).problems
        : openStore({ ...place, mode: 'read' }).health().notices
      t.equal(isDue, false)
      t.strictSame(found, [], `${look}, ${kept}`)
    }
  }
})

t.test('without the file, or with that of another log, nothing is known of a torn record', async (t) => {
  const store = await written()
  cut(store, 40)
  const texts = ['000000000002 0000000000000003\n', '000000000001 0000000000000001\n', 'none', '']
  for (const text of texts) {
    writeFileSync(store.places.endedAt, text)
    t.matchStrict(problems(store), [{ code: 'log_torn', message: unknown }], text)
  }
  rmSync(store.places.endedAt)
  t.matchStrict(problems(store), [{ code: 'log_torn', message: unknown }])
})

t.test('a process that ends late leaves what is noted of a later log, unless that log is gone', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const other = again(t, store, 'write')
  await other.exclusive('rotate', () => other.rotate())
  await put(other, 'b', 2)
  await put(other, 'c', 3)
  other.close()
  store.close()
  t.equal(readFileSync(store.places.endedAt, 'utf8'), '000000000002 0000000000000003\n')
  truncateSync(store.places.log(2), recordsOf(store.places.log(2)).at(-1)?.start)
  t.matchStrict(problems(store), [{ code: 'log_cut', message: /records 3 to 3 were there/ }])
  rmSync(store.places.log(2))
  noteEnd(nodeFiles, store.places, { epoch: 1, sequence: 1 })
  t.equal(readFileSync(store.places.endedAt, 'utf8'), '000000000001 0000000000000001\n')
})

t.test('what was noted of a lost log, or is late to be, is not told of the one that a repair begins', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await store.exclusive('fold', () => store.checkpoint())
  for (const [n, id] of ['b', 'c', 'd', 'e'].entries()) await put(store, id, n)
  const other = again(t, store, 'write')
  await put(other, 'f', 6)
  other.close()
  t.equal(readFileSync(store.places.endedAt, 'utf8'), '000000000002 0000000000000006\n')
  rmSync(store.places.log(2))
  const onLoss = (one: Store): Promise<void> => one.transact('loss', (tx) => tx.mark())
  await repairState({ ...placeOf(store), specs, onLoss })
  t.strictSame(problems(store), [])
  store.close()
  t.strictSame(problems(store), [], 'ended with the lost log open')
})
