/** Interrupts at every step of the three proofs. */
import t from 'tap'
import { proof } from './orders.js'
import { proveTable } from './table.js'

t.setTimeout(280_000)

for (const slot of ['chat', 'report', 'screenshot'] as const) {
  t.test(`every interrupt at every step of the proof of ${slot}`, (t) =>
    proveTable(t, proof(slot)))
}
