/** The loop of `npm run soak` over a failing disk, a few calls of an ask, a repair and a prune. */
import t from 'tap'
import { faultVerbs } from '../support/soak/fault-verbs.js'

t.test('durability 2 and 9, A-026: whichever call of the disk fails, nothing is sent or paid twice',
  async (t) => {
    const names = ['alpha ask', 'state repair', 'state prune']
    const { broken, commands } = await faultVerbs(t, 23, names)
    t.strictSame(broken, [])
    for (const [name, { injected, codes }] of Object.entries(commands)) {
      t.ok(injected > 0 && Object.keys(codes).length > 0, `${name}: a failure is told`)
    }
  })
