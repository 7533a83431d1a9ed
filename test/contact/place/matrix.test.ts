/**
 * What happens to the way to the server, or to the process, at each step of an ask: nothing is sent
 * twice, whatever was sent is settled or unknown, and another machine brings it to its end.
 */
import type { Test } from 'tap'
import { askAt, faults, faultyWay, judge } from '../../support/place/faulty-ask.js'
import { slice } from '../../support/slice.js'
import t from 'tap'

const steps = [
  'admitted', 'queued', 'slot', 'reserved', 'before_resolve', 'before_dial', 'contact_begin',
  'contact_intent', 'before_first_byte', 'replied', 'billing_1', 'charge_known', 'answer_sealed',
  'finished',
] as const

const cells = steps.flatMap((step) => faults.map((fault) => ({ step, fault })))

t.test('A-026 A-071 whatever happens at a step of an ask, it is sent once at most and is accounted for', async (t: Test) => {
  const way = await faultyWay(t)
  const counts: Record<string, number> = {}
  for (const { step, fault } of slice('asks', cells, {
    axesOf: ({ step: row, fault: column }) => [row, column],
  })) {
    const asked = await askAt(way, step, fault)
    const { end, broken } = await judge(way, asked)
    counts[`${fault}: ${end}`] = (counts[`${fault}: ${end}`] ?? 0) + 1
    t.strictSame(broken, [], `${fault} at ${step}: ${end}, status ${asked.ran.status}`)
  }
  for (const [what, count] of Object.entries(counts).sort()) t.comment(`${what}: ${count}`)
})
