/** The loop of `npm run soak` over flipped bits, a few bytes of each file. */
import t from 'tap'
import { flipBits } from '../support/soak/flip-bits.js'

t.test('no flipped bit of the state goes unnoticed, and none of a record loses anything',
  async (t) => {
    const { flips, broken } = await flipBits(t, 1, 67)
    t.strictSame(broken, [])
    const kinds = ['anchor', 'log', 'manifest', 'snapshot', 'state', 'witness']
    t.strictSame(Object.keys(flips).map((kind) => kind.toLowerCase()).sort(), kinds)
  })
