/** Growing collections are split by what the first fold writes, not by what lay there before. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import * as v from 'valibot'
import { createStore, openStore } from '../../src/state/store.js'
import type { CollectionSpec } from '../../src/state/types.js'

const shape = v.strictObject({ text: v.string() })
const spec: CollectionSpec<v.InferOutput<typeof shape>> = {
  name: 'grown', schema: shape, partition: 'hash256',
}

const partsOf = (dir: string): number =>
  readdirSync(join(dir, 'collections')).filter((name) => name.startsWith('grown.')).length

t.test('the first fold of a bulk load splits it, so that one document needs one small file', async (t) => {
  const base = t.testdir()
  const places = { dir: join(base, 'state'), configDir: join(base, 'config') }
  const store = createStore({ ...places, profile: {} })
  for (let round = 0; round < 3; round += 1) {
    await store.transact('fill', (tx) => {
      for (let i = 0; i < 300; i += 1) tx.put(spec, `id_${round}_${i}`, { text: 'x'.repeat(1_000) })
    })
  }
  await store.transact('remove', (tx) => tx.remove(spec, 'id_0_0'))
  store.close()
  t.equal(partsOf(places.dir), 0, 'still below a fold')
  const again = openStore({ ...places, mode: 'write', logBytesMax: 1_000 })
  await again.transact('more', (tx) => tx.put(spec, 'one_more', { text: 'x' }))
  again.close()
  t.equal(partsOf(places.dir), 16)
  const read = openStore({ ...places, mode: 'read' })
  t.equal(read.read().all(spec).length, 900)
  read.close()
})
