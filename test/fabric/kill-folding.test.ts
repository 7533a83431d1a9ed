/** Kills amid folds, merges and prunes; the long loop is `npm run soak -- N kill-folding`. */
import t from 'tap'
import { killFolding } from '../support/soak/kill-folding.js'

t.test('processes killed while folding, merging and pruning lose no row that was not asked for, and '
  + 'no key', async (t) => {
  const report = await killFolding(t, 5)
  t.strictSame(report.broken, [])
  t.ok(report.killed > 0, `${report.killed} killed`)
  t.equal(report.pruned, 200)
})
