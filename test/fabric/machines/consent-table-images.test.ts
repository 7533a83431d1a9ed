/** The same for what leaves the machine out of screenshots. */
import t from 'tap'
import { checkRoutes } from '../../support/fabric/consent-check.js'
import { twoSides } from '../../support/place/two-sides.js'

t.test('what happens to the consent to images and to texts whose giver is on another machine', async (t) =>
  checkRoutes(t, {
    share: 'images', title: 'each cell ends as on one machine', table: 'machines-',
    sides: await twoSides(t),
  }))
