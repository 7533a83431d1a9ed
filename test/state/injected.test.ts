import t from 'tap'
import { run } from '../support/soak/injected-faults.js'

t.test('durability 2 and 9: a fault at any step of transaction, compaction, backup, repair and restore loses nothing that was answered', async (t) => {
  await t.resolves(run(400))
})
