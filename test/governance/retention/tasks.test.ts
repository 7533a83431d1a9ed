/** Which ended tasks a person may have removed: a rule over rows. */
import t from 'tap'
import { countPruned, mayTaskGo, type EndedTask } from '../../../src/governance/retention/tasks.js'
import type { Reservation, Task, TaskPrune, UsedKey } from '../../../src/governance/rows.js'

const before = '2026-06-01T00:00:00.000Z'
const old = '2026-05-31T23:59:59.999Z'
const age = { kinds: ['inference.alpha-text.v1'], before }

const task = (changes: Partial<Task> = {}): Task => ({
  task_id: 'task_1', kind: 'inference.alpha-text.v1', state: 'failed', review: 'none',
  updated_at: old, ...changes,
} as Task)

const money = (changes: Partial<Reservation> = {}): Reservation =>
  ({ state: 'settled', overrun: 'none', ...changes }) as Reservation

const key = (id = 'task_1'): UsedKey => ({ task_id: id }) as UsedKey

const goes = (changes: Partial<EndedTask>): boolean =>
  mayTaskGo({ task: task(), money: money(), key: key(), ...changes }, age)

t.test('a task may go that ended, is old enough, has a known charge or none, and waits for no '
  + 'review', (t) => {
  t.equal(goes({}), true)
  for (const state of ['succeeded', 'failed', 'cancelled'] as const) {
    t.equal(goes({ task: task({ state }) }), true, state)
  }
  for (const review of ['approved', 'rejected'] as const) {
    t.equal(goes({ task: task({ state: 'succeeded', review }) }), true, review)
  }
  t.equal(goes({ money: undefined }), true, 'it never held anything')
  t.equal(goes({ money: money({ state: 'released' }) }), true)
  for (const overrun of ['accepted', 'rejected'] as const) {
    t.equal(goes({ money: money({ overrun }) }), true, overrun)
  }
  t.equal(goes({ key: undefined }), true, 'its key is written anew')
  t.end()
})

t.test('no task goes that is open, young, of another kind, in review, of an open charge, or whose '
  + 'key is another one’s', (t) => {
  for (const state of ['prepared', 'accepted', 'queued', 'running', 'blocked'] as const) {
    t.equal(goes({ task: task({ state }) }), false, state)
  }
  t.equal(goes({ task: task({ updated_at: before }) }), false, 'as old as was said')
  t.equal(goes({ task: task({ kind: 'other.kind.v1' }) }), false)
  t.equal(goes({ task: task({ state: 'succeeded', review: 'pending' }) }), false)
  for (const state of ['reserved', 'contacted', 'unknown'] as const) {
    t.equal(goes({ money: money({ state }) }), false, state)
  }
  t.equal(goes({ money: money({ overrun: 'review_required' }) }), false)
  t.equal(goes({ key: key('task_2') }), false)
  t.end()
})

t.test('a tombstone counts tasks by the state they had ended in', (t) => {
  const fresh = { succeeded: 1, failed: 0, cancelled: 2, last_at: old } as TaskPrune
  const gone = [task(), task({ state: 'cancelled' }), task({ state: 'succeeded' }), task()]
  t.strictSame(countPruned(fresh, gone, before),
    { succeeded: 2, failed: 2, cancelled: 3, last_at: before })
  t.end()
})
