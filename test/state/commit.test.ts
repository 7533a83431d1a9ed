/** What a process refuses once a write of it failed, and what nobody does behind damage. */
import t from 'tap'
import { systemClock } from '../../src/base/clock.js'
import { createStore, openStore, type FileStore } from '../../src/state/store.js'
import { site } from '../support/state/crash-script.js'
import { faulty, memoryLock, plan } from '../support/state/faults.js'
import { newestLog } from '../support/state/forge.js'
import { MemFiles } from '../support/state/mem-files.js'
import { numbers, put } from '../support/state/notes.js'

/** An open store of which the first sync fails, and the lock of its state for somebody else. */
const failing = () => {
  const files = new MemFiles()
  const lock = memoryLock()
  createStore({ ...site, files, lock, profile: {} }).close()
  const store = openStore({
    ...site, clock: systemClock, files: faulty(files, plan(1, 'EIO', ['sync'])), lock,
    mode: 'write', waitMs: 1_000,
  }) as FileStore
  return { store, other: lock(store.places.lock, systemClock) }
}

const poisoned = { kind: 'failed', code: 'store_poisoned' }

t.test('a process of which a write failed waits for no lock and looks at no row for another one', async (t) => {
  const { store, other } = failing()
  await t.rejects(put(store, 'a', 1), { code: 'io_failed' })
  other.tryTake('x')
  await t.rejects(put(store, 'b', 2), poisoned)
  other.give()
  let looks = 0
  await t.rejects(store.transactLoaded('look', () => { looks += 1 }), poisoned)
  t.equal(looks, 0)
})

t.test('a write that waited for the lock while another one of its process failed writes nothing', async (t) => {
  const { store, other } = failing()
  other.tryTake('x')
  const waits = put(store, 'a', 1)
  other.give()
  await t.rejects(put(store, 'b', 2), { code: 'io_failed' })
  await t.rejects(waits, poisoned)
  t.notOk(Object.hasOwn(numbers(store), 'a'))
})

t.test('no log is begun behind a damaged one', async (t) => {
  const files = new MemFiles()
  const options = { ...site, files, lock: memoryLock() }
  const store = createStore({ ...options, profile: {} }) as FileStore
  for (const n of [1, 2, 3]) await put(store, 'a', n)
  store.close()
  const log = newestLog(site.dir, files)
  const bytes = Buffer.from(files.contentOf(log))
  bytes.fill(0x78, bytes.length - 300, bytes.length - 200)
  files.overwrite(log, bytes)
  const opened = openStore({ ...options, mode: 'write' }) as FileStore
  const before = files.list(opened.places.wal)
  await t.rejects(opened.exclusive('begin', () => opened.rotate()), { kind: 'damaged' })
  t.strictSame([files.list(opened.places.wal), files.contentOf(log)], [before, bytes])
})
