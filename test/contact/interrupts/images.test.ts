/** Interrupts at every step of the analysis of an image. */
import t from 'tap'
import { analysis } from './orders.js'
import { proveTable } from './table.js'

t.setTimeout(280_000)

t.test('S-149 S-159 every interrupt at every step of an analysis', (t) => proveTable(t, analysis))
