/** The page on the state's bytes is enough: a reader by it alone finds the same documents. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { compactState } from '../../src/state/care/compact.js'
import { forgetRemoved } from '../../src/state/care/forget.js'
import { repairState } from '../../src/state/care/repair.js'
import type { FileStore } from '../../src/state/store.js'
import { flipBit, newestLog } from '../support/state/forge.js'
import type { CollectionSpec } from '../../src/state/types.js'
import { append, steps, stepsFrom } from '../support/state/histories.js'
import { again, items, notes, placeOf, put } from '../support/state/notes.js'
import { World } from '../world/world.js'

const reader = join(dirname(fileURLToPath(import.meta.url)), '..', 'support', 'state', 'reader.py')

const hasPython = spawnSync('python3', ['--version']).error === undefined

/** What the program reads, and what the other reader does. */
const both = (store: FileStore): readonly [unknown, unknown] => {
  const view = store.read()
  const specs: readonly CollectionSpec<unknown>[] = [notes, items, steps.entries, steps.heads]
  const documents = specs.flatMap((spec) =>
    view.all(spec).map(({ id, doc }) => [spec.name, id, doc]))
  const child = spawnSync('python3', [reader, store.dir], { maxBuffer: 1e8 })
  if (child.status !== 0) return [null, child.stderr.toString()]
  const found = JSON.parse(child.stdout.toString()) as { documents: string[][]; sequence: number }
  const sorted = (rows: readonly unknown[]): string[] =>
    rows.map((row) => JSON.stringify(row)).sort()
  return [
    { sequence: view.sequence, documents: sorted(documents) },
    { ...found, documents: sorted(found.documents) },
  ]
}

t.test('a reader in Python that was written by docs/state-format.md agrees with the program', {
  skip: hasPython ? false : 'needs the program python3',
}, async (t) => {
  const { store } = await World.in(t).store()
  const agree = (what: string): void => {
    const [ours, theirs] = both(store)
    t.strictSame(theirs, ours, what)
  }
  agree('a new store')
  for (let n = 0; n < 7; n += 1) {
    await store.transact('fill', (tx) => {
      for (let i = 0; i < 60; i += 1) {
        tx.put(items, `i"${(i * 7 + n) % 90}/ü\u{1f600}`, { n: i, text: 'x\\"\n'.repeat(i) })
      }
      if (n > 2) tx.remove(items, `i"${n}/ü\u{1f600}`)
    })
    await put(store, `n${n}`, n)
    await append(store, `k${n % 2}`, stepsFrom(n, 20, 'ü"\n'))
    if (n < 6) await store.exclusive('fold', () => store.checkpoint())
  }
  agree('folded and merged, with records behind')
  await store.exclusive('rotate', () => store.rotate())
  await put(store, 'last', 1)
  agree('two logs')
  await compactState(store)
  agree('one run')
  await store.transact('drop', (tx) => {
    for (const { id } of tx.range(items, { limit: 20 })) tx.remove(items, id)
  })
  await forgetRemoved(store, 'prune')
  agree('rows removed and forgotten')
  await put(store, 'more', 2)
  flipBit(newestLog(store.dir), 20, 1)
  store.close()
  await repairState(placeOf(store))
  const repaired = again(t, store)
  const [ours, theirs] = both(repaired)
  t.strictSame(theirs, ours, 'founded by a repair')
})
