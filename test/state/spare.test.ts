/** The generation that a repair fills from is read by a check, and a compaction replaces it. */
import { readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { checkState } from '../../src/state/care/check.js'
import { compactState } from '../../src/state/care/compact.js'
import { repairState } from '../../src/state/care/repair.js'
import type { FileStore } from '../../src/state/store.js'
import { failure, must } from '../support/must.js'
import { flipBit, zeroBlock } from '../support/state/forge.js'
import { again, items, numbers, placeOf, put, specs } from '../support/state/notes.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const fold = (store: FileStore): Promise<void> => store.exclusive('fold', () => store.checkpoint())

/** Two generations that share no file: all runs were merged into one. */
const folded = async (): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  for (let n = 0; n < 3; n += 1) {
    await put(store, `n${n}`, n)
    await store.transact('test', (tx) => tx.put(items, `i${n}`, { n, text: '' }))
    await fold(store)
  }
  await put(store, 'n3', 3)
  await compactState(store)
  await put(store, 'last', 9)
  store.close()
  return store
}

const hurts: Readonly<Record<string, (store: FileStore) => void>> = {
  manifest: ({ places }) => flipBit(places.manifest(4), 30, 1),
  'manifest gone': ({ places }) => unlinkSync(places.manifest(4)),
  segment: ({ places }) => flipBit(places.segment('000000000003.1.seg'), 9, 1),
  'segment gone': ({ places }) => unlinkSync(places.segment('000000000003.1.seg')),
  log: ({ places }) => zeroBlock(places.log(4), 400, 40),
  'log header': ({ places }) => zeroBlock(places.log(4), 0, 700),
  'log gone': ({ places }) => unlinkSync(places.log(4)),
}

for (const [what, hurt] of Object.entries(hurts)) {
  t.test(`a check tells damage of the generation before (${what}), and a compaction ends it`, async (t) => {
    const store = await folded()
    t.strictSame(checkState({ ...placeOf(store), specs }).problems, [])
    hurt(store)
    const { ok, problems } = checkState({ ...placeOf(store), specs })
    t.notOk(ok)
    t.strictSame([...new Set(problems.map(({ code }) => code))], ['spare_damaged'])
    t.match(problems[0]?.message, /state compact/)
    const repair = await repairState({ ...placeOf(store), specs })
    t.strictSame(repair.loss.records_after, null)
    const opened = again(t, store, 'write')
    t.equal(opened.health().damage, null, 'the state itself is whole')
    await compactState(opened)
    t.strictSame(checkState({ ...placeOf(store), specs }).problems, [])
    t.strictSame(numbers(opened), { n0: 0, n1: 1, n2: 2, n3: 3, last: 9 })
  })
}

t.test('what the two generations share is damage of the state, and told once', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await fold(store)
  await put(store, 'b', 2)
  await fold(store)
  store.close()
  zeroBlock(store.places.segment('000000000002.1.seg'), 4, 20)
  t.strictSame(checkState({ ...placeOf(store), specs }).problems.map(({ code }) => code),
    ['collection_damaged'])
})

t.test('a damaged spare ends a check with its own code, and its way on works when typed', async (t) => {
  const rig = await World.in(t).state().session()
  for (const title of ['one', 'two']) {
    must(await rig.run(['goal', 'add', title]))
    must(await rig.run(['state', 'compact']))
  }
  const wal = join(rig.place.stateDir, 'wal')
  const oldest = join(wal, '000000000002.log')
  writeFileSync(oldest, readFileSync(oldest).fill(0, 300, 400))
  const checked = await rig.run(['state', 'check', '--json'])
  t.hasStrict(failure(checked), { status: 12, code: 'spare_damaged' })
  t.match(checked.stderr, /sallyport state compact/)
  t.match(must(await rig.run(['state', 'repair'])).stdout, /Left as it is: spare_damaged/)
  must(await rig.run(['state', 'compact']))
  t.equal(must(await rig.run(['state', 'check', '--json'])).json().ok, true)
})
