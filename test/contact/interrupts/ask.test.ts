/** Interrupts at every step of an ask and of its bill. */
import t from 'tap'
import { ask, secondBill } from './orders.js'
import { proveTable } from './table.js'

t.test('A-026 A-167 A-183 every interrupt at every step of an ask', (t) => proveTable(t, ask))

t.test('A-026 A-167 every interrupt from the second bill on', (t) => proveTable(t, secondBill))
