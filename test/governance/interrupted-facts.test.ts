/** What the rows tell of a cut-off task, and the two ends that no rule may choose. */
import t from 'tap'
import {
  beforeContact, endingOf, interruptedFacts, type RecoveryRule,
} from '../../src/governance/interrupted.js'
import { collections, type Reservation, type Task } from '../../src/governance/rows.js'
import type { View } from '../../src/state/types.js'

const task = {
  task_id: 'task_1', operation_id: 'op_1', cancel_requested_at: null,
} as Task

/** Rows that hold one reservation, or none. */
const rows = (state: Reservation['state'] | null): View => {
  const get = <T>(spec: { readonly name: string }): T | undefined =>
    state !== null && spec.name === collections.openReservations.name
      ? { operation_id: 'op_1', state } as T : undefined
  return {
    sequence: 1, get, getMany: (spec, ids) => ids.map(() => get(spec)),
    all: () => [], range: () => [],
  }
}

t.test('A-026 a hold that was given back on proof is of work that contacted nobody', async (t) => {
  for (const marked of [false, true]) {
    t.strictSame(interruptedFacts(rows('released'), task, marked, undefined), {
      task, money: 'released', contacted: false,
    })
    t.strictSame(interruptedFacts(rows('settled'), task, marked, undefined), {
      task, money: 'settled', contacted: true,
    })
    for (const state of ['reserved', 'contacted', 'unknown'] as const) {
      t.strictSame(interruptedFacts(rows(state), task, marked, undefined), {
        task, money: 'owed', contacted: marked,
      })
    }
  }
})

t.test('A-122 a contact without its hold is a lost liability, but of work that never pays', async (t) => {
  const unpaid: RecoveryRule = { kinds: ['k'], unpaid: true }
  t.equal(interruptedFacts(rows(null), task, true, undefined).money, 'owed')
  t.equal(interruptedFacts(rows(null), task, true, unpaid).money, 'none')
  t.equal(interruptedFacts(rows(null), task, false, undefined).money, 'none')
})

t.test('A-122 what is owed is blocked on the liability, whatever else its rule would block it on', async (t) => {
  const rule: RecoveryRule = {
    kinds: ['k'],
    ending: () => ({ state: 'blocked', blocked: { kind: 'effect', reason: 'effect_unknown' } }),
  }
  t.hasStrict(endingOf({ task, money: 'owed', contacted: true }, rule, rows(null)), {
    state: 'blocked', blocked: { kind: 'cost_liability' },
  })
  const unsent: RecoveryRule = {
    kinds: ['k'], ending: () => ({ state: 'failed', reason: beforeContact }),
  }
  t.hasStrict(endingOf({ task, money: 'settled', contacted: true }, unsent, rows(null)), {
    state: 'failed', reason: 'interrupted_after_contact',
  })
})
