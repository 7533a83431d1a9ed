/** The table of routes and events, for what leaves the machine out of screenshots. */
import t from 'tap'
import { checkRoutes } from '../support/fabric/consent-check.js'

t.test('S-021 what happens to the consent to images and to texts about them', (t) =>
  checkRoutes(t, {
    share: 'images', title: 'S-017 S-021 S-159 each cell ends as the table says',
  }))
