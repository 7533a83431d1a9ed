/** The loop of `npm run soak` over flipped bits, a few bytes of each file. */
import t from 'tap'
import { flipBits } from '../support/soak/flip-bits.js'
import { rounds } from '../support/slice.js'

t.test('no flipped bit of the state goes unnoticed, and none of a record or of a founding manifest loses anything',
  async (t) => {
    // One byte of 67, or of 402.
    const parts = rounds('flipped bytes', { short: 1, all: 6 })
    const { flips, broken } = await flipBits(t, 1, (67 * 6) / parts)
    t.strictSame(broken, [])
    const kinds = ['anchor', 'log', 'manifest', 'snapshot', 'state', 'witness',
      ...['new', 'restored', 'repaired', 'changed'].flatMap((life) =>
        [...(life === 'new' ? [] : ['copy']), 'log', 'manifest', 'state']
          .map((kind) => `${life} ${kind}`))]
    t.strictSame(Object.keys(flips).map((kind) => kind.toLowerCase()).sort(), kinds.sort())
  })
