/** What the disk says is no damage: it is told, and nothing counts as lost because of it. */
import t from 'tap'
import { run } from '../support/soak/failing-reads.js'
import { rounds } from '../support/slice.js'

t.test('an errno at any open, read, stat or list of check, repair, restore and backup is told, never taken for damage', async (t) => {
  await t.resolves(run(rounds('looks of each work', { short: 8, all: 30 })))
})
