/** The loops of `npm run soak` over stops, a few rounds each. */
import t from 'tap'
import { soakRevokes, soakSaves } from '../support/soak/revokes.js'

t.test('A-071 A-168 no revoke answers before the last byte has left, whenever it comes',
  async (t) => {
    const report = await soakRevokes(t, 8)
    t.strictSame([report.leftAfter, report.unnamed, report.broken], [0, 0, []])
    t.equal(report.kept + report.sent, report.rounds, 'at most one request a round')
  })

t.test('A-075 A-191 a save that is killed opens nothing, with a stop beside it and without',
  async (t) => {
    const report = await soakSaves(t, 8)
    t.strictSame([report.open, report.broken, report.killed], [0, [], 8])
  })
