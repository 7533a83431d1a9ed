/** A block that cannot be read: what is lost with it, what is not, and what must not come back. */
import t from 'tap'
import type { Test } from 'tap'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { formerStates } from '../../src/state/care/aside.js'
import { checkState } from '../../src/state/care/check.js'
import { repairState } from '../../src/state/care/repair.js'
import type { FileStore } from '../../src/state/store.js'
import { again, notes, numbers, placeOf, put } from '../support/state/notes.js'
import { World } from '../world/world.js'

/**
 * Three runs, newest last written: `a` to `i` at 1, then some of them at 2, then some at 3; the
 * middle run has lost its only block.
 */
const hurt = async (t: Test): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  const fold = (): Promise<void> => store.exclusive('fold', () => store.checkpoint())
  for (const [ids, n] of [['abcdefghi', 1], ['cdef', 2], ['dg', 3]] as const) {
    await store.transact('fill', (tx) => {
      for (const id of ids) tx.put(notes, id, { n, text: '' })
    })
    await fold()
  }
  // The manifest before names the same file, and the log that it was made of is gone.
  await put(store, 'e', 4)
  const path = store.places.segment('000000000003.1.seg')
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.fill(0, 2, 30))
  store.close()
  return store
}

t.test('rows in the range of a lost block are gone, but for newer ones; those outside stay', async (t) => {
  const store = await hurt(t)
  t.hasStrict(checkState(placeOf(store)).problems[0], {
    code: 'collection_damaged', subject: '000000000003.1.seg',
  })
  const report = await repairState({
    ...placeOf(store), onLoss: (opened) => opened.transact('loss', (tx) => tx.mark()),
  })
  t.equal(report.loss.documents, 4)
  const next = again(t, store, 'write')
  t.strictSame(numbers(next), { a: 1, b: 1, d: 3, e: 4, g: 3, h: 1, i: 1 },
    'c and f are lost, and do not come back as they were before')
  t.ok(checkState(placeOf(store)).ok)
  await put(next, 'c', 9)
  t.equal(numbers(next)['c'], 9)
})

t.test('what was before a lost row is shown as evidence, with the range of ids that is lost', async (t) => {
  const store = await hurt(t)
  await repairState({
    ...placeOf(store), onLoss: (opened) => opened.transact('loss', (tx) => tx.mark()),
  })
  const [former] = formerStates(store.dir, store.storeId)
  t.strictSame(former?.holes.map(({ lost }) => lost), [
    [{ from: { collection: 'notes', id: 'c' }, to: { collection: 'notes', id: 'f\u0000' } }],
  ])
  t.equal(former?.view.get(notes, 'c')?.n, 1)
  const next = former?.view.range(notes, { after: 'c', limit: 2 })
  t.strictSame(next?.map(({ id, doc }) => [id, doc.n]), [['d', 3], ['e', 4]])
  t.strictSame(former?.view.range(notes, { prefix: 'i', reverse: true }).length, 1)
})

/** `a` to `i` at 1, folded; `c` to `f` at 2, folded: a newest run that has lost its only block. */
const hurtNewest = async (t: Test): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  for (const [ids, n] of [['abcdefghi', 1], ['cdef', 2]] as const) {
    await store.transact('fill', (tx) => {
      for (const id of ids) tx.put(notes, id, { n, text: '' })
    })
    await store.exclusive('fold', () => store.checkpoint())
  }
  const newest = readdirSync(store.places.collections).filter((name) => /\.seg$/.test(name)).sort()
  overwrite(store.places.segment(newest.at(-1) ?? ''))
  store.close()
  return store
}

const overwrite = (path: string): void =>
  writeFileSync(path, readFileSync(path).fill(0, 2, 30))

const repaired = async (t: Test, store: FileStore): Promise<Record<string, number>> => {
  await repairState({
    ...placeOf(store), onLoss: (opened) => opened.transact('loss', (tx) => tx.mark()),
  })
  return numbers(again(t, store))
}

t.test('lost rows come back by the manifest before and the log behind it, as they were last', async (t) => {
  const rows = await repaired(t, await hurtNewest(t))
  t.strictSame(rows, { a: 1, b: 1, c: 2, d: 2, e: 2, f: 2, g: 1, h: 1, i: 1 })
})

t.test('lost rows stay lost where the log behind the manifest before does not lead to the newest', async (t) => {
  const store = await hurtNewest(t)
  const logs = readdirSync(store.places.wal).filter((name) => name.endsWith('.log')).sort()
  t.ok(logs.length > 1, 'the sealed log is there')
  // The sealed log: its only record is lost, too.
  const path = `${store.places.wal}/${logs.at(-2) ?? ''}`
  const bytes = readFileSync(path)
  const at = bytes.indexOf('"fill"')
  t.ok(at > 0)
  writeFileSync(path, bytes.fill(0, at, at + 8))
  t.strictSame(await repaired(t, store), { a: 1, b: 1, g: 1, h: 1, i: 1 },
    'c to f do not come back as they were before')
})
