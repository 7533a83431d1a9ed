/** Several documents at once: the same as one after the other, and each block is read once. */
import type { Files } from '../../src/state/files.js'
import { rowsOfEntries } from '../../src/state/indexes.js'
import type { FileStore } from '../../src/state/store.js'
import { createStore, openStore } from '../../src/state/store.js'
import type { View } from '../../src/state/types.js'
import { memoryLock } from '../support/state/faults.js'
import { MemFiles } from '../support/state/mem-files.js'
import { errorOf, items, notes } from '../support/state/notes.js'
import { t } from '../support/tests-in-slices.js'

const site = { dir: '/tmp/state', configDir: '/tmp/config' }
const rows = 900
const idOf = (n: number): string => `i${String(n).padStart(4, '0')}`

/** In no order that has to do with where they lie; every one once. */
const shuffled = Array.from({ length: rows }, (_, i) => (i * 7) % rows)

/** Three runs with rows between one another, some replaced and removed later, and a log. */
const grown = async (): Promise<MemFiles> => {
  const disk = new MemFiles()
  const store = createStore({ ...site, files: disk, lock: memoryLock(), profile: {} }) as FileStore
  for (let round = 0; round < 4; round += 1) {
    await store.transact('fill', (tx) => {
      for (let i = round; i < rows; i += 4) tx.put(items, idOf(i), { n: i, text: 'x'.repeat(90) })
      for (let i = 0; i < rows && round > 0; i += 50) {
        if (i % 100 === 0) tx.remove(items, idOf(i + round - 1))
        else tx.put(items, idOf(i + round - 1), { n: -i, text: '' })
      }
    })
    if (round < 3) await store.exclusive('fold', () => store.checkpoint())
  }
  store.close()
  return disk
}

/** A reader of a disk, with the places of files that it reads; the first block of one is untrue. */
const reading = (
  disk: MemFiles, cachedBytes: number, untrue = '',
): { readonly view: View, readonly store: FileStore, readonly reads: string[] } => {
  const reads: string[] = []
  let bad = -1
  const files: Files = new Proxy<Files>(disk, {
    get: (on, name: keyof Files) => {
      if (name === 'open') {
        return (path: string, intent: 'read') => {
          const fd = on.open(path, intent)
          if (untrue !== '' && path.endsWith(untrue)) bad = fd
          return fd
        }
      }
      if (name !== 'read') return on[name].bind(on)
      return (fd: number, buffer: Uint8Array, position: number) => {
        reads.push(`${fd} ${position}`)
        const got = on.read(fd, buffer, position)
        if (fd === bad && position === 0) buffer[100] = (buffer[100] ?? 0) ^ 1
        return got
      }
    },
  })
  const store = openStore({
    ...site, mode: 'read', files, lock: memoryLock(), cachedBytes,
  }) as FileStore
  const view = store.read()
  reads.splice(0)
  return { view, store, reads }
}

t.test('several documents at once are those that each is alone, in the order that was asked for, whatever is kept of the files', async (t) => {
  const disk = await grown()
  for (const cachedBytes of [0, 40_000, 12_000_000]) {
    const { view, store } = reading(disk, cachedBytes)
    t.equal(store.generation.manifest.runs.length, 3)
    const asked = [...shuffled.map(idOf), 'none', idOf(7), '', idOf(7), idOf(0)]
    const alone = asked.map((id) => view.get(items, id))
    t.ok(alone.filter((doc) => doc === undefined).length > 20, 'removed ones are asked for')
    t.strictSame(view.getMany(items, asked), alone, `${cachedBytes}`)
    t.strictSame(view.getMany(items, asked.slice(0, 100)), alone.slice(0, 100))
    t.strictSame(view.getMany(notes, asked.slice(0, 3)), [undefined, undefined, undefined])
    t.strictSame(view.getMany(items, []), [])
    store.close()
  }
})

t.test('a transaction sees its own changes among them', async (t) => {
  const disk = await grown()
  const store = openStore({ ...site, mode: 'write', files: disk, lock: memoryLock() })
  await store.transact('test', (tx) => {
    tx.put(items, idOf(5), { n: 5_000, text: '' })
    tx.remove(items, idOf(6))
    t.strictSame(
      tx.getMany(items, [idOf(6), idOf(5), idOf(7)]).map((doc) => doc?.n), [undefined, 5_000, 7])
  })
  store.close()
})

t.test('a block that several of them lie in is read once, however many are asked for and in whatever order', async (t) => {
  const disk = await grown()
  for (const [cachedBytes, many] of [
    [0, shuffled], [0, shuffled.slice(0, 200)], [12_000_000, shuffled],
    [12_000_000, shuffled.slice(0, 200)],
  ] as const) {
    const { view, store, reads } = reading(disk, cachedBytes)
    view.getMany(items, many.map(idOf))
    t.ok(reads.length > 10, 'they lie in several')
    t.equal(new Set(reads).size, reads.length)
    const first = reads.length
    view.getMany(items, many.map(idOf))
    const kept = cachedBytes > 0 && many.length < rows
    t.equal(reads.length === first, kept, 'those of a page are kept at hand')
    store.close()
  }
})

t.test('rows of entries come in their order, and whoever stops early has read few', async (t) => {
  const { view, store, reads } = reading(await grown(), 0)
  const entries = shuffled.map((n) => ({ id: idOf(n) }))
  const due = entries.map(({ id }) => ({ id, doc: view.get(items, id) }))
    .filter(({ doc }) => doc !== undefined)
  for (const wanted of [undefined, 0, 1, 16, 900, 5_000]) {
    t.strictSame([...rowsOfEntries(view, items, entries, wanted)], due, String(wanted))
  }
  reads.splice(0)
  t.strictSame([...rowsOfEntries(view, items, [], 0)], [])
  t.equal(reads.length, 0)
  let taken = 0
  const passed = (function* given() {
    for (const entry of entries) {
      taken += 1
      yield entry
    }
  })()
  rowsOfEntries(view, items, passed).next()
  t.equal(taken, 16)
  store.close()
})

t.test('a damaged block is damage for those that lie in it, and for no others', async (t) => {
  const disk = await grown()
  const { store } = reading(disk, 0)
  const [file] = store.generation.manifest.runs.at(-1)?.files ?? []
  store.close()
  const { view } = reading(disk, 0, file?.name ?? '')
  const is = (n: number): boolean => {
    try {
      view.get(items, idOf(n))
      return false
    } catch {
      return true
    }
  }
  const lost = shuffled.filter(is)
  t.ok(lost.length > 0 && lost.length < rows)
  t.hasStrict(errorOf(() => view.getMany(items, shuffled.map(idOf))), { kind: 'damaged' })
  const others = shuffled.filter((n) => !lost.includes(n)).map(idOf)
  t.equal(view.getMany(items, others).length, others.length)
})
