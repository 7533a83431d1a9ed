/** `next` followed from some states; all of them by `npm run soak -- 170 follow-next`. */
import t from 'tap'
import { followEach, waysCount } from '../../support/soak/follow-next.js'
import { rounds } from '../../support/slice.js'

t.test('a script that follows the way on comes to an end, whatever was taken back and whatever the host answers meanwhile', async (t) => {
  t.ok(waysCount > 30, `${waysCount} ways into the rows of the page`)
  const ways = rounds('ways', { short: 2, all: 6 })
  const report = await followEach(t, ways, 4, 7)
  t.comment(JSON.stringify(report))
  t.strictSame(report.wrong, [])
  t.equal(Object.values(report.began).reduce((sum, one) => sum + one, 0), ways)
})

t.test('so it does from what changed before it was read back, and when hours have gone by, with another session', async (t) => {
  // Of these three ways the last is killed, at the time that the first has moved to.
  const report = await followEach(t, 3, 17, 26)
  t.comment(JSON.stringify(report))
  t.strictSame(report.wrong, [])
  t.strictSame(report.began, { '`blocked`, all sent': 1, '`unknown_external_effect`': 2 })
})
