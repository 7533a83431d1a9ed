/** Transactions over rows that are in memory: from begin to end no file is read. */
import t from 'tap'
import type { Test } from 'tap'
import type { Files } from '../../src/state/files.js'
import { nodeFiles } from '../../src/state/files.js'
import { compactState } from '../../src/state/care/compact.js'
import type { FileStore } from '../../src/state/store.js'
import type { Store, Tx } from '../../src/state/types.js'
import { again, items } from '../support/state/notes.js'
import { byColour, things } from '../support/state/things.js'
import { lookUp } from '../../src/state/indexes.js'
import { World } from '../world/world.js'

/** The same disk, noting what is called and on which file. */
const noting = (seen: string[]): Files => {
  const paths = new Map<unknown, string>()
  return new Proxy(nodeFiles, {
    get: (files, name: keyof Files) => (...given: unknown[]) => {
      const [first] = given
      const path = typeof first === 'string' ? first : paths.get(first) ?? '?'
      seen.push(`${name} ${path}`)
      const answer = (files[name] as (...args: unknown[]) => unknown)(...given)
      if (name === 'open') paths.set(answer, path)
      return answer
    },
  })
}

/** A store whose rows all lie in segments. */
const folded = async (t: Test): Promise<Store> => {
  const { store } = await World.in(t).store()
  await store.transact('test', (tx) => {
    for (let n = 0; n < 400; n += 1) tx.put(items, `i${n}`, { n, text: 'x'.repeat(200) })
    tx.put(things, 'a', { colour: 'red', weight: 1, words: [] })
  })
  await compactState(store)
  return store
}

const work = (tx: Tx): readonly string[] => {
  const sum = (tx.get(items, 'i7')?.n ?? 0) + (tx.get(items, 'i390')?.n ?? 0)
  tx.put(items, 'sum', { n: sum, text: '' })
  return lookUp(tx, things, byColour, { under: ['red'] }).map(({ place }) => place)
}

t.test('between begin and end no file is read, and afterwards only the log is written', async (t) => {
  const store = await folded(t)
  const seen: string[] = []
  const own = again(t, store, 'write', { files: noting(seen) })
  await own.transact('test', (tx) => tx.put(items, 'first', { n: 1, text: '' }))
  let during: string[] = []
  let runs = 0
  const found = await own.transactLoaded('test', (tx) => {
    runs += 1
    const before = seen.length
    const places = work(tx)
    during = seen.slice(before)
    seen.splice(0)
    return places
  })
  t.equal(runs, 2, 'once to read, once under the lock')
  t.strictSame(during, [])
  t.equal(found.length, 1)
  t.strictSame(seen.filter((call) => !/\/(wal\/\S+|wal|lock)$/.test(call)), [])
  t.ok(seen.some((call) => call.startsWith('syncData')))
  t.equal(numbersOf(store), 397)
})

t.test('the first record of a process syncs no folder under the lock', async (t) => {
  const store = await folded(t)
  const seen: string[] = []
  const own = again(t, store, 'write', { files: noting(seen) })
  const syncs = (): readonly string[] => seen.splice(0)
    .filter((call) => call.startsWith('sync')).map((call) => call.split('/').at(-1) ?? '')
  const before: string[] = []
  await own.transactLoaded('test', (tx) => {
    before.push(...syncs())
    work(tx)
  })
  t.ok(before.includes('wal'), 'they are synced before it')
  t.equal(before.length, 4)
  t.strictSame(syncs().filter((name) => !/^\d+/.test(name)), [], 'the log alone')
  const late = again(t, store, 'write', { files: noting(seen) })
  const another = again(t, store, 'write')
  let runs = 0
  await late.transactLoaded('test', (tx) => {
    runs += 1
    if (runs === 1) {
      void another.transact('other', (other) => other.put(items, 'other', { n: 1, text: '' }))
      another.rotate()
    }
    work(tx)
    syncs()
  })
  t.equal(runs, 2)
  t.ok(syncs().includes('wal'), 'that of a log which somebody has begun meanwhile is')
})

const numbersOf = (store: Store): number | undefined => store.read().get(items, 'sum')?.n

/** Writes and merges everything into new files; no lock is held at that moment. */
const mergeWhole = (other: FileStore): void => {
  // A free lock is taken without waiting, so that this is done when it returns.
  void other.transact('other', (tx) => tx.put(items, 'other', { n: tx.sequence, text: '' }))
  other.rotate()
  other.fold({ mergeBytesMax: Number.POSITIVE_INFINITY, whole: true })
}

/** What is asked: before the lock at each odd run, under it at each even one. */
const disturbed = (other: FileStore, times: number): { runs: number, fn: (tx: Tx) => unknown } => {
  const at = {
    runs: 0,
    fn: (tx: Tx): unknown => {
      at.runs += 1
      const places = work(tx)
      if (at.runs % 2 === 1 && at.runs < 2 * times) mergeWhole(other)
      return places
    },
  }
  return at
}

t.test('what another process folds meanwhile is read again, without the lock', async (t) => {
  const store = await folded(t)
  const at = disturbed(again(t, store, 'write'), 4)
  await again(t, store, 'write').transactLoaded('test', at.fn)
  t.equal(at.runs, 10, 'four in vain')
  t.equal(numbersOf(store), 397)
})

t.test('where others fold all the while it gives up and nothing is written', async (t) => {
  const store = await folded(t)
  const at = disturbed(again(t, store, 'write'), 20)
  await t.rejects(again(t, store, 'write').transactLoaded('test', at.fn), {
    kind: 'failed', code: 'store_restless', next: /again/,
  })
  t.equal(numbersOf(store), undefined)
})

t.test('what it throws under the lock writes nothing and comes out as it was thrown', async (t) => {
  const store = await folded(t)
  const own = new Error('no')
  let runs = 0
  await t.rejects(store.transactLoaded('test', (tx) => {
    work(tx)
    runs += 1
    throw own
  }), own)
  t.equal(runs, 2)
  t.equal(numbersOf(store), undefined)
})
