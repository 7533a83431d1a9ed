/**
 * The power is cut right behind everything that was acknowledged, and right before each name by
 * which something comes into force: nothing that lies on the disk then is lost.
 */
import { dirname } from 'node:path'
import t from 'tap'
import { SallyportError } from '../../src/base/errors.js'
import { backupState } from '../../src/state/care/backup.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import { ensureDirs, ensureDurableDirs, isTemporary } from '../../src/state/files.js'
import type { LockMaker } from '../../src/state/lock.js'
import { createStore, openStore, type FileStore } from '../../src/state/store.js'
import { onLoss, site } from '../support/state/crash-script.js'
import { faulty, memoryLock, plan, Stopped, type Plan } from '../support/state/faults.js'
import { newestLog } from '../support/state/forge.js'
import { MemFiles } from '../support/state/mem-files.js'
import { notes, put } from '../support/state/notes.js'

/** What is unfinished, and the note of where a log ended: nothing rests on them. */
const isLoose = (name: string): boolean =>
  isTemporary(name) || name === 'ended' || /^\..+\.new-/.test(name)

/** Every name on a disk with the bytes behind it, what is loose left out. */
const treeOf = (disk: MemFiles, path = ''): readonly string[] =>
  disk.list(path === '' ? '/' : path).filter((name) => !isLoose(name)).flatMap((name) => {
    const at = `${path}/${name}`
    return disk.stat(at)?.kind === 'dir' ? [at, ...treeOf(disk, at)]
      : [`${at}: ${disk.contentOf(at).toString('base64')}`]
  })

/** What a power cut takes or brings back. */
const lostBy = (disk: MemFiles): readonly string[] => {
  const [before, after] = [treeOf(disk.clone()), treeOf(disk.crash('dropped', 0))]
  return [
    ...before.filter((one) => !after.includes(one)).map((one) => `lost ${one}`),
    ...after.filter((one) => !before.includes(one)).map((one) => `back ${one}`),
  ].map((one) => one.slice(0, 80))
}

const options = (disk: MemFiles, to: Plan) =>
  ({ ...site, files: faulty(disk, to), lock: memoryLock(), mode: 'write' as const })

const opened = (disk: MemFiles, to = plan()): FileStore => openStore(options(disk, to)) as FileStore

const made = async (): Promise<MemFiles> => {
  const disk = new MemFiles()
  const store = createStore({ ...options(disk, plan()), profile: {} }) as FileStore
  await put(store, 'a', 1)
  store.artifacts.write('x', Buffer.from('y'), { deterministic: true })
  await store.exclusive('fold', () => store.checkpoint())
  await put(store, 'b', 2)
  store.close()
  return disk
}

/** A state and a backup of it, from before its last record. */
const copied = async (): Promise<MemFiles> => {
  const disk = await made()
  const store = opened(disk)
  await backupState(store, '/tmp/copies/one')
  await put(store, 'c', 3)
  store.close()
  return disk
}

/** Leaves bytes of a record that was not written to its end. */
const tear = (disk: MemFiles): void => {
  const log = newestLog(site.dir, disk)
  const whole = disk.contentOf(log)
  disk.overwrite(log, Buffer.concat([whole, whole.subarray(-40, -9)]))
}

const torn = async (): Promise<MemFiles> => {
  const disk = await made()
  tear(disk)
  return disk
}

/** A state of which the middle of the newest log is untrue. */
const damaged = async (): Promise<MemFiles> => {
  const disk = await made()
  const store = opened(disk)
  await put(store, 'c', 3)
  store.close()
  const log = newestLog(site.dir, disk)
  const bytes = Buffer.from(disk.contentOf(log))
  bytes.fill(0x78, bytes.length - 300, bytes.length - 200)
  disk.overwrite(log, bytes)
  return disk
}

/** What a process that died left of a folder that was about to be made. */
const begun = async (path: string): Promise<MemFiles> => {
  const disk = new MemFiles()
  ensureDirs(disk, dirname(path))
  disk.mkdir(path)
  return disk
}

const stopped = async (run: () => unknown): Promise<void> => {
  try {
    await run()
  } catch (error) {
    if (!(error instanceof Stopped || error instanceof SallyportError)) throw error
  }
}

/** What a process left that died right before it synced a folder. */
const leftBefore = async (
  disk: MemFiles, folder: string, act: (disk: MemFiles, to: Plan) => unknown,
): Promise<MemFiles> => {
  const counted = plan()
  await act(disk.clone(), counted)
  const at = counted.seen.lastIndexOf(`sync ${folder}`) + 1
  await stopped(() => act(disk, plan(at, 'stop')))
  return disk
}

const withStore = (act: (store: FileStore) => unknown) => async (disk: MemFiles, to: Plan) => {
  const store = opened(disk, to)
  await act(store)
}

interface Case {
  readonly from: () => Promise<MemFiles>
  readonly act: (disk: MemFiles, to: Plan) => unknown
}

const again = withStore((store) =>
  store.artifacts.write('x', Buffer.from('z'), { deterministic: true }))

const cases: Readonly<Record<string, Case>> = {
  'a state that is made': {
    from: async () => new MemFiles(),
    act: (disk, to) => createStore({ ...options(disk, to), profile: {} }),
  },
  'a state in a folder that a dead process made': {
    from: () => begun('/tmp/outer'),
    act: (disk, to) =>
      createStore({ ...options(disk, to), dir: '/tmp/outer/state', profile: {} }),
  },
  'folders below one that a dead process made': {
    from: () => begun('/tmp/outer/inner'),
    act: (disk, to) => ensureDurableDirs(faulty(disk, to), '/tmp/outer/inner/one/two'),
  },
  'a record': { from: made, act: withStore((store) => put(store, 'c', 3)) },
  'a record behind a torn one': { from: torn, act: withStore((store) => put(store, 'c', 3)) },
  'a record behind one that another process tore': {
    from: made,
    act: async (disk, to) => {
      const store = opened(disk, to)
      await put(store, 'c', 3)
      tear(disk)
      await put(store, 'd', 4)
    },
  },
  'the first record of a state that a dead process made': {
    from: () => leftBefore(new MemFiles(), '/tmp', (disk, to) =>
      createStore({ ...options(disk, to), profile: {} })),
    act: withStore((store) => put(store, 'c', 3)),
  },
  'marks and what is witnessed': {
    from: made,
    act: withStore(async (store) => {
      for (const policyRevision of [1, 2, 3]) {
        await store.transact('mark', (tx) => {
          tx.mark({ policyRevision })
          tx.afterSync(() => store.witness.append(`line ${policyRevision}`))
        })
      }
    }),
  },
  'an artifact in a folder of its own': {
    from: made, act: withStore((store) => store.artifacts.write('x', Buffer.from('z'))),
  },
  'an artifact in a folder that a dead process made': {
    from: async () => leftBefore(await made(), '/tmp/state/artifacts', again), act: again,
  },
  'an artifact that is removed': {
    from: made,
    act: withStore((store) => {
      for (const name of store.artifacts.list()) store.artifacts.remove(name)
    }),
  },
  'a log that is begun': {
    from: made, act: withStore((store) => store.exclusive('begin', () => store.rotate())),
  },
  'a fold that sweeps': {
    from: made,
    act: withStore(async (store) => {
      for (const n of [4, 5, 6]) {
        await put(store, 'a', n)
        await store.exclusive('fold', () => store.checkpoint())
      }
    }),
  },
  'a repair that founds a generation': {
    from: damaged,
    act: (disk, to) => repairState({ ...options(disk, to), onLoss }),
  },
  'a restore': {
    from: copied,
    act: (disk, to) =>
      restoreState({ ...options(disk, to), backup: '/tmp/copies/one', specs: [notes] }),
  },
}

/** Names by which something comes into force. */
const decisive = /^rename .*\/(?:manifest\.\d+\.json|\d+\.log|STATE|state)$/

/** Numbers of the calls that decide, and of those that come next and change something. */
const decidingIn = (seen: readonly string[]): readonly number[] => {
  const decides = seen.flatMap((call, at) => (decisive.test(call) ? [at] : []))
  const next = decides.map((at) => seen.findIndex((call, to) => to > at && !/^sync /.test(call)))
  return [...decides, ...next.filter((at) => at >= 0)].map((at) => at + 1)
}

for (const [what, { from, act }] of Object.entries(cases)) {
  t.test(`durability 2 and 10: a power cut behind ${what} takes nothing of it, and nothing that it rests on before`, async (t) => {
    const [whole, counted] = [await from(), plan()]
    await act(whole, counted)
    t.strictSame(lostBy(whole), [])
    for (const at of decidingIn(counted.seen)) {
      const disk = await from()
      await stopped(() => act(disk, plan(at, 'stop')))
      t.strictSame([counted.seen[at - 1], lostBy(disk)], [counted.seen[at - 1], []])
    }
  })
}

/** What a process does that dies, or of which a sync fails, at one of its steps. */
const livedBefore = withStore(async (store) => {
  await store.exclusive('begin', () => store.rotate())
  await put(store, 'c', 3)
})

/** What the next process does first. */
const heirs: Readonly<Record<string, (store: FileStore) => Promise<unknown>>> = {
  'looks': (store) => store.transact('look', (tx) => void tx.get(notes, 'c')),
  'looks at rows in memory': (store) =>
    store.transactLoaded('look', (tx) => void tx.get(notes, 'c')),
  'writes': (store) => put(store, 'd', 4),
  'begins a log': (store) => store.exclusive('begin', () => store.rotate()),
}

for (const [what, act] of Object.entries(heirs)) {
  t.test(`durability 2 and 10: behind a process that died or whose sync failed, one that ${what} makes durable all that it found`, async (t) => {
    const counted = plan()
    await livedBefore(await made(), counted)
    const syncs = counted.seen.flatMap((call, at) => (call.startsWith('sync ') ? [at + 1] : []))
    t.ok(syncs.length > 5, `${syncs.length} syncs`)
    for (const at of syncs) {
      for (const fault of ['stop', 'lost'] as const) {
        const disk = await made()
        await stopped(() => livedBefore(disk, plan(at, fault)))
        await act(opened(disk))
        t.strictSame([counted.seen[at - 1], fault, lostBy(disk)],
          [counted.seen[at - 1], fault, []])
      }
    }
  })
}

t.test('a torn record is cut for good before another one is written in its place', async (t) => {
  const to = plan()
  await put(opened(await torn(), to), 'c', 3)
  const log = '/tmp/state/wal/000000000002.log'
  t.strictSame(to.seen.filter((call) => call.endsWith(log)).slice(0, 3),
    [`truncate ${log}`, `sync ${log}`, `write ${log}`])
})

t.test('a transaction over rows in memory syncs no folder while it holds the lock', async (t) => {
  const to = plan()
  const lock: LockMaker = (...of) => {
    const held = memoryLock()(...of)
    return {
      ...held,
      tryTake: () => (to.seen.push('take'), held.tryTake('')),
      give: () => (to.seen.push('give'), held.give()),
    }
  }
  const store = openStore({ ...options(await made(), to), lock })
  to.seen.length = 0
  await store.transactLoaded('put', (tx) => tx.put(notes, 'c', { n: 3, text: '' }))
  const log = '/tmp/state/wal/000000000002.log'
  const under = to.seen.slice(to.seen.indexOf('take'), to.seen.lastIndexOf('give'))
  t.ok(to.seen.includes('sync /tmp/state/wal'))
  t.notOk(under.includes('sync /tmp/state/wal'), under.join())
  t.ok(under.includes(`sync ${log}`))
})
