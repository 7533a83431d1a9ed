/** Whether an ask is to end as cancelled. */
import t from 'tap'
import { cancelWanted, type AskOperation } from '../../../src/alpha/ask/operation.js'
import type { Face } from '../../../src/governance/context.js'
import type { Task } from '../../../src/governance/rows.js'

t.test('an ask is cancelled by its row, and by a signal whose record could not be written', (t) => {
  const wanted = (isStopped: boolean, at: string | null): boolean => cancelWanted(
    { stopped: () => isStopped } as AskOperation, { cancel_requested_at: at } as Task)
  t.equal(wanted(false, null), false)
  t.equal(wanted(false, '2026-11-20T10:00:00.000Z'), true)
  t.equal(wanted(true, null), true)
  t.end()
})

t.test('a stop cancels what has left where a person sits, and not in a service', (t) => {
  const wanted = (face: Face, at: string | null): boolean => cancelWanted(
    { stopped: () => true, ctx: { gov: { face } } } as AskOperation,
    { cancel_requested_at: at } as Task, true)
  t.equal(wanted('cli', null), true)
  t.equal(wanted('service', null), false)
  t.equal(wanted('service', '2026-11-20T10:00:00.000Z'), true)
  t.end()
})
