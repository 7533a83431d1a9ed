/** Collections read through without holding them, and what is compared without its texts. */
import fc from 'fast-check'
import t from 'tap'
import { readFormer } from '../../src/state/care/former.js'
import { each } from '../../src/state/each.js'
import { nodeFiles } from '../../src/state/files.js'
import { placesOf } from '../../src/state/paths.js'
import { TextBalance, TextPairs, TextSet } from '../../src/state/text-sums.js'
import { notes } from '../support/state/notes.js'
import { World } from '../world/world.js'
import { forAll } from '../support/for-all.js'

t.test('each document of a collection comes once and in order, whatever pages it fills', async (t) => {
  const { store } = await World.in(t).store()
  t.strictSame([...each(store.read(), notes)], [])
  let made = 0
  for (const count of [1, 499, 500, 501, 1_000, 1_234]) {
    await store.transact('test', (tx) => {
      for (; made < count; made += 1) tx.put(notes, `n${made}`, { text: String(made), n: made })
    })
    const view = store.read()
    t.strictSame([...each(view, notes)], view.all(notes), `${count}`)
  }
})

t.test('a former state gives the same pages as one that stands', async (t) => {
  const { store } = await World.in(t).store()
  await store.transact('test', (tx) => {
    for (let n = 0; n < 1_100; n += 1) tx.put(notes, `n${n}`, { text: String(n), n })
  })
  await store.transact('test', (tx) => tx.remove(notes, 'n500'))
  const view = store.read()
  const { view: former } = readFormer(nodeFiles, placesOf(store.dir), store.storeId, 'test')
  t.strictSame([...each(former, notes)], view.all(notes))
  for (const options of [
    { after: 'n5', limit: 3 }, { after: 'n499x', limit: 3, reverse: true }, { prefix: 'n10' },
    { prefix: 'n10', after: 'n100', limit: 2 }, { prefix: 'n10', after: 'n100', reverse: true },
    { after: 'm' }, { after: 'o' }, { prefix: 'n9', after: 'o', reverse: true, limit: 1 },
    { limit: 0 },
  ]) t.strictSame(former.range(notes, options), view.range(notes, options), JSON.stringify(options))
})

const texts = fc.array(fc.string({ maxLength: 6 }), { maxLength: 3_000 })

t.test('a set of texts has what was added and nothing else', (t) => {
  forAll(t, fc.property(texts, texts, (added, others) => {
    const [numbers, known] = [new TextSet(), new Set<string>()]
    for (const text of added) {
      numbers.add(text)
      known.add(text)
      if (known.size % 100 === 1 && !numbers.has(text)) return false
    }
    return [...added, ...others].every((text) => numbers.has(text) === known.has(text))
  }), { numRuns: 60 })
  t.end()
})

t.test('a pair is held with its own text, once, while more are taken in', (t) => {
  forAll(t, fc.property(texts, texts, (keys, others) => {
    const [pairs, known] = [new TextPairs(), new Map<string, string>()]
    const right = keys.every((key, n) => {
      const isNew = !known.has(key)
      if (isNew) known.set(key, String(n))
      return pairs.add(key, String(n)) === isNew && pairs.has(key)
    })
    return right && pairs.size === known.size && [...keys, ...others].every((key) => {
      const text = known.get(key)
      return pairs.has(key) === (text !== undefined) && !pairs.holds(key, 'x')
        && pairs.holds(key, text ?? '0') === (text !== undefined)
    })
  }), { numRuns: 60 })
  t.end()
})

t.test('two sides are even when they have the same texts as often, in any order', (t) => {
  const isEven = (left: readonly string[], right: readonly string[]): boolean => {
    const balance = new TextBalance()
    for (const text of left) balance.left(text)
    for (const text of right) balance.right(text)
    return balance.isEven
  }
  fc.assert(fc.property(texts, fc.string(), (all, other) => {
    const [first, ...rest] = all
    return isEven(all, [...all].reverse()) && !isEven(all, [...all, other])
      && (first === undefined || !isEven(all, rest))
      && (first === undefined || first === other || !isEven(all, [other, ...rest]))
      && (first === undefined || !isEven([...all, first], [...all, `${first}x`]))
  }), { numRuns: 100 })
  t.ok(isEven([], []))
  t.notOk(isEven(['a', 'a', 'b'], ['a', 'b', 'b']))
  t.end()
})
