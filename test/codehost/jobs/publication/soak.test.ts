/** A few rounds of what `npm run soak` does at length. */
import t from 'tap'
import { run as kills } from '../../../support/soak/kill-publications.js'

t.test('C-207 C-265 killed at random, process or supervisor, a publication sends no effect twice and its state is sound', async (t) => {
  await t.resolves(kills(2))
})
