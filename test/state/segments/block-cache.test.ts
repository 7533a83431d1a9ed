/** What a process keeps of the files it reads. */
import t from 'tap'
import { nodeFiles } from '../../../src/state/files.js'
import { placesOf as places } from '../../../src/state/paths.js'
import { BlockCache } from '../../../src/state/segments/read-segment.js'
import { SegmentPool } from '../../../src/state/snapshot/pool.js'
import { again, items } from '../../support/state/notes.js'
import { World } from '../../world/world.js'

const block = () => []

t.test('blocks of a file that nobody reads any more make room for others', async (t) => {
  const cache = new BlockCache(100)
  for (const key of ['a 1 0', 'a 1 1', 'b 1 0', 'a 10 0']) cache.put(key, block(), 25)
  cache.forget('a 1')
  const kept = (): string[] =>
    ['a 1 0', 'a 1 1', 'b 1 0', 'a 10 0'].filter((key) => cache.get(key) !== undefined)
  t.strictSame(kept(), ['b 1 0', 'a 10 0'], 'of no other file, whatever its name begins with')
  cache.put('c 1 0', block(), 50)
  t.strictSame(kept(), ['b 1 0', 'a 10 0'], 'and what they took is free again')
})

t.test('a file that no generation needs any more leaves nothing in memory', async (t) => {
  const { store } = await World.in(t).store()
  await store.transact('test', (tx) => tx.put(items, 'id', { n: 1, text: '' }))
  await store.exclusive('fold', () => store.checkpoint())
  let reads = 0
  const files = {
    ...nodeFiles,
    read: (...args: Parameters<typeof nodeFiles.read>) => {
      reads += 1
      return nodeFiles.read(...args)
    },
  }
  const pool = new SegmentPool(files, places(store.dir))
  t.teardown(() => pool.close())
  const { manifest } = again(t, store).generation
  const key = { collection: items.name, id: 'id' }
  const readsOf = (fn: () => unknown): number => {
    const before = reads
    t.ok(fn())
    return reads - before
  }
  const first = pool.lease(manifest)
  const alone = readsOf(() => first.table.find(key))
  t.ok(alone > 0)
  t.equal(readsOf(() => first.table.find(key)), 0, 'it is kept')
  const second = pool.lease(manifest)
  first.release()
  t.equal(readsOf(() => second.table.find(key)), 0, 'also for another generation with the file')
  second.release()
  t.equal(readsOf(() => pool.lease(manifest).table.find(key)), alone, 'and not behind the last one')
})
