/** Histories: what an append does, what refuses, and what reading one costs. */
import { canonicalJson, sha256Hex } from '../../../src/base/canonical.js'
import { compactState } from '../../../src/state/care/compact.js'
import { checkState } from '../../../src/state/care/check.js'
import { historyBytes, historyRoom } from '../../../src/state/history/append.js'
import { historyHead, historyLines, historyPage } from '../../../src/state/history/read-history.js'
import { historyLost, historySpec, lostId } from '../../../src/state/history/spec.js'
import type { Step } from '../../support/state/histories.js'
import {
  append, countedBlocks, few, historyCollections, steps, stepsFrom,
} from '../../support/state/histories.js'
import { again, errorOf, placeOf, specs } from '../../support/state/notes.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

/** The chain as docs/dev/state-format.md describes it. */
const chained = (name: string, key: string, entries: readonly unknown[]): string =>
  entries.reduce<string>((before, entry, i) =>
    sha256Hex(`${canonicalJson(['sallyport.history.v1', name, key, i + 1, before])}\n` +
      canonicalJson(entry)),
  sha256Hex(canonicalJson(['sallyport.history.v1', name, key])))

t.test('an append goes on where the history ends, and all that was before is a prefix', async (t) => {
  const { store } = await World.in(t).store()
  let before = ''
  let entries: Step[] = []
  for (const count of [1, 3, 300]) {
    const more = stepsFrom(entries.length, count, 'ü"\n')
    const head = await append(store, 'job_1', more)
    entries = [...entries, ...more]
    const text = [...historyLines(store.read(), steps, 'job_1')].map((line) => `${line}\n`).join('')
    t.ok(text.startsWith(before))
    t.equal(head.bytes, Buffer.byteLength(text), 'the limits count what is printed')
    t.strictSame(head, {
      entries: entries.length, bytes: historyBytes(entries),
      digest: chained('steps', 'job_1', entries),
    })
    t.strictSame(historyHead(again(t, store).read(), steps, 'job_1'), head)
    before = text
  }
  t.strictSame(historyPage(store.read(), steps, 'job_1', { after: 2, limit: 2 })
    .map(({ number, entry: { n } }) => [number, n]), [[3, 2], [4, 3]])
  t.strictSame(historyPage(store.read(), steps, 'job_1', { after: 304, limit: 2 }), [])
  t.equal(historyHead(store.read(), steps, 'job_2').digest, chained('steps', 'job_2', []))
  t.ok(checkState({ ...placeOf(store), specs: [...specs, ...historyCollections] }).ok)
})

t.test('an append compares the head: what another has appended meanwhile refuses it', async (t) => {
  const { store } = await World.in(t).store()
  const empty = historyHead(store.read(), steps, 'a')
  const first = await append(store, 'a', stepsFrom(0, 2))
  for (const stale of [
    empty, { ...first, entries: 1 }, { ...first, bytes: 1 },
    { ...first, digest: empty.digest },
  ]) {
    await t.rejects(store.transact('x', (tx) => tx.append(steps, 'a', stale, stepsFrom(9, 1))), {
      kind: 'conflict', code: 'history_moved',
    })
  }
  const other = historyHead(store.read(), steps, 'b')
  await t.rejects(store.transact('x', (tx) => tx.append(steps, 'a', other, stepsFrom(9, 1))), {
    code: 'history_moved',
  }, 'the empty head of another key')
  await store.transact('two', (tx) => {
    const second = tx.append(steps, 'a', first, stepsFrom(2, 1))
    tx.append(steps, 'a', second, stepsFrom(3, 1))
    t.strictSame(tx.append(steps, 'a', historyHead(tx, steps, 'a'), []).entries, 4)
  })
  t.strictSame(historyPage(store.read(), steps, 'a', { limit: 9 }).map(({ entry }) => entry.n),
    [0, 1, 2, 3])
})

t.test('a history holds as many entries as its limit and not one more, and keeps them', async (t) => {
  const { store } = await World.in(t).store()
  t.equal(steps.entriesMax, 4_096)
  t.equal(steps.bytesMax, 4_194_304)
  const last = await append(store, 'a', stepsFrom(0, 4_095))
  t.strictSame(historyRoom(steps, last).entries, 1)
  await t.rejects(append(store, 'a', stepsFrom(0, 2)), { code: 'history_full' }, 'two at once')
  const full = await append(store, 'a', stepsFrom(4_095, 1))
  t.equal(full.entries, 4_096)
  const before = [...historyLines(store.read(), steps, 'a')]
  await t.rejects(append(store, 'a', stepsFrom(4_096, 1)), {
    kind: 'blocked', code: 'history_full', details: { entries: 4_097, entries_max: 4_096 },
  })
  t.strictSame([...historyLines(store.read(), steps, 'a')], before)
  t.strictSame(historyHead(store.read(), steps, 'a'), full)
})

t.test('a history holds as many bytes as its limit and not one more', async (t) => {
  const { store } = await World.in(t).store()
  const frame = historyBytes(stepsFrom(1, 1))
  const text = 'x'.repeat(1_048_576 - frame)
  const head = await append(store, 'a', stepsFrom(1, 3, text))
  t.equal(head.bytes, 3 * 1_048_576)
  await t.rejects(append(store, 'a', stepsFrom(4, 1, `${text}x`)), {
    kind: 'blocked', code: 'history_full', details: { bytes: 4_194_305, bytes_max: 4_194_304 },
  })
  t.equal((await append(store, 'a', stepsFrom(4, 1, text))).bytes, 4_194_304)
})

t.test('what does not fit is refused before the head is compared and before anything is written', async (t) => {
  const { store } = await World.in(t).store()
  const stale = historyHead(store.read(), few, 'a')
  await append(store, 'a', stepsFrom(0, 2), few)
  const { sequence } = store.read()
  const head = historyHead(store.read(), few, 'a')
  for (const expected of [stale, head]) {
    const error = await store.transact('x', (tx) => {
      const refused = errorOf(() => tx.append(few, 'a', expected, stepsFrom(2, 2)))
      t.strictSame(historyHead(tx, few, 'a'), head, 'whoever goes on has written nothing')
      return refused
    })
    t.hasStrict(error, { code: 'history_full' })
  }
  t.equal(store.read().sequence, sequence, 'no record')
})

t.test('no transaction replaces or removes an entry, or moves a head', async (t) => {
  const { store } = await World.in(t).store()
  const head = await append(store, 'a', stepsFrom(0, 1))
  const row = store.read().get(steps.entries, 'a/000001')
  if (row === undefined) throw new Error('the entry is there')
  const own = { ...steps.entries }
  for (const change of [
    (tx) => tx.put(steps.entries, 'a/000001', row),
    (tx) => tx.remove(steps.entries, 'a/000001'),
    (tx) => tx.put(steps.entries, 'a/000002', row),
    (tx) => tx.put(steps.heads, 'a/', { ...head, entries: 0 }),
    (tx) => tx.remove(steps.heads, 'a/'),
    (tx) => tx.remove(own, 'a/000001'),
    (tx) => tx.put(historyLost, lostId, { ranges: [] }),
    (tx) => tx.remove(historyLost, lostId),
  ] satisfies Parameters<typeof store.transact>[1][]) {
    await t.rejects(store.transact('x', change),
      new TypeError('a history changes only by an append'))
  }
  t.strictSame(historyHead(store.read(), steps, 'a'), head)
})

t.test('an entry of another shape, a key that is none and a history that is none are refused', async (t) => {
  const { store } = await World.in(t).store()
  const wrong = [{ n: 1, text: 'x', more: 1 }] as unknown as Step[]
  await t.rejects(append(store, 'a', wrong), { code: 'invalid_document' })
  for (const key of ['', 'a/b', 'a b', 'x'.repeat(201)]) {
    await t.rejects(append(store, key, stepsFrom(0, 1)), new TypeError('not a key of a history'))
  }
  t.throws(() => historySpec({ name: 'X', entry: steps.entry }), new TypeError('not a history'))
  t.throws(() => historySpec({ name: 'x', entry: steps.entry, entriesMax: 1e6 }),
    new TypeError('not a history'))
})

t.test('reading one entry, one page or the head of one key reads no more blocks beside twenty other keys', async (t) => {
  const { store } = await World.in(t).store()
  const cost = (): readonly number[] => {
    const counts: number[] = []
    for (const look of [
      (view) => void historyHead(view, steps, 'job_03'),
      (view) => void historyPage(view, steps, 'job_03', { after: 100, limit: 1 }),
      (view) => void historyPage(view, steps, 'job_03', { after: 100, limit: 50 }),
    ] satisfies ((view: ReturnType<typeof store.read>) => void)[]) {
      const counted = countedBlocks()
      const reader = again(t, store, 'read', { files: counted.files })
      look(reader.read())
      counts.push(counted.blocks)
      reader.close()
    }
    return counts
  }
  const fill = async (names: readonly number[]): Promise<void> => {
    for (const n of names) {
      const key = `job_${String(n).padStart(2, '0')}`
      await append(store, key, stepsFrom(0, 400, 'x'.repeat(200)))
    }
    await compactState(store)
  }
  await fill([3])
  const alone = cost()
  await fill([1, 2, ...Array.from({ length: 18 }, (_, i) => i + 4)])
  const among = cost()
  t.comment(`blocks, index and filter included: ${alone.join()} alone, ${among.join()} among 21`)
  t.ok(among.every((blocks, i) => blocks <= (alone[i] ?? 0) + 1))
})
