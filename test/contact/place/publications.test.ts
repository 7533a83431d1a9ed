/**
 * The same for what goes to a code host: issues and comments, publications of six POSTs, the
 * readback of what nobody knows, and the closure of what it occupies.
 */
import type { Test } from 'tap'
import { faults, type Fault } from '../../support/place/faults.js'
import { startPostgres } from '../../support/place/postgres.js'
import { slice } from '../../support/slice.js'
import { leftAt, sharedBenchOf, type SharedBench, type SharedOrder } from './cell.js'
import { closure, follow, publication, readback } from './codehost-orders.js'
import t from 'tap'

const cellsOf = (order: SharedOrder, steps: readonly string[], kinds: readonly Fault[] = faults) =>
  steps.flatMap((step) => kinds.map((fault) => ({ order, step, fault })))

const posts = [1, 2, 3, 4, 5, 6] as const
/** Before its mark, behind it, and behind its reply: in turn, from POST to POST. */
const around = ['contact_begin', 'before_first_byte', 'replied'] as const

const published = publication()
const cells = [
  ...cellsOf(follow(), [
    'claimed', 'before_resolve', 'contact_begin', 'contact_intent', 'before_first_byte', 'replied',
    'created', 'before_first_byte#2', 'replied#2', 'charge_known', 'finished',
  ]),
  ...cellsOf(published, ['claimed', 'spawn_intended', 'spawned', 'produced', 'created']),
  ...faults.flatMap((fault, at) => posts.map((post) => ({
    order: published, step: `${around[(post + at) % around.length]}#${post}`, fault,
  }))),
  ...cellsOf(readback(), ['claimed', 'contact_intent', 'replied', 'finished']),
  ...cellsOf(closure(), [
    'kept', 'contact_intent', 'replied', 'replied#2', 'proved', 'staged', 'committed',
  ]),
]

t.test('C-025 A-071 whatever happens at a step of what goes to a code host, no POST is sent twice, and it comes to its end', async (t: Test) => {
  const server = await startPostgres(t)
  const benches = new Map<SharedOrder, SharedBench>()
  const counts: Record<string, number> = {}
  for (const { order, step, fault } of slice('jobs', cells, {
    axesOf: ({ order: { name }, step: row, fault: column }) => [name, row, column],
    takesMinutes: true,
  })) {
    const bench = benches.get(order) ?? await sharedBenchOf(t, server, order)
    benches.set(order, bench)
    const { ran, outcome: { end, requests }, goesOn, broken } = await leftAt(bench, step, fault)
    const what = `${order.name}, ${fault}: ${requests} sent, ${end}, then ${goesOn}`
    counts[what] = (counts[what] ?? 0) + 1
    t.strictSame(broken, [], `${order.name}: ${fault} at ${step}: ${end}, status ${ran.status}`)
  }
  for (const [what, count] of Object.entries(counts).sort()) t.comment(`${what}: ${count}`)
})
