/** The table of routes and events, where whoever gives is on another machine than whoever asks. */
import t from 'tap'
import { checkRoutes } from '../../support/fabric/consent-check.js'
import { twoSides } from '../../support/place/two-sides.js'

t.test('what happens to the consent of a question or a proof whose giver is on another machine', async (t) =>
  checkRoutes(t, {
    share: 'asks', title: 'each cell ends as on one machine', table: 'machines-',
    sides: await twoSides(t),
  }))
