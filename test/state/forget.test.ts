/** What was removed is in no file any more, wherever a process or the power ends on the way. */
import {
  existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../../src/base/clock.js'
import { checkState } from '../../src/state/care/check.js'
import { dropStored, sweepStored } from '../../src/state/care/drop-stored.js'
import { forgetRemoved } from '../../src/state/care/forget.js'
import type { Files } from '../../src/state/files.js'
import { kernelStateLock } from '../../src/state/lock.js'
import { createStore, openStore, type FileStore } from '../../src/state/store.js'
import { site } from '../support/state/crash-script.js'
import { faulty, memoryLock, plan, Stopped } from '../support/state/faults.js'
import { MemFiles } from '../support/state/mem-files.js'
import { again, items, notes, put, specs } from '../support/state/notes.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const secret = 'MARK-REMOVED'

/** Bytes of every file of the keyspace. */
const keyspace = (files: Files): string => ['wal', 'collections'].flatMap((folder) =>
  files.list(`${site.dir}/${folder}`).map((name) => {
    const fd = files.open(`${site.dir}/${folder}/${name}`, 'read')
    const bytes = Buffer.alloc(files.fstat(fd).size)
    files.read(fd, bytes, 0)
    files.close(fd)
    return bytes.toString('latin1')
  })).join('')

const opened = (files: Files): FileStore =>
  openStore({ ...site, files, lock: memoryLock(), mode: 'write' }) as FileStore

/** Some runs, and a removal that only hides what an older one holds. */
const begun = async (): Promise<MemFiles> => {
  const disk = new MemFiles()
  const store = createStore({
    ...site, files: disk, lock: memoryLock(), profile: {},
  }) as FileStore
  for (let n = 0; n < 4; n += 1) {
    await store.transact('put', (tx) => {
      tx.put(notes, `kept-${n}`, { n, text: '' })
      tx.put(items, `gone-${n}`, { n, text: secret })
    })
    await store.exclusive('fold', () => store.checkpoint())
  }
  await store.transact('drop', (tx) => {
    for (const { id } of tx.all(items)) tx.remove(items, id)
  })
  store.close()
  return disk.clone()
}

const forget = async (files: Files): Promise<void> => {
  const store = opened(files)
  try {
    await forgetRemoved(store, 'prune')
  } finally {
    store.close()
  }
}

t.test('forgetting leaves no byte of removed rows in any log, segment or manifest; one that is '
  + 'ended at any step, with or without its power, loses nothing, and the next one finishes it',
async (t) => {
  const base = await begun()
  t.match(keyspace(base), secret)
  const counted = plan()
  const whole = base.clone()
  await forget(faulty(whole, counted))
  t.notMatch(keyspace(whole), secret)
  const wrong: string[] = []
  for (let at = 1; at <= counted.calls; at += 1) {
    for (const power of [true, false]) {
      const disk = base.clone()
      await forget(faulty(disk, plan(at, 'stop'))).catch((error: unknown) => {
        if (!(error instanceof Stopped) && !/end/.test(String(error))) throw error
      })
      const after = power ? disk.crash('dropped', at) : disk.clone()
      const store = opened(after)
      const [left, kept] = [store.read().all(items).length, store.read().all(notes).length]
      await forgetRemoved(store, 'prune')
      store.close()
      const where = `${power ? 'power' : 'process'} at ${counted.seen[at - 1]}`
      if (left !== 0 || kept !== 4) wrong.push(`${where}: ${left} left, ${kept} kept`)
      if (keyspace(after).includes(secret)) wrong.push(`${where}: still there`)
      const { problems } = checkState({ ...site, files: after, lock: memoryLock(), specs })
      if (problems.some(({ severity }) => severity === 'damage')) wrong.push(`${where}: damage`)
    }
  }
  t.ok(counted.calls > 20, `${counted.calls} steps`)
  t.strictSame(wrong, [])
})

t.test('files that cannot be swept are told as not_forgotten, and what a reader sees is gone all the '
  + 'same', async (t) => {
  const { store } = await World.in(t).store()
  await store.transact('put', (tx) => tx.put(items, 'a', { n: 1, text: secret }))
  await store.transact('drop', (tx) => tx.remove(items, 'a'))
  mkdirSync(join(store.dir, 'collections', 'manifest.000000000000.json'))
  await t.rejects(forgetRemoved(store, 'prune'), { kind: 'failed', code: 'not_forgotten' })
  t.equal(store.read().get(items, 'a'), undefined)
})

t.test('beside a reader, and a writer that folds, a forgotten row is in no file either', async (t) => {
  const { store, open } = await World.in(t).store()
  const bytes = (): string => ['wal', 'collections'].flatMap((folder) =>
    readdirSync(join(store.dir, folder)).map((name) =>
      readFileSync(join(store.dir, folder, name), 'latin1'))).join('')
  await store.transact('put', (tx) => tx.put(items, 'a', { n: 1, text: secret }))
  const held = open().read()
  await store.exclusive('fold', () => store.checkpoint())
  const other = open('write') as FileStore
  await other.transact('drop', (tx) => tx.remove(items, 'a'))
  await Promise.all([
    forgetRemoved(store, 'prune'),
    other.exclusive('fold', () => other.checkpoint()),
    other.transact('put', (tx) => tx.put(notes, 'b', { n: 2, text: '' })),
  ])
  t.notMatch(bytes(), secret)
  t.equal(held.get(items, 'a')?.text, secret, 'a view goes on showing its own moment')
  t.equal(other.read().get(notes, 'b')?.n, 2)
})

t.test('stored files whose rows are gone are removed, one that a row names again stays, and a sweep '
  + 'finds what a process that died left', async (t) => {
  const { store } = await World.in(t).store()
  const names = ['one', 'two', 'three'].map((text) =>
    store.artifacts.write('x', Buffer.from(text)).stored_sha256)
  const [first = '', second = '', third = ''] = names
  const done = await dropStored(store, [
    { name: first, isNamed: () => false }, { name: second, isNamed: () => true },
  ], 'prune')
  t.equal(done.files, 1)
  t.ok(done.bytes > 0)
  t.strictSame([...store.artifacts.list()].sort(), [second, third].sort())
  t.equal((await dropStored(store, [{ name: first, isNamed: () => false }], 'prune')).files, 0)
  t.equal(await sweepStored(store, () => new Set([second, third]), 'prune'), 0)
  t.equal(await sweepStored(store, () => new Set([second]), 'prune'), 0, 'it is young')
  t.equal(store.artifacts.list().length, 2)
  const folder = join(store.dir, 'artifacts', third.slice(0, 2))
  const left = join(folder, '.tmp-1-0123456789abcdef-1')
  writeFileSync(left, 'half of a file')
  t.equal(await sweepStored(store, () => new Set([second, third]), 'prune'), 0, 'it is young, too')
  const anHourAgo = new Date(systemClock.wallMs() - 3_600_000)
  utimesSync(left, anHourAgo, anHourAgo)
  t.equal(await sweepStored(store, () => new Set([second, third]), 'prune'), 1, 'no file but it')
  t.notOk(existsSync(left))
  utimesSync(join(folder, third), anHourAgo, anHourAgo)
  t.equal(await sweepStored(store, () => new Set([second]), 'prune'), 1)
  t.strictSame([...store.artifacts.list()], [second])
})

t.test('who finds that another has merged everything while it waited has forgotten, too', async (t) => {
  const { store } = await World.in(t).store()
  const other = again(t, store, 'write')
  let merged = 0
  const own = again(t, store, 'write', {
    lock: (path, clock) => {
      const lock = kernelStateLock(path, clock)
      const tryTake = lock.tryTake.bind(lock)
      lock.tryTake = (verb) => {
        if (path.endsWith('fold') && (merged += 1) <= 2) {
          other.read()
          other.fold({ mergeBytesMax: Number.POSITIVE_INFINITY, whole: true })
        }
        return tryTake(verb)
      }
      return lock
    },
  })
  await put(store, 'kept', 1)
  await put(store, 'gone', 2)
  await forgetRemoved(store, 'test')
  await store.transact('test', (tx) => tx.remove(notes, 'gone'))
  await forgetRemoved(own, 'test')
  t.ok(merged > 0)
  t.equal(other.generation.manifest.runs.length, 1)
})
