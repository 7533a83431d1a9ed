import type { Test } from 'tap'
import {
  existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, symlinkSync,
  unlinkSync, utimesSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { checkState } from '../../src/state/care/check.js'
import { compactState } from '../../src/state/care/compact.js'
import { backupState } from '../../src/state/care/backup.js'
import {
  dropStored, sweepStored, sweepTemporaries,
} from '../../src/state/care/drop-stored.js'
import { dropAsides } from '../../src/state/care/finished-asides.js'
import { keepUnreferenced } from '../../src/state/care/kept.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import { nodeFiles, type Files } from '../../src/state/files.js'
import { kernelStateLock } from '../../src/state/lock.js'
import type { FileStore } from '../../src/state/store.js'
import { again, errorOf, notes, numbers, placeOf, put } from '../support/state/notes.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const inside = ['wal', 'collections', 'artifacts', 'run', 'run/ops', 'run/lane', 'aside'] as const

/** A closed store of one note, with every folder that it may have. */
const closedStore = async (t: Test): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await compactState(store)
  store.close()
  for (const folder of inside) mkdirSync(join(store.dir, folder), { recursive: true })
  return store
}

/** Moves a folder out of the state and puts a link to it in its place. */
const replaceByLink = (store: FileStore, folder: string): string => {
  const away = join(store.dir, '..', `away-${folder.replace('/', '-')}`)
  renameSync(join(store.dir, folder), away)
  symlinkSync(away, join(store.dir, folder))
  return away
}

for (const folder of inside) {
  t.test(`a link in the place of ${folder} is damage to every way in`, async (t) => {
    const store = await closedStore(t)
    const away = replaceByLink(store, folder)
    writeFileSync(join(away, 'letter.txt'), 'mine')
    const before = readdirSync(away)
    const refusal = { kind: 'damaged', code: 'folder_replaced', details: { folder } }
    for (const mode of ['read', 'write'] as const) {
      t.hasStrict(errorOf(() => again(t, store, mode)), refusal)
    }
    await t.rejects(repairState(placeOf(store)), refusal)
    const { ok, problems } = checkState(placeOf(store))
    t.notOk(ok)
    t.hasStrict(problems, [{ code: 'folder_replaced', severity: 'damage', subject: folder }])
    t.strictSame(readdirSync(away), before, 'nothing behind the link was changed')
    unlinkSync(join(store.dir, folder))
    renameSync(away, join(store.dir, folder))
    t.strictSame(numbers(again(t, store, 'write')), { a: 1 }, 'what the next step says mends it')
  })
}

t.test('a file in the place of a folder is damage, and check still reports', async (t) => {
  for (const folder of ['wal', 'collections', 'artifacts', 'run', 'aside']) {
    const store = await closedStore(t)
    rmSync(join(store.dir, folder), { recursive: true })
    writeFileSync(join(store.dir, folder), '')
    t.hasStrict(errorOf(() => again(t, store)), { code: 'folder_replaced', details: { folder } })
    t.hasStrict(checkState(placeOf(store)).problems, [{ code: 'folder_replaced', subject: folder }])
  }
})

t.test('a folder replaced while a store is open is seen before its next fold', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const away = replaceByLink(store, 'collections')
  writeFileSync(join(away, '000000000001.1.seg'), 'mine')
  await t.rejects(compactState(store), { code: 'folder_replaced' })
  t.equal(readFileSync(join(away, '000000000001.1.seg'), 'utf8'), 'mine')
})

t.test('a fold writes nothing behind a link in the place of a folder', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await store.exclusive('begin', () => store.rotate())
  const away = replaceByLink(store, 'collections')
  const before = readdirSync(away)
  t.hasStrict(errorOf(() => store.fold({ mergeBytesMax: 0 })), { code: 'folder_replaced' })
  t.strictSame(readdirSync(away), before)
})

t.test('a folder replaced while its fold is published is seen before anything is swept', async (t) => {
  const { store: first } = await World.in(t).store()
  let away: string | undefined
  const files: Files = {
    ...nodeFiles,
    rename: (from, to) => {
      nodeFiles.rename(from, to)
      if (to.includes('/manifest.')) away = replaceByLink(first, 'collections')
    },
  }
  const store = again(t, first, 'write', { files })
  await put(store, 'a', 1)
  await store.exclusive('begin', () => store.rotate())
  const ours = '000000000099.1.seg'
  writeFileSync(join(store.places.collections, ours), 'mine')
  t.hasStrict(errorOf(() => store.fold({ mergeBytesMax: 0 })), { code: 'folder_replaced' })
  t.equal(readFileSync(join(away ?? '', ours), 'utf8'), 'mine')
})

t.test('two directories never share one log through links', async (t) => {
  const one = await closedStore(t)
  const other = join(one.dir, '..', 'other')
  mkdirSync(other)
  for (const name of readdirSync(one.dir)) {
    const from = join(one.dir, name)
    if (['wal', 'collections'].includes(name)) symlinkSync(from, join(other, name))
    else if (lstatSync(from).isDirectory()) mkdirSync(join(other, name))
    else writeFileSync(join(other, name), readFileSync(from))
  }
  t.hasStrict(errorOf(() => again(t, { ...one, dir: other } as FileStore, 'write')), {
    code: 'folder_replaced', details: { folder: 'wal' },
  })
})

t.test('folding removes only files under names that the program makes', async (t) => {
  const { store } = await World.in(t).store()
  const { collections, wal } = store.places
  const foreign = ['letter.txt', 'notes.json', 'manifest.bak', '.tmp-notes', 'notes.all.1.json']
  for (const name of foreign) writeFileSync(join(collections, name), '')
  writeFileSync(join(wal, '.tmp-notes'), '')
  mkdirSync(join(collections, '000000000009.1.seg'))
  const ours = ['000000000009.2.seg', '.tmp-1-0123456789abcdef-1']
  for (const name of ours) writeFileSync(join(collections, name), '')
  for (const n of [1, 2, 3]) {
    await store.transact('test', (tx) => tx.put(notes, 'a', { n, text: '' }))
    await compactState(store)
  }
  for (const name of ours) t.notOk(existsSync(join(collections, name)), name)
  for (const name of foreign) t.ok(existsSync(join(collections, name)), name)
  t.ok(existsSync(join(wal, '.tmp-notes')))
  t.ok(existsSync(join(collections, '000000000009.1.seg')), 'a folder stays')
})

t.test('a repair puts nothing right beside a linked folder', async (t) => {
  for (const folder of inside) {
    const store = await closedStore(t)
    replaceByLink(store, folder)
    unlinkSync(store.places.state)
    await t.rejects(repairState(placeOf(store)), { code: 'folder_replaced', details: { folder } })
    t.notOk(existsSync(store.places.state), folder)
  }
})

const stranger = 'ab'.repeat(32)

/** Lays files behind a link that anybody who follows it would take, and answers where. */
const behindLink = (store: FileStore, folder: string): string => {
  mkdirSync(join(store.dir, folder), { recursive: true })
  const away = replaceByLink(store, folder)
  for (const name of [`ab/${stranger}`, '.tmp-1-0123456789abcdef-1', 'gone-letters/letter']) {
    mkdirSync(join(away, name, '..'), { recursive: true })
    writeFileSync(join(away, name), 'mine')
    utimesSync(join(away, name), 0, 0)
  }
  return away
}

/** What takes files out of a folder of an open store. */
const sweeps: readonly (readonly [string, string, (store: FileStore) => Promise<unknown>])[] = [
  ['a compaction', 'artifacts', (store) => compactState(store, () => new Set())],
  ['a removal of stored files', 'artifacts',
    (store) => dropStored(store, [{ name: stranger, isNamed: () => false }], 'prune')],
  ['a sweep of stored files', 'artifacts', (store) => sweepStored(store, () => new Set(), 'prune')],
  ['a sweep of unfinished files', 'artifacts', async (store) => sweepTemporaries(store)],
  ['who keeps artifacts aside', 'artifacts', (store) => keepUnreferenced(store, () => new Set())],
  ['who keeps artifacts aside', 'aside', (store) => keepUnreferenced(store, () => new Set())],
  ['a removal of copies', 'aside', (store) => dropAsides(store, [], 'prune')],
]

for (const [what, folder, sweep] of sweeps) {
  t.test(`${what} touches nothing behind a link in the place of ${folder}`, async (t) => {
    const { store } = await World.in(t).store()
    store.artifacts.write('x', Buffer.from('content'))
    const away = behindLink(store, folder)
    const before = readdirSync(away, { recursive: true })
    await t.rejects(sweep(store), { code: 'folder_replaced', details: { folder } })
    t.strictSame(readdirSync(away, { recursive: true }), before)
  })
}

t.test('a compaction sweeps nothing behind a link that came before its last turn at the lock', async (t) => {
  const { store: first } = await World.in(t).store()
  await put(first, 'a', 1)
  let turns = 0
  let away = ''
  const store = again(t, first, 'write', {
    lock: (path, clock) => {
      const lock = kernelStateLock(path, clock)
      const tryTake = lock.tryTake.bind(lock)
      lock.tryTake = (verb) => {
        if (path === first.places.lock && (turns += 1) === 2) away = behindLink(first, 'artifacts')
        return tryTake(verb)
      }
      return lock
    },
  })
  await t.rejects(compactState(store, () => new Set()), { code: 'folder_replaced' })
  t.equal(store.generation.manifest.number, 2, 'it had merged everything by then')
  t.ok(existsSync(join(away, 'ab', stranger)))
})

t.test('a sweep of artifacts follows no link in the place of a shard', async (t) => {
  const { store } = await World.in(t).store()
  const away = join(store.dir, '..', 'away')
  mkdirSync(away)
  const file = join(away, 'ab'.repeat(32))
  writeFileSync(file, '')
  utimesSync(file, 0, 0)
  symlinkSync(away, join(store.places.artifacts, 'ab'))
  t.equal((await compactState(store, () => new Set())).orphans_removed, 0)
  store.artifacts.remove('ab'.repeat(32))
  t.ok(existsSync(file))
})

t.test('a link in the place of a folder of artifacts is told, and nothing behind it is read', async (t) => {
  const { store } = await World.in(t).store()
  const refs = [store.artifacts.write('x', Buffer.from('content'), { deterministic: true })]
  const [ref] = refs
  const shard = `artifacts/${ref?.stored_sha256.slice(0, 2)}`
  replaceByLink(store, shard)
  const told = { kind: 'damaged', code: 'folder_replaced', details: { folder: shard } }
  for (const one of refs) {
    for (const read of [
      () => store.artifacts.read('x', one), () => store.artifacts.verify('x', one),
      () => store.artifacts.openStream('x', one), () => store.artifacts.openPack('x', one),
      () => store.artifacts.write('x', Buffer.from('content'), { deterministic: true }),
    ]) t.hasStrict(errorOf(read), told)
  }
  t.hasStrict(checkState({ ...placeOf(store) }).problems,
    [{ code: 'folder_replaced', subject: shard }])
})

t.test('a restore over a directory with a linked folder changes nothing', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const backup = join(store.dir, '..', 'backup')
  await backupState(store, backup)
  store.close()
  const away = replaceByLink(store, 'collections')
  const before = readdirSync(away)
  await t.rejects(restoreState({ ...placeOf(store), backup }), { code: 'folder_replaced' })
  t.strictSame(readdirSync(away), before)
})

/** A closed store of two notes and an artifact; `folded`: one note lies in a log, one in a run. */
const storeToLose = async (
  t: Test, folded: boolean,
): Promise<{ readonly store: FileStore, readonly referenced: () => ReadonlySet<string> }> => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const { stored_sha256: stored } = store.artifacts.write('x', Buffer.from('private'))
  if (folded) await compactState(store)
  await put(store, 'b', 2)
  store.close()
  return { store, referenced: () => new Set([stored]) }
}

/** Folders that are lost, what that is told as, and the notes that a repair leaves; null: none. */
const losses = [
  { gone: ['wal'], folded: false, code: 'log_missing', left: {} },
  { gone: ['wal'], folded: true, code: 'log_missing', left: { a: 1 } },
  { gone: ['collections'], folded: false, code: 'generation_damaged', left: { a: 1, b: 2 } },
  { gone: ['collections'], folded: true, code: 'generation_damaged', left: { a: 1, b: 2 } },
  { gone: ['artifacts'], folded: false, code: 'artifact_damaged', left: { a: 1, b: 2 } },
  { gone: ['artifacts'], folded: true, code: 'artifact_damaged', left: { a: 1, b: 2 } },
  { gone: ['wal', 'collections'], folded: true, code: 'no_valid_generation', left: null },
] as const

for (const { gone, folded, code, left } of losses) {
  t.test(`a folder that is gone is told as what lay in it: ${gone.join(' and ')}, ${
    folded ? 'of a folded state' : 'of a new one'}`, async (t) => {
    const { store, referenced } = await storeToLose(t, folded)
    for (const folder of gone) rmSync(join(store.dir, folder), { recursive: true })
    const report = checkState({ ...placeOf(store), referenced })
    t.notOk(report.ok)
    t.ok(report.problems.some(({ severity }) => severity === 'damage'))
    const to = join(store.dir, '..', 'backup')
    const back = async (salvage: boolean) => {
      const opened = again(t, store, 'write')
      try {
        return await backupState(opened, to, { referenced, salvage })
      } finally {
        opened.close()
      }
    }
    await t.rejects(back(false), { kind: 'damaged', code })
    if (left === null) {
      await t.rejects(repairState(placeOf(store)), { kind: 'damaged', code: 'beyond_repair' })
      return
    }
    t.ok((await back(true)).loss?.damage.includes(code))
    const { changed, done } = await repairState(placeOf(store))
    t.ok(changed)
    t.ok(done.some(({ code: what }) => what === 'folder_made'))
    const mended = again(t, store, 'write')
    t.strictSame(numbers(mended), left)
    mended.artifacts.write('x', Buffer.from('another'))
    await put(mended, 'c', 3)
    t.strictSame(numbers(mended), { ...left, c: 3 })
  })
}
