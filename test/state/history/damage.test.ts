/** Histories that somebody changed, or of which a block was lost: what is found, told and kept. */
import type { Test } from 'tap'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { v7 } from 'uuid'
import { backupState } from '../../../src/state/care/backup.js'
import { checkState } from '../../../src/state/care/check.js'
import { repairState } from '../../../src/state/care/repair.js'
import { restoreState } from '../../../src/state/care/restore.js'
import {
  historyHead, historyLines, historyPage,
} from '../../../src/state/history/read-history.js'
import { historyLost, lostId } from '../../../src/state/history/spec.js'
import type { FileStore } from '../../../src/state/store.js'
import type { Store } from '../../../src/state/types.js'
import type { ForgedChange } from '../../support/state/forge.js'
import { forgeRecord, newestLog } from '../../support/state/forge.js'
import {
  append, few, historyCollections, steps, stepsFrom,
} from '../../support/state/histories.js'
import { again, errorOf, placeOf, put, specs } from '../../support/state/notes.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const collections = [...specs, ...historyCollections]

const found = (store: Store): string[] =>
  checkState({ ...placeOf(store), specs: collections }).problems
    .filter(({ code }) => code.startsWith('history_'))
    .map(({ code, severity, subject }) => `${severity} ${code} ${subject}`)

const entries = steps.entries.name
const heads = steps.heads.name

t.test('check names every way in which entries and head do not fit each other', async (t) => {
  const zero = '0'.repeat(64)
  const cases: readonly (readonly [string, (store: Store) => ForgedChange[], string[]])[] = [
    ['an entry changed', (store) => {
      const row = store.read().get(steps.entries, 'b/000002')
      return [{ collection: entries, id: 'b/000002', doc: { ...row, entry: { n: 9, text: '' } } }]
    }, ['history_entry_untrue']],
    ['two entries changed places', (store) => [['b/000001', 'b/000002'], ['b/000002', 'b/000001']]
      .map(([id = '', from = '']) => ({
        collection: entries, id, doc: store.read().get(steps.entries, from),
      })), ['history_entry_untrue']],
    ['an entry of another key', (store) => [{
      collection: entries, id: 'b/000001', doc: store.read().get(steps.entries, 'a/000001'),
    }], ['history_entry_untrue']],
    ['an entry gone', () => [{ collection: entries, id: 'b/000002' }], ['history_entry_missing']],
    ['the first one gone', () => [{ collection: entries, id: 'b/000001' }],
      ['history_entry_missing']],
    ['the last one gone', () => [{ collection: entries, id: 'b/000003' }],
      ['history_entry_missing']],
    ['all gone', () => [1, 2, 3].map((n) => ({ collection: entries, id: `b/00000${n}` })),
      ['history_entry_missing']],
    ['the head gone', () => [{ collection: heads, id: 'b/' }], ['history_head_missing']],
    ['the last head gone', () => [{ collection: heads, id: 'c/' }], ['history_head_missing']],
    ['an older head', (store) => [{
      collection: heads, id: 'b/',
      doc: { bytes: 9, digest: store.read().get(steps.entries, 'b/000002')?.digest, entries: 2 },
    }], ['history_entry_beyond']],
    ['a head of other bytes', (store) => [{
      collection: heads, id: 'b/', doc: { ...historyHead(store.read(), steps, 'b'), bytes: 9 },
    }], ['history_head_untrue']],
    ['a head of another digest', (store) => [{
      collection: heads, id: 'b/', doc: { ...historyHead(store.read(), steps, 'b'), digest: zero },
    }], ['history_head_untrue']],
    ['a head that was never written', () => [{
      collection: heads, id: 'aa/', doc: { bytes: 0, digest: zero, entries: 0 },
    }], ['history_head_untrue']],
    ['an id of another form', (store) => [{
      collection: entries, id: 'b/01', doc: store.read().get(steps.entries, 'b/000001'),
    }], ['history_entry_untrue']],
    ['a head of another form', (store) => [{
      collection: heads, id: 'b', doc: historyHead(store.read(), steps, 'b'),
    }], ['history_head_untrue']],
    ['a row that is no entry', () => [{ collection: entries, id: 'b/000002', doc: { n: 1 } }],
      ['history_entry_untrue']],
  ]
  const { store } = await World.in(t).store()
  for (const key of ['a', 'b', 'c']) await append(store, key, stepsFrom(0, 3))
  await append(store, 'b', stepsFrom(0, 1), few)
  const log = readFileSync(newestLog(store.dir))
  for (const [what, forge, codes] of cases) {
    writeFileSync(newestLog(store.dir), log)
    t.strictSame(found(store), [])
    const changes = forge(again(t, store))
    forgeRecord(store.dir, changes.map((one) => ({ ...one, partition: 'hash256' })))
    t.strictSame(found(store), codes.map((code) => `damage ${code} steps`), what)
  }
})

t.test('a read meets what a check would: entries that do not follow, or are not all there', async (t) => {
  const { store } = await World.in(t).store()
  for (const key of ['a', 'b', 'c', 'd']) await append(store, key, stepsFrom(0, 600))
  const row = store.read().get(steps.entries, 'a/000300')
  store.close()
  forgeRecord(store.dir, [
    { collection: entries, id: 'a/000301', doc: row }, { collection: entries, id: 'b/000300' },
    { collection: heads, id: 'c/' }, { collection: entries, id: 'd/000600' },
  ].map((one) => ({ ...one, partition: 'hash256' })))
  const next = again(t, store, 'write')
  const view = next.read()
  const lines = (key: string) => () => [...historyLines(view, steps, key)]
  t.hasStrict(errorOf(lines('a')), { kind: 'damaged', code: 'history_untrue' })
  t.hasStrict(errorOf(lines('b')), { kind: 'blocked', code: 'history_incomplete' })
  t.hasStrict(errorOf(lines('c')), { code: 'history_incomplete' })
  t.hasStrict(errorOf(lines('d')), { code: 'history_incomplete' })
  const page = (after: number, limit: number) => () =>
    historyPage(view, steps, 'b', { after, limit })
  t.equal(page(298, 1)().length, 1)
  t.hasStrict(errorOf(page(298, 2)), { code: 'history_incomplete' })
  t.hasStrict(errorOf(page(300, 2)), { code: 'history_incomplete' }, 'what it follows is gone')
  t.strictSame(historyPage(view, steps, 'b', { after: 298, limit: 2, lost: 'told' })
    .map(({ number }) => number), [299, 301])
  await t.rejects(append(next, 'c', stepsFrom(0, 1)), { code: 'history_incomplete' })
})

t.test('an entry behind the head is never written over', async (t) => {
  const { store } = await World.in(t).store()
  const first = await append(store, 'a', stepsFrom(0, 1))
  await append(store, 'a', stepsFrom(1, 1))
  store.close()
  forgeRecord(store.dir, [{ collection: heads, id: 'a/', doc: first, partition: 'hash256' }])
  await t.rejects(append(again(t, store, 'write'), 'a', stepsFrom(7, 1)), {
    kind: 'damaged', code: 'history_untrue',
  })
})

t.test('a check names five histories of a kind and counts the others', async (t) => {
  const { store } = await World.in(t).store()
  for (let n = 0; n < 8; n += 1) await append(store, `k${n}`, stepsFrom(0, 1))
  store.close()
  forgeRecord(store.dir, Array.from({ length: 8 }, (_, n) =>
    ({ collection: heads, id: `k${n}/`, partition: 'hash256' })))
  const { problems } = checkState(placeOf(store))
  t.strictSame(problems.map(({ message }) => message),
    ['A history has entries and no head. (k0, k1, k2, k3, k4, 3 more)'])
})

/** Lays zeroes over the block that holds a row; the file's digest is no longer true. */
const loseBlock = (store: FileStore, line: string): void => {
  const folder = join(store.dir, 'collections')
  for (const name of readdirSync(folder).filter((one) => one.endsWith('.seg'))) {
    const bytes = readFileSync(join(folder, name))
    const at = bytes.indexOf(line)
    if (at !== -1) writeFileSync(join(folder, name), bytes.fill(0, at + 2, at + 40))
  }
}

const early = v7({ msecs: Date.parse('2020-01-01T00:00:00Z') })

/** Three histories in blocks of their own; nothing but the newest manifest names their files. */
const stored = async (t: Test): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  const fold = (): Promise<void> => store.exclusive('fold', () => store.checkpoint())
  for (const key of ['a', 'b', 'c']) await append(store, key, stepsFrom(0, 300, 'x'.repeat(100)))
  await fold()
  await put(store, 'x', 1)
  await fold()
  await append(store, 'b', stepsFrom(300, 1))
  return store
}

const repaired = async (t: Test, store: FileStore): Promise<FileStore> => {
  store.close()
  await repairState({
    ...placeOf(store), onLoss: (opened) => opened.transact('loss', (tx) => tx.mark()),
  })
  return again(t, store, 'write')
}

t.test('entries of a lost block stay lost: the rest is kept, told, and never gone on from', async (t) => {
  const store = await stored(t)
  const head = historyHead(store.read(), steps, 'b')
  loseBlock(store, '["steps_history","b/000200"')
  t.strictSame(found(store), ['damage history_entry_missing steps'], 'named before a repair too')
  const next = await repaired(t, store)
  t.strictSame(found(next), ['notice history_incomplete steps'])
  t.ok(checkState({ ...placeOf(next), specs: collections }).ok)
  const left = historyPage(next.read(), steps, 'b', { limit: 999, lost: 'told' })
  t.ok(left.length > 200 && left.length < 301, `${left.length} of 301 entries are left`)
  t.ok(left.every(({ number, entry }) => entry.n === number - 1), 'each is what it was')
  t.hasStrict(errorOf(() => historyHead(next.read(), steps, 'b')), {
    kind: 'blocked', code: 'history_incomplete',
  })
  for (const expected of [head, historyHead(next.read(), steps, 'a')]) {
    await t.rejects(next.transact('x', (tx) => tx.append(steps, 'b', expected, stepsFrom(0, 1))), {
      code: 'history_incomplete',
    })
  }
  t.strictSame(next.read().get(steps.heads, 'b/'), head, 'the head stays')
  for (const key of ['a', 'c', early]) await append(next, key, stepsFrom(300, 1))
  t.equal(historyHead(next.read(), steps, 'a').entries, 301)
  t.strictSame(found(next), ['notice history_incomplete steps'])
})

t.test('a lost head is not made of the entries that are left, nor taken for an empty history', async (t) => {
  const store = await stored(t)
  loseBlock(store, '["steps_history_head","a/"')
  const next = await repaired(t, store)
  t.strictSame(found(next), ['notice history_incomplete steps'])
  t.equal(historyHead(next.read(), steps, 'b').entries, 301, 'a newer head stands')
  for (const key of ['a', 'c', early]) {
    const refused = errorOf(() => historyHead(next.read(), steps, key))
    t.hasStrict(refused, { code: 'history_incomplete' }, key)
  }
  t.equal(historyPage(next.read(), steps, 'a', { limit: 999 }).length, 300, 'what is left reads')
})

t.test('a history of which nothing is left refuses; one that is made later begins', async (t) => {
  const { store } = await World.in(t).store()
  const fold = (): Promise<void> => store.exclusive('fold', () => store.checkpoint())
  const key = `job_${early}`
  await append(store, key, stepsFrom(0, 2))
  await fold()
  await put(store, 'x', 1)
  await fold()
  loseBlock(store, '["steps_history"')
  const backup = join(store.dir, '..', 'backup')
  const report = await backupState(store, backup, { salvage: true })
  t.not(report.loss, null)
  const next = await repaired(t, store)
  t.equal(next.read().get(historyLost, lostId)?.ranges.length, 1)
  t.strictSame(next.read().get(steps.heads, `${key}/`), undefined)
  await t.rejects(append(next, key, stepsFrom(0, 1)), {
    kind: 'blocked', code: 'history_incomplete',
  })
  t.hasStrict(errorOf(() => historyHead(next.read(), steps, `a_${early}`)), {
    code: 'history_incomplete',
  }, 'it may have lain there')
  for (const later of [`job_${v7()}`, `a_${v7()}`]) {
    t.equal((await append(next, later, stepsFrom(0, 1))).entries, 1)
  }
  next.close()
  await restoreState({
    ...placeOf(store), backup, afterRestore: (opened) => opened.transact('x', (tx) => tx.mark()),
  })
  const restored = again(t, store, 'write')
  await t.rejects(append(restored, key, stepsFrom(0, 1)), { code: 'history_incomplete' },
    'a salvaged backup knows it too')
})

t.test('what the manifest before still holds is not lost, and nothing is noted', async (t) => {
  const { store } = await World.in(t).store()
  await append(store, 'a', stepsFrom(0, 300, 'x'.repeat(100)))
  await store.exclusive('fold', () => store.checkpoint())
  loseBlock(store, '["steps_history","a/000200"')
  const next = await repaired(t, store)
  t.equal([...historyLines(next.read(), steps, 'a')].length, 300)
  t.equal(next.read().get(historyLost, lostId), undefined)
  t.strictSame(found(next), [])
})
