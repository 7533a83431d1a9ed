/** Histories under random work, failing disks and the end of the process at every step. */
import fc from 'fast-check'
import { SallyportError } from '../../../src/base/errors.js'
import { checkState } from '../../../src/state/care/check.js'
import { historyBytes } from '../../../src/state/history/append.js'
import { emptyHead, headAfter, linkOf } from '../../../src/state/history/chain.js'
import { historyHead, historyLines, historyPage } from '../../../src/state/history/read-history.js'
import { createStore, openStore } from '../../../src/state/store.js'
import type { FileStore } from '../../../src/state/store.js'
import type { Plan } from '../../support/state/faults.js'
import { faulty, memoryLock, plan } from '../../support/state/faults.js'
import type { Step } from '../../support/state/histories.js'
import { append, historyCollections, steps, stepsFrom } from '../../support/state/histories.js'
import type { CrashMode } from '../../support/state/mem-files.js'
import { MemFiles } from '../../support/state/mem-files.js'
import { t } from '../../support/tests-in-slices.js'

const site = { dir: '/tmp/state', configDir: '/tmp/config' }

const openOn = (disk: MemFiles, to: Plan = plan()): FileStore =>
  openStore({
    ...site, mode: 'write', files: faulty(disk, to), lock: memoryLock(),
  }) as FileStore

const makeOn = (disk: MemFiles): FileStore =>
  createStore({ ...site, files: disk, lock: memoryLock(), profile: {} }) as FileStore

const problemsOf = (disk: MemFiles): readonly string[] =>
  checkState({ ...site, files: disk, lock: memoryLock(), specs: historyCollections })
    .problems.filter(({ severity }) => severity === 'damage').map(({ code }) => code)

t.test('appends, folds and openings in any order give what was appended, in its order', async (t) => {
  const key = fc.constantFrom('a', 'a-b', 'a.b', 'b')
  const work = fc.oneof(
    fc.record({ does: fc.constant('append'), key, count: fc.integer({ min: 1, max: 40 }),
      text: fc.string({ unit: 'grapheme', maxLength: 30 }) }),
    fc.record({ does: fc.constantFrom('fold', 'open', 'stale'), key }),
  )
  await fc.assert(fc.asyncProperty(fc.array(work, { maxLength: 12 }), async (all) => {
    const disk = new MemFiles()
    let store = makeOn(disk)
    const model = new Map<string, Step[]>()
    for (const one of all) {
      const had = model.get(one.key) ?? []
      if ('count' in one) {
        const more = stepsFrom(had.length, one.count, one.text)
        await append(store, one.key, more)
        model.set(one.key, [...had, ...more])
      } else if (one.does === 'fold') {
        await store.exclusive('fold', () => store.checkpoint())
      } else if (one.does === 'open') {
        store.close()
        store = openOn(disk)
      } else {
        const head = { ...historyHead(store.read(), steps, one.key), entries: had.length + 1 }
        await store.transact('x', (tx) => tx.append(steps, one.key, head, stepsFrom(0, 1)))
          .then(() => { throw new Error('a wrong head was taken') },
            ({ code }) => { if (code !== 'history_moved') throw new Error(String(code)) })
      }
    }
    for (const [name, entries] of model) {
      const view = store.read()
      t.strictSame([...historyLines(view, steps, name)].map((line) => JSON.parse(line)), entries)
      t.equal(historyHead(view, steps, name).bytes, historyBytes(entries))
      const page = historyPage(view, steps, name, { after: 3, limit: 5 })
      t.strictSame(page.map(({ entry }) => entry), entries.slice(3, 8))
    }
    store.close()
    t.strictSame(problemsOf(disk), [])
  }), { numRuns: 25 })
  t.end()
})

t.test('no two histories, numbers or entries share a link', (t) => {
  const name = fc.constantFrom('a', 'b')
  const history = fc.record({ name, key: fc.constantFrom('a', 'b', 'a-b') })
  const link = fc.tuple(history, fc.integer({ min: 1, max: 3 }), fc.constantFrom('1', '2', '12'))
  fc.assert(fc.property(link, link, (one, other) => {
    const of = ([at, number, text]: typeof one): string =>
      linkOf(at, number, emptyHead({ name: 'a', key: 'a' }).digest, text)
    t.equal(of(one) === of(other), JSON.stringify(one) === JSON.stringify(other))
    const [from, to] = [emptyHead(one[0]), emptyHead(other[0])]
    t.equal(headAfter(one[0], from, '1').digest === headAfter(other[0], to, '1').digest,
      JSON.stringify(one[0]) === JSON.stringify(other[0]))
  }))
  t.end()
})

/** Six appends to two keys with two folds between; answers how many were acknowledged. */
const script = async (disk: MemFiles, to: Plan): Promise<number> => {
  makeOn(disk).close()
  let done = 0
  try {
    const store = openOn(disk, to)
    for (let n = 0; n < 6; n += 1) {
      await append(store, n % 2 === 0 ? 'a' : 'b', stepsFrom(n * 3, 3))
      done = n + 1
      if (n % 3 === 2) await store.exclusive('fold', () => store.checkpoint())
    }
    store.close()
  } catch (error) {
    if (!to.stopped && !(error instanceof SallyportError)) throw error
  }
  return done
}

/** How many of the appends a disk holds; -1 where it is no number of them. */
const heldBy = (disk: MemFiles): number => {
  const store = openOn(disk)
  const view = store.read()
  const numbers = ['a', 'b'].map((key) =>
    [...historyLines(view, steps, key)].map((line) => (JSON.parse(line) as Step).n))
  store.close()
  const count = numbers.flat().length / 3
  const expected = ['a', 'b'].map((_, parity) =>
    Array.from({ length: count }, (_one, n) => n).filter((n) => n % 2 === parity)
      .flatMap((n) => [n * 3, n * 3 + 1, n * 3 + 2]))
  return JSON.stringify(numbers) === JSON.stringify(expected) ? count : -1
}

t.test('durability 10: a process that ends at any step leaves each append whole or not at all', async (t) => {
  const counted = plan()
  t.equal(await script(new MemFiles(), counted), 6)
  const modes: readonly (readonly [CrashMode, number])[] =
    [['kept', 0], ['dropped', 0], ['garbled', 1], ['garbled', 2]]
  const wrong: string[] = []
  let refused = 0
  for (let at = 1; at <= counted.calls; at += 1) {
    const disk = new MemFiles()
    const done = await script(disk, plan(at, 'stop'))
    for (const [mode, seed] of modes) {
      const after = disk.crash(mode, seed * 1000 + at)
      const held = heldBy(after)
      const problems = problemsOf(after)
      const step = `${counted.seen[at - 1]} ${mode}`
      if (held !== done && held !== done + 1) wrong.push(`${step}: ${held}`)
      if (mode === 'garbled' && problems.length > 0) refused += 1
      else if (problems.length > 0) wrong.push(`${step}: ${problems.join()}`)
    }
  }
  t.strictSame(wrong, [])
  t.ok(counted.calls > 30, `${counted.calls} steps, ${refused} refusals of garbled tails`)
})

t.test('durability 2: a full disk, an error and a short write at each call leave each append whole or not at all', async (t) => {
  const counted = plan()
  await script(new MemFiles(), counted)
  for (const fault of ['ENOSPC', 'EIO', 'short'] as const) {
    for (let at = 1; at <= counted.calls; at += 1) {
      const disk = new MemFiles()
      const done = await script(disk, plan(at, fault))
      for (const mode of ['kept', 'dropped'] as const) {
        const after = disk.crash(mode, at)
        const held = heldBy(after)
        t.ok(held === done || held === done + 1, `${fault} at ${counted.seen[at - 1]}: ${held}`)
        t.strictSame(problemsOf(after), [])
      }
    }
  }
})
