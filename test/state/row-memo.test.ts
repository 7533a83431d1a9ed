/** What rests on rows is remembered for these rows, and for no others. */
import t from 'tap'
import { ofRows } from '../../src/state/row-memo.js'
import { compactState } from '../../src/state/care/compact.js'
import { again, items } from '../support/state/notes.js'
import { World } from '../world/world.js'

t.test('a view is another object at each read, and says that its rows are the same until anybody has written, of whatever process, and behind a fold', async (t) => {
  const { store } = await World.in(t).store()
  const other = again(t, store, 'write')
  const put = (of: typeof store, n: number) =>
    of.transact('test', (tx) => tx.put(items, 'i', { n, text: '' }))
  let last = store.read()
  for (const [n, by] of [[1, store], [2, other], [3, other], [4, store]] as const) {
    t.not(store.read(), last)
    t.equal(store.read().rows, last.rows)
    await put(by, n)
    const now = store.read()
    t.not(now.rows, last.rows)
    t.equal(now.get(items, 'i')?.n, n)
    t.equal(last.get(items, 'i')?.n, n === 1 ? undefined : n - 1, 'the one before stays as it was')
    last = now
  }
  await compactState(other)
  t.equal(store.read().get(items, 'i')?.n, 4)
  t.equal(store.read().get(items, 'none'), undefined)
  await put(other, 5)
  await other.transact('test', (tx) => tx.put(items, 'none', { n: 6, text: '' }))
  t.equal(store.read().get(items, 'i')?.n, 5, 'a row of a run that is asked for again')
  t.equal(store.read().get(items, 'none')?.n, 6, 'and one that was not there')
  await compactState(other)
  t.equal(store.read().get(items, 'none')?.n, 6)
})

t.test('rows are judged once while nobody has written, for each key; a transaction and a refusal are judged each time', async (t) => {
  const { store } = await World.in(t).store()
  const asked: string[] = []
  let refuses = true
  const judged = ofRows((view, key) => {
    asked.push(key)
    if (refuses) throw new Error('no')
    return view.get(items, key)?.n ?? null
  })
  t.throws(() => judged(store.read(), 'i'), { message: 'no' })
  refuses = false
  for (const key of ['i', 'i', 'j', 'i']) t.equal(judged(store.read(), key), null)
  t.strictSame(asked.splice(0), ['i', 'i', 'j'])
  await store.transact('test', (tx) => {
    t.equal(tx.rows, store.read().rows, 'before it has changed anything')
    for (const n of [1, 2]) {
      tx.put(items, 'i', { n, text: '' })
      t.equal(judged(tx, 'i'), n, 'its own changes are seen')
      t.equal(tx.rows, undefined)
    }
  })
  t.strictSame(asked.splice(0).filter((key) => key !== 'i'), [])
  t.equal(judged(store.read(), 'i'), 2)
  t.strictSame(asked, ['i'])
})
