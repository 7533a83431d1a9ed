/** The loop of `npm run soak` over flipped bits, a few bytes of each file. */
import t from 'tap'
import { flipBits } from '../support/soak/flip-bits.js'

t.test('no flipped bit of the state goes unnoticed, and none of a record or of a founding manifest loses anything',
  async (t) => {
    const { flips, broken } = await flipBits(t, 1, 67)
    t.strictSame(broken, [])
    const kinds = ['anchor', 'log', 'manifest', 'snapshot', 'state', 'witness',
      ...['new', 'restored', 'repaired', 'changed'].flatMap((life) =>
        [...(life === 'new' ? [] : ['copy']), 'log', 'manifest', 'state']
          .map((kind) => `${life} ${kind}`))]
    t.strictSame(Object.keys(flips).map((kind) => kind.toLowerCase()).sort(), kinds.sort())
  })
