/** Older rows with fewer fields: the `upgrade` of their collection fills them in. */
import t from 'tap'
import * as v from 'valibot'
import { formerStates } from '../../src/state/care/aside.js'
import { checkState } from '../../src/state/care/check.js'
import { repairState } from '../../src/state/care/repair.js'
import type { CollectionSpec, Index } from '../../src/state/types.js'
import { indexCollection } from '../../src/state/indexes.js'
import { flipBit, newestLog } from '../support/state/forge.js'
import { again, placeOf } from '../support/state/notes.js'
import { World } from '../world/world.js'

const before: CollectionSpec<{ n: number }> = {
  name: 'grown', schema: v.strictObject({ n: v.number() }), partition: 'one',
}
interface Grown {
  readonly n: number
  readonly place: string
}
const byPlace: Index<Grown> = { name: 'place', parts: 1, keysOf: ({ place }) => [[place]] }
const today: CollectionSpec<Grown> = {
  name: 'grown', schema: v.strictObject({ n: v.number(), place: v.string() }), partition: 'one',
  upgrade: (stored) => ({ place: 'here', ...stored as object }), indexes: [byPlace],
}

t.test('fields that an older row lacks are filled in by every reader: view, check, index, former state', async (t) => {
  const { store } = await World.in(t).store()
  await store.transact('old', (tx) => tx.put(before, 'a', { n: 1 }))
  await store.exclusive('fold', () => store.checkpoint())
  await store.transact('old', (tx) => tx.put(before, 'b', { n: 2 }))
  store.close()
  const place = { ...placeOf(store), specs: [today] }
  t.strictSame(again(t, store).read().all(today).map(({ doc }) => doc), [
    { n: 1, place: 'here' }, { n: 2, place: 'here' },
  ])
  t.strictSame(checkState(place).problems.map(({ code }) => code), ['index_differs'])
  flipBit(newestLog(store.dir), 9, 1)
  t.hasStrict(await repairState(place), { changed: true, loss: { records_after: null } })
  t.strictSame(checkState(place).problems, [])
  const found = again(t, store).read().all(indexCollection(today, byPlace))
  t.strictSame(found.map(({ id }) => id), ['here/a', 'here/b'])
  const [former] = formerStates(store.dir, store.storeId)
  t.strictSame(former?.view.get(today, 'b'), { n: 2, place: 'here' })
})
