/** What was removed from a state, or taken back, and acknowledged stays so after a power cut. */
import { join } from 'node:path'
import t from 'tap'
import { unsettleFrom } from '../../src/state/care/aside.js'
import { dropStored } from '../../src/state/care/drop-stored.js'
import { dropAsides } from '../../src/state/care/finished-asides.js'
import { keepUnreferenced, keptArtifacts, removeKept } from '../../src/state/care/kept.js'
import { repairState } from '../../src/state/care/repair.js'
import type { Files } from '../../src/state/files.js'
import { placesOf } from '../../src/state/paths.js'
import { createStore, openStore, type FileStore } from '../../src/state/store.js'
import { site } from '../support/state/crash-script.js'
import { faulty, memoryLock, plan, Stopped } from '../support/state/faults.js'
import { MemFiles } from '../support/state/mem-files.js'

const modes = ['kept', 'dropped', 'garbled'] as const
const { aside, artifacts } = placesOf(site.dir)

interface Made {
  readonly disk: MemFiles
  /** Of a stored artifact that no row names. */
  readonly name: string
  /** Of a finished copy that lies aside. */
  readonly copy: string
}

/** A state with a stored artifact and a finished copy, all of it on the disk for good. */
const made = async (): Promise<Made> => {
  const files = new MemFiles()
  const store = createStore({ ...site, files, lock: memoryLock(), profile: {} }) as FileStore
  const { stored_sha256: name } = store.artifacts.write('x', Buffer.from('content'))
  store.close()
  files.unlink(store.places.state)
  const { copied_to: copied } = await repairState({ ...site, files, lock: memoryLock() })
  return { disk: files.clone(), name, copy: copied ?? '' }
}

/** Works on the state with a store that is open for writing. */
const withStore = async (files: Files, work: (store: FileStore) => unknown): Promise<void> => {
  const store = openStore({ ...site, files, lock: memoryLock(), mode: 'write' }) as FileStore
  try {
    await work(store)
  } finally {
    store.close()
  }
}

const nameOf = (path: string): string => path.slice(aside.length + 1)

/** Removes something, and says what is left of it on a disk. */
const removals: Record<string, (of: Made) => Promise<(disk: MemFiles) => readonly string[]>> = {
  'a stored file whose row is gone': async ({ disk, name }) => {
    await withStore(disk, (store) =>
      dropStored(store, [{ name, isNamed: () => false }], 'prune'))
    return (after) => after.list(join(artifacts, name.slice(0, 2)))
  },
  'a finished copy': async ({ disk, copy }) => {
    await withStore(disk, (store) => dropAsides(store, [nameOf(copy)], 'prune'))
    return (after) => after.list(aside)
  },
  'an artifact that was kept aside': async ({ disk, name }) => {
    await withStore(disk, (store) => keepUnreferenced(store, () => new Set()))
    removeKept(site.dir, name, disk)
    return (after) => keptArtifacts(site.dir, after).map((one) => one.name)
  },
  'the word that all of a former state was carried over': async ({ disk, copy }) => {
    const path = join('/tmp/backup/aside', nameOf(copy))
    for (const folder of ['/tmp/backup', '/tmp/backup/aside', path]) disk.mkdir(folder)
    unsettleFrom('/tmp/backup', site.dir, disk)
    return (after) => after.list(copy).filter((name) => name === 'SETTLED')
  },
}

for (const [what, remove] of Object.entries(removals)) {
  t.test(`durability: a power cut right behind a removal does not bring back ${what}`, async (t) => {
    const of = await made()
    const leftOn = await remove(of)
    for (const mode of modes) t.strictSame(leftOn(of.disk.crash(mode, 1)), [], mode)
  })
}

t.test('durability: a power cut while a finished copy is removed leaves no part of it under its name', async (t) => {
  const { disk, copy } = await made()
  const whole = disk.list(copy)
  const drop = async (files: Files): Promise<void> =>
    withStore(files, (store) => dropAsides(store, [nameOf(copy)], 'prune'))
      .catch((error: unknown) => {
        if (!(error instanceof Stopped) && !/end/.test(String(error))) throw error
      })
  const counted = plan()
  await drop(faulty(disk.clone(), counted))
  const wrong: string[] = []
  for (let at = 1; at <= counted.calls; at += 1) {
    const cut = disk.clone()
    await drop(faulty(cut, plan(at, 'stop')))
    for (const seed of [1, 2, 3, 4, 5, 6, 7, 8]) {
      const after = cut.crash('garbled', seed)
      const left = after.stat(copy) === undefined ? whole : after.list(copy)
      if (left.join() !== whole.join()) wrong.push(`${counted.seen[at - 1]}: ${left.join()}`)
    }
  }
  t.ok(counted.calls > whole.length)
  t.strictSame(wrong, [])
})
