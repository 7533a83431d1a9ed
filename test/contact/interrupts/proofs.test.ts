/** Interrupts at every step of a proof. */
import t from 'tap'
import { proof } from './orders.js'
import { proveTable } from './table.js'

t.test('every interrupt at every step of a proof', (t) => proveTable(t, proof()))
