/** Indexes: the entries are a function of the rows, whatever is written, folded, lost or mended. */
import type { Test } from 'tap'
import fc from 'fast-check'
import { readFileSync, writeFileSync } from 'node:fs'
import { lookUp, rowsUnder, walkIndex } from '../../src/state/indexes.js'
import { formerStates } from '../../src/state/care/aside.js'
import { backupState } from '../../src/state/care/backup.js'
import { checkState } from '../../src/state/care/check.js'
import { migrateState } from '../../src/state/care/migrate.js'
import { reindex } from '../../src/state/care/reindex.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import { SegmentWriter } from '../../src/state/snapshot/fold.js'
import { nodeFiles } from '../../src/state/files.js'
import { placesOf } from '../../src/state/paths.js'
import { scanRun } from '../../src/state/segments/table.js'
import { SegmentPool } from '../../src/state/snapshot/pool.js'
import type { FileStore } from '../../src/state/store.js'
import type { View } from '../../src/state/types.js'
import { forgeRecord, newestLog } from '../support/state/forge.js'
import { again, placeOf, put } from '../support/state/notes.js'
import {
  bareThings, byColour, byWord, dueEntries, entriesIn, things, type Thing,
} from '../support/state/things.js'
import { World } from '../world/world.js'
import { forAllWaited } from '../support/for-all.js'
import { t } from '../support/tests-in-slices.js'

const ids = ['a', 'b', 'c/d', 'e', 'ü', 'zz']
const thing = fc.record({
  colour: fc.constantFrom('red', 'blue', 'a/b', 'a%2Fb', null),
  weight: fc.nat(3),
  words: fc.array(fc.constantFrom('x', 'y', 'x/', '%'), { maxLength: 3 }),
})
const change = fc.record({
  id: fc.constantFrom(...ids), doc: fc.option(thing, { nil: undefined }),
})
const step = fc.oneof(
  { weight: 6, arbitrary: fc.array(change, { minLength: 1, maxLength: 4 }) },
  { weight: 2, arbitrary: fc.constantFrom('fold', 'rotate', 'merge', 'reopen' as const) },
)

const rowsIn = (view: View): (readonly [string, Thing])[] =>
  view.all(things).map(({ id, doc }) => [id, doc] as const)

/** The entries of a view are those of its rows, forward, back and a few at a time. */
const isRight = (view: View): boolean => {
  const due = dueEntries(rowsIn(view))
  const walked = [...walkIndex(view, things, byColour, {})].map(({ place }) => place)
  const back = entriesIn(view, { reverse: true })
  return JSON.stringify(entriesIn(view)) === JSON.stringify(due)
    && JSON.stringify(walked) === JSON.stringify(due.colour)
    && JSON.stringify(back.word.reverse()) === JSON.stringify(due.word)
    && rowsUnder(view, things, byColour, { under: ['a/b'], reverse: true })
      .every(({ doc }) => doc.colour === 'a/b')
    && lookUp(view, things, byWord, { under: ['x'] }).length
      === rowsIn(view).filter(([, { words }]) => words.includes('x')).length
}

t.test('entries are a function of the rows, inside and after transactions, folds and merges', async (t) => {
  await forAllWaited(t, fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
    let { store } = await World.in(t).store()
    for (const one of steps) {
      if (one === 'fold') await store.exclusive('fold', () => store.checkpoint())
      else if (one === 'rotate') await store.exclusive('rotate', () => store.rotate())
      else if (one === 'merge') await store.mergeAll('merge')
      else if (one === 'reopen') {
        store.close()
        store = again(t, store, 'write')
      } else {
        await store.transact('change', (tx) => {
          for (const { id, doc } of one) {
            if (doc === undefined) tx.remove(things, id)
            else tx.put(things, id, doc)
            if (!isRight(tx)) throw new Error('inside the transaction')
          }
        })
      }
      if (!isRight(store.read())) throw new Error('after a step')
    }
    store.close()
    const { problems } = checkState({ ...placeOf(store), specs: [things] })
    if (problems.length > 0) throw new Error(problems[0]?.code)
  }), { numRuns: 25 })
})

/** Changes of the last record, as collection and id. */
const lastOps = (store: FileStore): string[] => {
  const text = readFileSync(newestLog(store.dir), 'utf8')
  const payload = text.slice(text.lastIndexOf('#c ')).split('\n')[1] ?? ''
  return (JSON.parse(payload) as { ops: [string, number, string, unknown?][] }).ops
    .map(([collection, , id, ...rest]) => `${rest.length === 0 ? '-' : '+'}${collection} ${id}`)
}

t.test('a record holds an entry only where it changes', async (t) => {
  const { store } = await World.in(t).store()
  const red: Thing = { colour: 'red', weight: 1, words: ['x', 'x'] }
  await store.transact('put', (tx) => tx.put(things, 'a', red))
  t.strictSame(lastOps(store), ['+things a', '+things:colour red/000001/a', '+things:word x/a'])
  await store.transact('put', (tx) => tx.put(things, 'a', { ...red, weight: 2 }))
  t.strictSame(lastOps(store), [
    '+things a', '-things:colour red/000001/a', '+things:colour red/000002/a',
  ])
  await store.transact('put', (tx) => {
    tx.remove(things, 'a')
    tx.put(things, 'a', { ...red, weight: 3 })
    tx.put(things, 'a', { ...red, weight: 2 })
  })
  t.strictSame(lastOps(store), ['+things a'], 'what comes back is as it was')
  await store.transact('put', (tx) => tx.remove(things, 'a'))
  t.strictSame(lastOps(store),
    ['-things a', '-things:colour red/000002/a', '-things:word x/a'])
})

t.test('a lookup begins where it is told, and goes on behind a place', async (t) => {
  const { store } = await World.in(t).store()
  await store.transact('put', (tx) => {
    for (let n = 0; n < 100; n += 1) {
      const colour = n % 2 === 0 ? 'even' : 'odd'
      tx.put(things, `t${String(n).padStart(3, '0')}`, { colour, weight: n, words: [] })
    }
  })
  const view = store.read()
  const under = ['even']
  const weights = (found: readonly { readonly key: readonly string[] }[]): number[] =>
    found.map(({ key }) => Number(key[1]))
  t.strictSame(weights(lookUp(view, things, byColour, { under, from: '000090' })),
    [90, 92, 94, 96, 98])
  t.strictSame(
    weights(lookUp(view, things, byColour, { under, from: '000006', reverse: true })), [4, 2, 0])
  const [first] = lookUp(view, things, byColour, { under, limit: 1 })
  t.strictSame(
    weights(lookUp(view, things, byColour, { under, after: first?.place, limit: 2 })), [2, 4])
  t.equal([...walkIndex(view, things, byColour, { under, reverse: true })].length, 50)
  t.strictSame(weights([...walkIndex(view, things, byColour, { from: 'odd' })]).at(0), 1)
})

const fill = async (store: FileStore, count = 3): Promise<void> => {
  await store.transact('fill', (tx) => {
    for (let n = 0; n < count; n += 1) {
      tx.put(things, `t${n}`, { colour: 'red', weight: n, words: ['x', `w${n}`] })
    }
  })
}

t.test('an entry that is missing, or there for no row, is found, named and put right', async (t) => {
  for (const [what, forged] of [
    ['missing', { collection: 'things:colour', id: 'red/000001/t1' }],
    ['stray', { collection: 'things:colour', id: 'red/000001/gone', doc: {} }],
    ['untrue', { collection: 'things:colour', id: 'red/000001/t1', doc: { n: 1 } }],
    ['unknown', { collection: 'things:shape', id: 'round/t1', doc: {} }],
  ] as const) {
    const { store } = await World.in(t).store()
    await fill(store)
    store.close()
    forgeRecord(store.dir, [forged])
    const place = { ...placeOf(store), specs: [things] }
    t.hasStrict(checkState(place).problems, [{
      code: 'index_differs', severity: 'damage', subject: forged.collection,
    }], what)
    const report = await repairState(place)
    t.strictSame(report.done.map(({ code }) => code), ['indexes_rebuilt'], what)
    t.strictSame([report.loss.documents, report.loss.records_after], [0, null])
    t.strictSame(checkState(place).problems, [], what)
    t.ok(isRight(again(t, store).read()))
    t.equal((await repairState(place)).changed, false, 'and stays so')
  }
})

/** Zeroes a part of the block that holds entries of an index. */
const loseBlockOf = (store: FileStore, collection: string): void => {
  const { manifest } = store.generation
  for (const { name } of manifest.runs.flatMap(({ files }) => files)) {
    const path = store.places.segment(name)
    const bytes = readFileSync(path)
    const at = bytes.indexOf(`["${collection}"`)
    if (at !== -1) writeFileSync(path, bytes.fill(0, at + 1, at + 12))
  }
}

t.test('a lost block of entries costs no document: repair makes them again from the rows', async (t) => {
  const { store } = await World.in(t).store()
  await fill(store)
  await store.exclusive('fold', () => store.checkpoint())
  store.close()
  loseBlockOf(store, 'things:colour')
  const place = { ...placeOf(store), specs: [things] }
  t.hasStrict(checkState(place).problems[0], { code: 'collection_damaged' })
  let lossTold = 0
  const report = await repairState({ ...place, onLoss: () => { lossTold += 1 } })
  t.strictSame(report.done.map(({ code }) => code), ['generation_rebuilt', 'indexes_rebuilt'])
  t.strictSame([report.loss.documents, lossTold], [0, 0])
  t.strictSame(checkState(place).problems, [])
  t.ok(isRight(again(t, store).read()))
  const formers = formerStates(store.dir, store.storeId)
  t.strictSame(formers.flatMap(({ holes }) => holes), [], 'no hole where entries were')
  t.ok(formers.length === 1 && formers.every(({ view }) => isRight(view)),
    'a former state is found by its rows')
})

t.test('where rows are lost their entries go; a restore makes entries too', async (t) => {
  const { store } = await World.in(t).store()
  await fill(store)
  await store.exclusive('fold', () => store.checkpoint())
  // From here on the manifest before names the same file.
  await put(store, 'a', 1)
  await store.exclusive('fold', () => store.checkpoint())
  const backup = `${store.dir}-backup`
  await backupState(store, backup)
  store.close()
  loseBlockOf(store, 'things')
  const place = { ...placeOf(store), specs: [things] }
  const report = await repairState({ ...place, onLoss: (opened) =>
    opened.transact('loss', (tx) => tx.mark()) })
  t.equal(report.loss.documents, 3)
  t.strictSame(entriesIn(again(t, store).read()), { colour: [], word: [] })
  t.ok(checkState(place).ok)
  const restored = await restoreState({ ...place, backup, specs: [{
    ...things, indexes: [byColour],
  }], afterRestore: (opened) => opened.transact('restore', (tx) => tx.mark()) })
  t.equal(restored.anchor, 'ok')
  const { colour, word } = entriesIn(again(t, store).read())
  t.strictSame([colour.length, word.length], [3, 0], 'as many as are declared, and no others')
})

const unindexed = async (t: Test): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  await store.transact('fill', (tx) => {
    for (let n = 0; n < 40; n += 1) {
      tx.put(bareThings, `t${n}`, { colour: 'red', weight: n, words: ['x', `w${n}`] })
    }
  })
  await store.exclusive('fold', () => store.checkpoint())
  await store.transact('more', (tx) => tx.remove(bareThings, 't7'))
  return store
}

t.test('entries are made in pieces, and the files between are gone', async (t) => {
  const store = await unindexed(t)
  const { files, places } = { files: nodeFiles, places: placesOf(store.dir) }
  await store.exclusive('fold', () => store.checkpoint())
  const { runs, next_run: nextRun } = store.generation.manifest
  const writer = new SegmentWriter(files, places, 77)
  const made = reindex(files, places, runs, nextRun, { specs: [things] }, writer, 5)
  t.equal(made.corrected, 39 * 3)
  const [newest] = made.runs
  const named = files.list(places.collections).filter((name) => name.startsWith('000000000077'))
  t.strictSame(named, newest?.files.map(({ name }) => name))
  const lease = new SegmentPool(files, places, 0).lease({ runs: made.runs.slice(0, 1) })
  const found = [...scanRun(lease.table.runs[0] ?? [])].map(({ id }) => id)
  lease.release()
  const due = dueEntries(rowsIn(store.read()))
  t.strictSame(found, [...due.colour, ...due.word])
  const again = reindex(files, places, made.runs, made.nextRun, { specs: [things] }, writer, 5)
  t.equal(again.corrected, 0)
})

t.test('a repair makes the indexes of rows that were written without', async (t) => {
  const store = await unindexed(t)
  store.close()
  const place = { ...placeOf(store), specs: [things] }
  const report = await repairState(place)
  t.strictSame(report.done.map(({ code }) => code), ['indexes_rebuilt'])
  t.ok(isRight(again(t, store).read()))
  t.strictSame(checkState(place).problems, [])
  t.strictSame((await migrateState(place)).steps, [])
})
