/** The ids of a collection in their order, whenever they were added and whatever is asked for. */
import fc from 'fast-check'
import t from 'tap'
import { IdOrder } from '../../../src/state/snapshot/id-order.js'
import { isWithin, type Bounds } from '../../../src/state/segments/read-segment.js'

const id = fc.stringMatching(/^[ab\u00e9\ud7ff\uffff]{1,3}$/)
const key = fc.record({ collection: fc.constantFrom('a', 'm', 'm\u0000', 'z'), id })
const bounds: fc.Arbitrary<Bounds> = fc.record(
  { low: key, lowOpen: fc.boolean(), high: key }, { requiredKeys: [] })

t.test('a range gives what a look at every id gives, also between additions', async (t) => {
  fc.assert(fc.property(fc.array(fc.oneof(id, bounds), { maxLength: 40 }), (steps) => {
    const [order, all] = [new IdOrder(), new Map<string, null>()]
    for (const step of steps) {
      if (typeof step === 'string') {
        if (!all.has(step)) order.add(step)
        all.set(step, null)
        continue
      }
      const seen = [...all.keys()].filter((one) => isWithin({ collection: 'm', id: one }, step))
      t.strictSame(order.within(all, 'm', step), seen.sort())
    }
  }))
})

t.test('of very many ids, and of one more than are kept in order, none is missing', async (t) => {
  const [order, all] = [new IdOrder(), new Map<string, null>()]
  for (let n = 0; n < 16_400; n += 1) {
    const one = `${(n * 7_919) % 16_400}`.padStart(5, '0')
    order.add(one)
    all.set(one, null)
    if (n > 16_380 || n === 0) t.equal(order.within(all, 'm', {}).length, n + 1)
  }
  t.strictSame(order.within(all, 'm', {
    low: { collection: 'm', id: '00007' }, lowOpen: true, high: { collection: 'm', id: '00010' },
  }), ['00008', '00009'])
})
