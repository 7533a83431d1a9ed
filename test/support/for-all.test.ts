/** How many cases a property has in this run. */
import fc from 'fast-check'
import t from 'tap'
import { casesOf, forAll } from './for-all.js'

t.test('a property tries as many cases as the run says that it does', async (t) => {
  for (const numRuns of [undefined, 10, 97]) {
    let seen = 0
    const given = numRuns === undefined ? {} : { numRuns }
    forAll(t, fc.property(fc.nat(), () => void (seen += 1)), given)
    t.equal(seen, casesOf(numRuns ?? 100))
  }
  t.strictSame([casesOf(10, true), casesOf(10, false)], [3, 10])
})
