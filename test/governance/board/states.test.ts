/** The closed table of states of a task, as one table. */
import t from 'tap'
import {
  canEndAccounted, canGoOn, canMove, isOpen, isOutstanding, isSpent,
} from '../../../src/governance/board/states.js'
import { taskStates } from '../../../src/governance/rows.js'

const arrows = new Set([
  'prepared accepted', 'prepared failed', 'prepared cancelled',
  'accepted queued', 'accepted blocked', 'accepted failed', 'accepted cancelled',
  'queued running', 'queued blocked', 'queued failed', 'queued cancelled',
  'running succeeded', 'running blocked', 'running failed', 'running cancelled',
  'blocked succeeded', 'blocked failed',
])

t.test('a task moves along the arrows of the table and along no other', async (t) => {
  const found = taskStates.flatMap((from) => taskStates
    .filter((to) => canMove(from, to))
    .map((to) => `${from} ${to}`))
  t.strictSame(new Set(found), arrows)
})

t.test('only blocked work goes on, to the queue, and only for its own capability', async (t) => {
  const found = taskStates.flatMap((from) => taskStates
    .filter((to) => canGoOn(from, to))
    .map((to) => `${from} ${to}`))
  t.strictSame(found, ['blocked queued'])
})

t.test('a task whose charge was accounted for by a person ends as failed and nowhere else', async (t) => {
  t.strictSame(taskStates.filter(canEndAccounted), ['failed'])
})

t.test('A-196 what occupies the place of its owner, and what is not finished', async (t) => {
  t.strictSame(taskStates.filter(isOutstanding), ['accepted', 'queued', 'running'])
  t.strictSame(taskStates.filter(isOpen),
    ['prepared', 'accepted', 'queued', 'running', 'blocked'])
})

t.test('nothing of a task is sent again once it is finished or its result waits', async (t) => {
  for (const state of taskStates) {
    t.equal(isSpent({ state, blocked: null }), !isOpen(state), state)
  }
  for (const [kind, spent] of [
    ['cost_overrun', true], ['answer_held', true], ['cost_liability', false],
  ] as const) {
    t.equal(isSpent({ state: 'blocked', blocked: { kind } }), spent, kind)
  }
})
