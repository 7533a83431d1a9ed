/** Several pieces of work under way at once. */
import t from 'tap'
import { inPool } from '../../../src/codehost/adapter/pool.js'

t.test('at most so many are under way, and a failure lets none be begun any more', async (t) => {
  let [under, most, done] = [0, 0, 0]
  const work = async () => {
    most = Math.max(most, under += 1)
    await new Promise((next) => setImmediate(next))
    under -= 1
    done += 1
  }
  await inPool(Array.from({ length: 30 }), 8, work)
  t.strictSame([most, done, under], [8, 30, 0])
  const begun: number[] = []
  await t.rejects(inPool([1, 2, 3, 4, 5, 6], 2, async (one) => {
    begun.push(one)
    await work()
    if (one === 2) throw new Error('two')
  }), { message: 'two' })
  t.ok(begun.length <= 4, begun.join())
  t.equal(under, 0, 'those under way have ended')
})
