/** A few rounds of what `npm run soak` does at length. */
import t from 'tap'
import { failingClosures } from '../../support/soak/failing-closures.js'
import { killClosures } from '../../support/soak/kill-closures.js'
import { rounds } from '../../support/slice.js'

t.test('C-185 C-217 a closure that dies at a step, at a sync or at random is closed once and whole or not at all, and the same request ends it', async (t) => {
  const kills = rounds('killed closures', { short: 3, all: 6 })
  const { checks } = await killClosures(kills)
  t.equal(checks, kills)
})

t.test('C-217 a disk that is full or fails at a call of a closure leaves it closed once and whole or as it was', async (t) => {
  const calls = rounds('failing calls', { short: 3, all: 8 })
  const { codes, closed } = await failingClosures(calls)
  t.equal(Object.values(codes).reduce((sum, one) => sum + one, closed), calls)
})
