/** Interrupts at every step of an effect without money. */
import t from 'tap'
import { look } from './orders.js'
import { proveTable } from './table.js'

t.test('A-026 A-091 every interrupt at every step of a look', (t) => proveTable(t, look))
