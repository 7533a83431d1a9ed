/**
 * Rotating, folding, merging: beside everybody else's work, and ended or failed at every step.
 */
import { checkState } from '../../src/state/care/check.js'
import { compactState } from '../../src/state/care/compact.js'
import type { Files } from '../../src/state/files.js'
import type { LockMaker } from '../../src/state/lock.js'
import { readManifest } from '../../src/state/snapshot/manifest.js'
import type { FileStore, OpenOptions } from '../../src/state/store.js'
import { createStore, openStore } from '../../src/state/store.js'
import type { Plan } from '../support/state/faults.js'
import { Stopped, faulty, memoryLock, plan } from '../support/state/faults.js'
import { flipBit } from '../support/state/forge.js'
import type { CrashMode } from '../support/state/mem-files.js'
import { MemFiles } from '../support/state/mem-files.js'
import { again, items, notes, numbers, put, specs } from '../support/state/notes.js'
import { slice } from '../support/slice.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const site = { dir: '/tmp/state', configDir: '/tmp/config' }

const openOn = (
  files: Files, options: Partial<OpenOptions> = {}, lock: LockMaker = memoryLock(),
): FileStore =>
  openStore({ ...site, mode: 'write', files, lock, ...options }) as FileStore

const stateOf = (store: FileStore): string => {
  const view = store.read()
  return JSON.stringify([view.all(notes), view.all(items)])
}

/** Four folds, so that the next one merges; removals, and records behind the last fold. */
const grown = async (): Promise<{ readonly disk: MemFiles; readonly state: string }> => {
  const disk = new MemFiles()
  const store = createStore({ ...site, files: disk, lock: memoryLock(), profile: {} }) as FileStore
  for (let round = 0; round < 4; round += 1) {
    await store.transact('fill', (tx) => {
      for (let i = 0; i < 4; i += 1) tx.put(items, `i${round}${i}`, { n: i, text: 'x' })
      if (round > 0) tx.remove(items, `i${round - 1}0`)
      tx.put(notes, 'round', { n: round, text: '' })
      tx.mark({ policyRevision: round })
    })
    if (round < 3) await store.exclusive('fold', () => store.checkpoint())
  }
  const state = stateOf(store)
  store.close()
  return { disk, state }
}

t.test('rows of several runs are found one after the other, in whatever order they are asked for', async (t) => {
  const disk = new MemFiles()
  const store = createStore({ ...site, files: disk, lock: memoryLock(), profile: {} }) as FileStore
  for (let round = 0; round < 3; round += 1) {
    await store.transact('fill', (tx) => {
      for (let i = round; i < 300; i += 3) tx.put(items, `i${i}`, { n: i, text: 'x'.repeat(90) })
    })
    await store.exclusive('fold', () => store.checkpoint())
  }
  t.equal(store.generation.manifest.runs.length, 3)
  store.close()
  for (const cachedBytes of [0, 40_000, 12_000_000]) {
    const reader = openOn(disk, { mode: 'read', cachedBytes })
    const view = reader.read()
    const missing = Array.from({ length: 300 }, (_, i) => (i * 7) % 300)
      .filter((i) => view.get(items, `i${i}`)?.n !== i)
    t.strictSame(missing, [], `${cachedBytes}`)
    t.equal(view.get(items, 'i300'), undefined)
    reader.close()
  }
})

const acts: Readonly<Record<string, (store: FileStore) => Promise<unknown>>> = {
  fold: (store) => store.exclusive('fold', () => store.checkpoint()),
  compact: (store) => compactState(store),
}

/** Runs one act on a disk under a plan; whether it ended by itself. */
const acted = async (disk: Files, act: string, to: Plan): Promise<boolean> => {
  try {
    const store = openOn(faulty(disk, to))
    await acts[act]?.(store)
    return true
  } catch (error) {
    if (!(error instanceof Stopped) && !to.stopped && to.fault === undefined) throw error
    return false
  }
}

/** What is wrong with a disk after a crash: it must hold the state, go on, and fold. */
const problemOf = async (disk: MemFiles, state: string): Promise<string | null> => {
  const store = openOn(disk)
  if (store.health().damage !== null) return `damage ${store.health().damage?.code}`
  if (stateOf(store) !== state) return 'another state'
  if (store.anchor().status !== 'ok') return `anchor ${store.anchor().status}`
  await put(store, 'after', 1)
  await store.exclusive('fold', () => store.checkpoint())
  await compactState(store)
  if (numbers(store)['after'] !== 1) return 'the next write is lost'
  store.close()
  const report = checkState({ ...site, files: disk, specs })
  const bad = report.problems.filter(({ severity }) => severity === 'damage')
  return bad.length === 0 ? null : `check: ${bad.map(({ code }) => code).join()}`
}

const modes: readonly (readonly [CrashMode, number])[] = [
  ['kept', 0], ['dropped', 0], ['garbled', 1], ['garbled', 2], ['garbled', 3],
]

/** The numbers of the calls that were counted. */
const steps = ({ calls }: Plan): readonly number[] =>
  Array.from({ length: calls }, (_, at) => at + 1)

for (const act of Object.keys(acts)) {
  t.test(`durability 4 and 10: a ${act} that is ended at any step loses and changes nothing`, async (t) => {
    const { disk, state } = await grown()
    const counted = plan()
    t.ok(await acted(disk.clone(), act, counted))
    const wrong: string[] = []
    const ends = steps(counted).flatMap((at) => modes.map(([mode, seed]) => ({ at, mode, seed })))
    for (const { at, mode, seed } of slice(`ends of a ${act}`, ends, {
      axesOf: (one) => [String(one.at), `${one.mode} ${one.seed}`],
    })) {
      const broken = disk.clone()
      await acted(broken, act, plan(at, 'stop'))
      const problem = await problemOf(broken.crash(mode, seed * 1000 + at), state)
      if (problem !== null) wrong.push(`${counted.seen[at - 1]} ${mode} ${seed}: ${problem}`)
    }
    t.strictSame(wrong, [])
    t.ok(counted.calls > 15, `${counted.calls} steps`)
  })

  t.test(`durability 9: whichever call of a ${act} fails, nothing is lost and the next one does it`, async (t) => {
    const { disk, state } = await grown()
    const counted = plan()
    await acted(disk.clone(), act, counted)
    const wrong: string[] = []
    const faults = steps(counted).flatMap((at) =>
      (['EIO', 'ENOSPC', 'short', 'lost'] as const).map((fault) => ({ at, fault })))
    for (const { at, fault } of slice(`faults of a ${act}`, faults, {
      axesOf: (one) => [String(one.at), one.fault],
    })) {
      const broken = disk.clone()
      await acted(broken, act, plan(at, fault))
      for (const mode of ['kept', 'dropped'] as const) {
        const problem = await problemOf(broken.crash(mode, at), state)
        if (problem !== null) wrong.push(`${counted.seen[at - 1]} ${fault} ${mode}: ${problem}`)
      }
    }
    t.strictSame(wrong, [])
  })
}

t.test('a fold rests on no log whose name a dead process left unsynced', async (t) => {
  const disk = new MemFiles()
  createStore({ ...site, files: disk, lock: memoryLock(), profile: {} }).close()
  const rotated = async (files: Files): Promise<void> => {
    const store = openOn(files)
    await put(store, 'a', 1)
    await store.exclusive('rotate', () => store.rotate())
  }
  const counted = plan()
  await rotated(faulty(disk.clone(), counted))
  const renamed = counted.seen.findIndex((call) => /^rename .*00002\.log$/.test(call))
  t.match(counted.seen[renamed + 1], /^sync .*\/wal$/)
  const dying = plan(renamed + 2, 'stop')
  await rotated(faulty(disk, dying)).catch(() => undefined)
  t.ok(dying.stopped)
  const next = openOn(disk)
  next.fold({ mergeBytesMax: 0 })
  t.equal(next.generation.manifest.number, 2)
  const after = openOn(disk.crash('dropped', 0))
  t.strictSame([after.health().damage, numbers(after)], [null, { a: 1 }])
})

t.test('no record is ever written to another log: sealed ones stay as they are, byte for byte', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const bytes = Buffer.from(readAll(store, 1))
  await store.exclusive('rotate', () => store.rotate())
  const sealed = readAll(store, 1)
  t.ok(sealed.subarray(0, bytes.length).equals(bytes), 'a seal is put behind, nothing else')
  t.equal(readAll(store, 2).indexOf('#c '), -1, 'the new log is empty')
  await put(store, 'b', 2)
  store.fold({ mergeBytesMax: 1e6 })
  t.ok(readAll(store, 1).equals(sealed))
})

const readAll = (store: FileStore, epoch: number): Buffer => {
  const { files, places } = store
  const fd = files.open(places.log(epoch), 'read')
  const bytes = Buffer.alloc(files.fstat(fd).size)
  files.read(fd, bytes, 0)
  files.close(fd)
  return bytes
}

t.test('folding holds the state lock for the new log only, and writes no snapshot meanwhile', async (t) => {
  const disk = new MemFiles()
  const held: string[] = []
  const lock = memoryLock()
  let isHeld = false
  const watched: LockMaker = (path, clock) => {
    const inner = lock(path, clock)
    if (!path.endsWith('/lock')) return inner
    return {
      ...inner,
      tryTake: (verb) => (isHeld = inner.tryTake(verb) || isHeld),
      give: () => {
        isHeld = false
        inner.give()
      },
    }
  }
  const files: Files = new Proxy(disk, {
    get: (target, name: keyof MemFiles) => {
      const value: unknown = target[name]
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        const path = String(args[0])
        if (name === 'open' && args[1] === 'create') held.push(`${isHeld} ${path}`)
        return (value as (...all: unknown[]) => unknown).apply(target, args)
      }
    },
  })
  createStore({ ...site, files: disk, lock, profile: {} }).close()
  const store = openOn(files, { logBytesMax: 100 }, watched)
  for (let n = 0; n < 3; n += 1) await put(store, 'a', n, 'x'.repeat(100))
  held.length = 0
  store.close()
  const under = held.filter((one) => one.startsWith('true'))
  t.ok(under.length > 0 && under.every((one) => one.includes('/wal/')), under.join())
  t.ok(held.some((one) => one.startsWith('false') && one.includes('/collections/')))
})

t.test('who does not get the lock of folding folds nothing, and nobody waits', async (t) => {
  const logBytesMax = 600
  const { store } = await World.in(t).store({ logBytesMax })
  const other = again(t, store, 'write', { logBytesMax })
  await put(store, 'a', 1, 'x'.repeat(200))
  await put(other, 'b', 2, 'x'.repeat(200))
  await store.withoutFolding('test', async () => {
    other.close()
    const { manifest, epoch } = again(t, store).generation
    t.strictSame([manifest.number, epoch], [1, 2], 'a new log, and the sealed one waits')
  })
  await put(store, 'c', 3, 'x'.repeat(600))
  store.close()
  const { manifest, epoch } = again(t, store).generation
  t.strictSame([manifest.number, manifest.epoch, epoch], [2, 2, 3], 'the next one folds both')
  t.strictSame(numbers(again(t, store)), { a: 1, b: 2, c: 3 })
})

t.test('a long merge goes on slice by slice, and readers see the same all the while', async (t) => {
  const { store } = await World.in(t).store()
  const text = 'x'.repeat(1000)
  for (let run = 0; run < 4; run += 1) {
    await store.transact('fill', (tx) => {
      for (let i = 0; i < 4000; i += 1) tx.put(items, `i${i % 2}${run}${i}`, { n: run, text })
    })
    await store.exclusive('rotate', () => store.rotate())
    store.fold({ mergeBytesMax: run < 3 ? 0 : 1 })
  }
  const reader = again(t, store)
  let slices = 0
  for (; ; slices += 1) {
    const { merges, runs } = reader.generation.manifest
    if (slices > 0 && merges.length === 0) break
    t.strictSame([merges.length, runs.length], [1, 4], 'the inputs stay until it is done')
    t.equal(reader.read().all(items).length, 16_000)
    if (slices > 0) store.fold({ mergeBytesMax: 1 })
    else again(t, store, 'write').fold({ mergeBytesMax: 1 })
    await store.exclusive('rotate', () => store.rotate())
  }
  t.ok(slices >= 2, `${slices} slices`)
  t.equal(reader.generation.manifest.runs.length, 1)
  t.equal(reader.read().all(items).length, 16_000)
  t.ok(checkState({ dir: store.dir, configDir: `${store.dir}/../config`, specs }).ok)
})

t.test('what nobody needs any more goes: two manifests stay, their files, and the logs after', async (t) => {
  const { store } = await World.in(t).store()
  for (let n = 0; n < 9; n += 1) {
    await put(store, `a${n}`, n)
    await store.exclusive('fold', () => store.checkpoint())
  }
  const { files, places } = store
  const names = files.list(places.collections)
  const numbersOf = names.filter((name) => name.startsWith('manifest.'))
  t.strictSame(numbersOf, ['manifest.000000000009.json', 'manifest.000000000010.json'])
  const named = [9, 10].flatMap((number) => {
    const manifest = readManifest(files, places.manifest(number))
    return [...manifest?.runs ?? [], ...manifest?.merges ?? []].flatMap((run) => run.files)
  }).map(({ name }) => name)
  t.strictSame(names.filter((name) => name.endsWith('.seg')), [...new Set(named)].sort())
  t.strictSame(files.list(places.wal), ['000000000009.log', '000000000010.log'])
})

t.test('a store that is closed holds no file open, however often it was folded', async (t) => {
  const disk = new MemFiles()
  const open = new Set<number>()
  const files: Files = new Proxy(disk, {
    get: (target, name: keyof MemFiles) => {
      const value: unknown = target[name]
      if (typeof value !== 'function') return value
      return (...args: unknown[]): unknown => {
        const result = (value as (...all: unknown[]) => unknown).apply(target, args)
        if (name === 'open') open.add(result as number)
        if (name === 'close') open.delete(args[0] as number)
        return result
      }
    },
  })
  const store = createStore({ ...site, files, lock: memoryLock(), profile: {} }) as FileStore
  for (let n = 0; n < 9; n += 1) {
    await put(store, `a${n}`, n)
    await store.exclusive('fold', () => store.checkpoint())
    store.read().all(notes)
  }
  t.ok(open.size > 1)
  store.close()
  t.equal(open.size, 0)
})

t.test('nothing damaged is folded: that is for a repair', async (t) => {
  for (const what of ['manifest', 'log'] as const) {
    const { store } = await World.in(t).store()
    for (const id of ['a', 'b']) {
      await put(store, id, 1)
      await store.exclusive('fold', () => store.checkpoint())
    }
    for (const id of ['c', 'd']) {
      await put(store, id, 1)
      await store.exclusive('rotate', () => store.rotate())
    }
    await put(store, 'e', 1)
    const { places, files } = store
    if (what === 'manifest') flipBit(places.manifest(3), 30, 1)
    else flipBit(places.log(4), readAll(store, 4).indexOf('#c ') + 50, 1)
    const before = files.list(places.collections)
    const next = again(t, store, 'write')
    next.fold({ mergeBytesMax: 1e6 })
    t.strictSame(files.list(places.collections), before, what)
    t.ok(next.health().damage)
  }
})

t.test('a removal outlasts a merge that leaves the older run out', async (t) => {
  const { store } = await World.in(t).store()
  const fold = (): Promise<void> => store.exclusive('fold', () => store.checkpoint())
  await store.transact('fill', (tx) => {
    for (let i = 0; i < 400; i += 1) tx.put(items, `i${i}`, { n: i, text: 'x'.repeat(1000) })
  })
  await fold()
  await store.transact('remove', (tx) => tx.remove(items, 'i7'))
  for (let n = 0; n < 4; n += 1) {
    await put(store, `n${n}`, n)
    await fold()
  }
  t.equal(store.generation.manifest.runs.length, 2, 'four small ones became one')
  t.equal(again(t, store).read().get(items, 'i7'), undefined)
  t.equal(again(t, store).read().all(items).length, 399)
})
