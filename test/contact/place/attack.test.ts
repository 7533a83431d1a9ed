/** Operations of several machines while chance strikes everything between them. */
import t from 'tap'
import { rounds } from '../../support/slice.js'
import { attackShared } from '../../support/soak/shared-attack.js'

t.test('the books of machines, server and providers agree, whatever chance strikes', async (t) => {
  const total = rounds('operations', { short: 6, all: 24 })
  const { operations, violations, requests } = await attackShared(t, total)
  t.strictSame(violations, [], JSON.stringify(requests))
  t.ok(operations >= total, `${operations} operations`)
})
