/** Interrupts at every step of the texts about images. */
import t from 'tap'
import { conclusion, digest } from './orders.js'
import { proveTable } from './table.js'

for (const order of [digest, conclusion]) {
  t.test(`S-105 every interrupt at every step of a ${order.name}`, (t) => proveTable(t, order))
}
