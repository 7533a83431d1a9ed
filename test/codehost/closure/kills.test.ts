/** A few rounds of what `npm run soak` does at length. */
import t from 'tap'
import { failingClosures } from '../../support/soak/failing-closures.js'
import { killClosures } from '../../support/soak/kill-closures.js'

t.test('C-185 C-217 a closure that dies at a step, at a sync or at random is closed once and whole or not at all, and the same request ends it', async (t) => {
  const { checks } = await killClosures(6)
  t.equal(checks, 6)
})

t.test('C-217 a disk that is full or fails at a call of a closure leaves it closed once and whole or as it was', async (t) => {
  const { codes, closed } = await failingClosures(8)
  t.equal(Object.values(codes).reduce((sum, one) => sum + one, closed), 8)
})
