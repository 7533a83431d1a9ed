/** Interrupts at every step of the analysis of an image. */
import t from 'tap'
import { analysis } from './orders.js'
import { proveTable } from './table.js'

t.test('S-149 S-159 every interrupt at every step of an analysis', (t) => proveTable(t, analysis))
