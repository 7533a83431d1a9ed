/**
 * What happens to the way to the server, or to the process, at each step of every order: nothing is
 * sent twice, whatever was sent is settled or unknown, and another machine brings it to its end.
 * The steps are those that docs/dev/interrupts.md has; the processes are those of its own table.
 */
import type { Test } from 'tap'
import { faults } from '../../support/place/faults.js'
import { startPostgres } from '../../support/place/postgres.js'
import { slice } from '../../support/slice.js'
import {
  analysis, ask, conclusion, digest, look, proof, secondBill,
} from '../interrupts/orders.js'
import { writeWaits } from '../interrupts/rule.js'
import { isEnded, rowsOf } from '../interrupts/table.js'
import { question } from '../../world/alpha.js'
import { leftAt, sharedBenchOf, type SharedBench, type SharedOrder } from './cell.js'
import t from 'tap'

const key = '4f1c9a52-6d0e-4b5f-9a3e-0c2d7f8e1b64'
/** By its key another machine knows it again. */
const keyedAsk = (): SharedOrder => {
  let line: readonly string[] = []
  return {
    ...ask, argv: (world) => (line = [...ask.argv(world), '--idempotency-key', key]),
    again: ({ run }) => run(line, { stdin: question }),
  }
}

const asked = keyedAsk()
const orders: readonly SharedOrder[] =
  [asked, secondBill, proof(), analysis, digest, conclusion, look]

const cells = orders.flatMap((order) => rowsOf(order).flatMap((step, at, steps) => faults
  .filter((fault) => fault !== 'killed' || (step !== writeWaits && isEnded(order, steps, at)))
  .map((fault) => ({ order, step, fault }))))

t.test('A-026 A-071 whatever happens at a step of an order, it is sent once at most and is accounted for', async (t: Test) => {
  const server = await startPostgres(t)
  const benches = new Map<SharedOrder, SharedBench>()
  const counts: Record<string, number> = {}
  for (const { order, step, fault } of slice('orders', cells, {
    axesOf: ({ order: { name }, step: row, fault: column }) => [name, row, column],
    atLeast: 70, takesMinutes: true,
  })) {
    const bench = benches.get(order)
      // An ask is a process each time, as what is shipped is.
      ?? await sharedBenchOf(t, server, order, order === asked)
    benches.set(order, bench)
    const { ran, outcome: { end, requests }, broken } = await leftAt(bench, step, fault)
    const what = `${fault}: ${end}, ${requests === 0 ? 'nothing sent' : 'sent'}`
    counts[what] = (counts[what] ?? 0) + 1
    t.strictSame(broken, [], `${order.name}: ${fault} at ${step}: ${end}, status ${ran.status}`)
  }
  for (const { order, one, two } of benches.values()) {
    if (order.own !== undefined) continue
    for (const at of [one, two]) t.equal((await at.run(['state', 'check'])).status, 0, order.name)
  }
  for (const [what, count] of Object.entries(counts).sort()) t.comment(`${what}: ${count}`)
})
