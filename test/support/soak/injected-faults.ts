/**
 * A disk that fails: EIO, a sync whose pages are lost, ENOSPC and a short write, at every changing
 * call of a transaction, a marked transaction, a compaction, a prune, a backup, a repair and a
 * restore, on a disk in memory. Afterwards another process opens the state, answers, and the power
 * is cut: nothing that anybody answered may be missing, and whatever refuses must say why.
 */
import assert from 'node:assert/strict'
import { SallyportError } from '../../../src/base/errors.js'
import { backupState } from '../../../src/state/care/backup.js'
import { compactState } from '../../../src/state/care/compact.js'
import { dropStored } from '../../../src/state/care/drop-stored.js'
import { forgetRemoved } from '../../../src/state/care/forget.js'
import { repairState } from '../../../src/state/care/repair.js'
import { restoreState } from '../../../src/state/care/restore.js'
import { createStore, openStore } from '../../../src/state/store.js'
import type { FileStore } from '../../../src/state/store.js'
import type { Store } from '../../../src/state/types.js'
import { site, stateOf } from '../state/crash-script.js'
import { faulty, memoryLock, plan } from '../state/faults.js'
import type { Fault, Plan } from '../state/faults.js'
import { MemFiles } from '../state/mem-files.js'
import { notes } from '../state/notes.js'

const put = (store: Store, id: string, n: number): Promise<void> =>
  store.transact('put', (tx) => tx.put(notes, id, { n, text: 'x'.repeat(n) }))

const mark = (store: Store): Promise<void> => store.transact('mark', (tx) => tx.mark())

/** A state with two generations, marks, an artifact and a backup beside it. */
const begun = async (): Promise<MemFiles> => {
  const disk = new MemFiles()
  const store = createStore({
    ...site, files: disk, lock: memoryLock(), profile: {},
  }) as FileStore
  await put(store, 'a', 1)
  await mark(store)
  store.artifacts.write('x', Buffer.from('y'))
  await backupState(store, '/tmp/backup')
  await store.exclusive('fold', () => store.checkpoint())
  await put(store, 'b', 2)
  store.close()
  return disk.clone()
}

const withStore = async (
  files: ReturnType<typeof faulty>, work: (store: FileStore) => Promise<unknown>,
): Promise<void> => {
  const store = openStore({ ...site, files, lock: memoryLock(), mode: 'write' }) as FileStore
  try {
    await work(store)
  } finally {
    store.close()
  }
}

type Work = (files: ReturnType<typeof faulty>) => Promise<unknown>

const works: Readonly<Record<string, Work>> = {
  put: (files) => withStore(files, (store) => put(store, 'c', 3)),
  mark: (files) => withStore(files, mark),
  compact: (files) => withStore(files, (store) => compactState(store, () => new Set())),
  prune: (files) => withStore(files, async (store) => {
    await store.transact('drop', (tx) => tx.remove(notes, 'b'))
    await forgetRemoved(store, 'prune')
    const dropped = store.artifacts.list().map((name) => ({ name, isNamed: () => false }))
    await dropStored(store, dropped, 'prune')
  }),
  backup: (files) => withStore(files, (store) => backupState(store, '/tmp/other')),
  repair: (files) => repairState({ ...site, files, lock: memoryLock(), onLoss: mark }),
  restore: (files) => restoreState({
    ...site, files, lock: memoryLock(), backup: '/tmp/backup', afterRestore: mark,
  }),
}

const faults: readonly Fault[] = ['EIO', 'lost', 'ENOSPC', 'short']

/** Runs work over a disk that fails; says whether it was answered. */
const tried = async (work: Work, disk: MemFiles, to: Plan): Promise<boolean> => {
  try {
    await work(faulty(disk, to))
    return true
  } catch (error) {
    assert.ok(error instanceof SallyportError, `a failure without a name: ${String(error)}`)
    return false
  }
}

/** What a process answers now; null where it refuses, which must be for a reason. */
const answerOf = async (disk: MemFiles): Promise<string | null> => {
  try {
    const options = { ...site, files: disk, lock: memoryLock(), mode: 'write' } as const
    const store = openStore(options) as FileStore
    await store.transact('look', (tx) => void tx.get(notes, 'a'))
    const state = stateOf(store)
    store.close()
    return state
  } catch (error) {
    assert.ok(error instanceof SallyportError, `a failure without a name: ${String(error)}`)
    return null
  }
}

/** One flipped bit of the newest log, so that a repair has something to do. */
const damaged = (disk: MemFiles): MemFiles => {
  const path = `/tmp/state/wal/${'0'.repeat(11)}2.log`
  const fd = disk.open(path, 'read')
  const bytes = Buffer.alloc(disk.fstat(fd).size)
  disk.read(fd, bytes, 0)
  disk.close(fd)
  bytes.fill(0, bytes.length - 100, bytes.length - 90)
  disk.overwrite(path, bytes)
  return disk
}

/** Injects each fault at each step; `rounds` bounds how many are tried in all. */
export const run = async (rounds: number): Promise<void> => {
  const base = await begun()
  let injected = 0
  let refused = 0
  for (const [name, work] of Object.entries(works)) {
    const fresh = (): MemFiles => (name === 'repair' ? damaged(base.clone()) : base.clone())
    const counted = plan()
    assert.ok(await tried(work, fresh(), counted), `${name} without a fault`)
    const step = Math.max(1, Math.ceil((counted.calls * faults.length * 6) / Math.max(1, rounds)))
    for (const fault of faults) {
      for (let at = 1; at <= counted.calls; at += step) {
        const disk = fresh()
        const done = await tried(work, disk, plan(at, fault))
        injected += 1
        if (!done) refused += 1
        const answer = await answerOf(disk)
        const after = await answerOf(disk.crash('dropped', 0))
        const where = `${name}, ${fault} at ${counted.seen[at - 1]}`
        if (answer !== null) assert.equal(after, answer, `lost after ${where}`)
      }
    }
  }
  process.stdout.write(
    `injected faults: ${injected} tried, ${refused} told, 0 answers lost\n`)
}
