/** Every route that asks for somebody, every event that can meet it, at every moment. */
import t from 'tap'
import { checkRoutes, missing } from '../support/fabric/consent-check.js'

t.test('the table of routes and events has every cell, and every route is run', async (t) => {
  t.strictSame(missing(), [])
})

t.test('A-009 A-070 what happens to the consent of a question or a proof', (t) => checkRoutes(t, {
  share: 'asks', title: 'A-065 A-067 A-097 A-156 A-168 A-185 each cell ends as the table says',
}))
