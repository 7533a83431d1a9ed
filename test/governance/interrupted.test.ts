/** How an interrupted task ends: what its capability's rule may say, and what it may not. */
import t from 'tap'
import {
  afterContact, beforeContact, defaultEnding, endingOf, type Interrupted,
  type InterruptedEnding, type RecoveryRule,
} from '../../src/governance/interrupted.js'
import { recoverInterrupted } from '../../src/contact/recovery.js'
import { getTask } from '../../src/governance/board/visible-tasks.js'
import { addAndSignIn, signIn, taskAt } from '../support/tasks.js'
import { World } from '../world/world.js'
import type { View } from '../../src/state/types.js'

/** What no rule of these tests looks at. */
const noRows = {} as View

const task = { task_id: 'task_1', cancel_requested_at: null } as Interrupted['task']
const cancelled = { ...task, cancel_requested_at: '2026-11-20T10:00:00.000Z' }
const monies: readonly Interrupted['money'][] = ['none', 'released', 'settled', 'owed']

t.test('A-026 the ending of a task whose capability has no rule', async (t) => {
  const unknown = {
    state: 'blocked', blocked: { kind: 'cost_liability', reason: 'charge_unknown' },
  }
  for (const contacted of [false, true]) {
    for (const one of [task, cancelled]) {
      t.strictSame(defaultEnding({ task: one, money: 'owed', contacted }), unknown)
    }
  }
  for (const money of ['none', 'released'] as const) {
    t.strictSame(defaultEnding({ task, money, contacted: false }), {
      state: 'failed', reason: beforeContact,
    })
    t.strictSame(defaultEnding({ task: cancelled, money, contacted: false }), {
      state: 'cancelled', reason: 'cancelled_by_operator',
    })
  }
  for (const money of ['none', 'settled'] as const) {
    for (const one of [task, cancelled]) {
      t.strictSame(defaultEnding({ task: one, money, contacted: true }), {
        state: 'failed', reason: afterContact,
      })
    }
  }
})

t.test('A-122 a rule decides, but never frees a charge nor calls a contact unsent', async (t) => {
  const careless: RecoveryRule = {
    kinds: ['k'], ending: () => ({ state: 'failed', reason: beforeContact }),
  }
  for (const money of monies) {
    for (const contacted of [false, true]) {
      const ending = endingOf({ task, money, contacted }, careless, noRows)
      if (money === 'owed') t.hasStrict(ending, { blocked: { kind: 'cost_liability' } })
      else t.equal('reason' in ending && ending.reason, contacted ? afterContact : beforeContact)
    }
  }
  const careful: RecoveryRule = {
    kinds: ['k'],
    ending: () => ({ state: 'blocked', blocked: { kind: 'effect', reason: 'effect_unknown' } }),
  }
  t.hasStrict(endingOf({ task, money: 'none', contacted: true }, careful, noRows), {
    blocked: { kind: 'effect', reason: 'effect_unknown' },
  })
})

t.test('A-122 what a rule says within its bounds is what happens', async (t) => {
  const says = (ending: InterruptedEnding): RecoveryRule => ({ kinds: ['k'], ending: () => ending })
  const kept: readonly (readonly [Omit<Interrupted, 'task'>, InterruptedEnding])[] = [
    [{ money: 'owed', contacted: true },
      { state: 'blocked', blocked: { kind: 'cost_liability', reason: 'its_own_words' } }],
    [{ money: 'none', contacted: true }, { state: 'failed', reason: 'its_own_words' }],
    [{ money: 'settled', contacted: true }, { state: 'cancelled', reason: 'its_own_words' }],
    [{ money: 'none', contacted: true },
      { state: 'blocked', blocked: { kind: 'effect', reason: beforeContact } }],
    [{ money: 'released', contacted: false }, { state: 'cancelled', reason: beforeContact }],
    [{ money: 'none', contacted: false },
      { state: 'blocked', blocked: { kind: 'effect', reason: 'its_own_words' } }],
  ]
  for (const [facts, ending] of kept) {
    t.strictSame(endingOf({ task, ...facts }, says(ending), noRows), ending, JSON.stringify(facts))
  }
  const blocked = { state: 'blocked', blocked: { kind: 'effect', reason: 'x' } } as const
  const owed = { task, money: 'owed', contacted: false } as const
  t.strictSame(endingOf(owed, says(blocked), noRows), defaultEnding(owed))
  t.strictSame(endingOf(owed, undefined, noRows), defaultEnding(owed), 'and where there is no rule')
})

t.test('a task ends by the rule of its own kind, and what the rule keeps costs nothing', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const mine = await taskAt(bench, ada.session, 'running')
  const other = await taskAt(bench, bob.session, 'queued')
  const kept = new Set<string>()
  const rules: readonly RecoveryRule[] = [
    { kinds: ['another'], ending: () => ({ state: 'failed', reason: 'not_mine' }) },
    {
      kinds: [mine.kind],
      ending: ({ task: { state } }) => ({ state: 'failed', reason: `was_${state}` }),
      keep: (tx, _now, ended) => {
        kept.add(`${ended.task_id} ${ended.reason}`)
        t.equal(getTask(tx, ended.task_id).state, 'failed')
        throw new Error('rows are missing')
      },
    },
  ]
  await recoverInterrupted(bench.gov, rules)
  const said = [`${mine.task_id} was_running`, `${other.task_id} was_queued`]
  t.strictSame([...kept].sort(), said.sort())
  t.equal(getTask(bench.view(), mine.task_id).state, 'failed')
  t.equal(getTask(bench.view(), other.task_id).state, 'failed')
})
