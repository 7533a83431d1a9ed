import t from 'tap'
import {
  addGoal, closeGoal, defaultGoal, listGoals, requireOpenGoal, requireOwnGoal, updateGoal,
} from '../../src/governance/goals.js'
import { logout } from '../../src/governance/stops/people.js'
import { addAndSignIn, signIn } from '../support/tasks.js'
import { World } from '../world/world.js'

t.test('a default goal exists from the start and stays open', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const goal = defaultGoal(bench.view(), session.principal.principal_id)
  t.hasStrict(goal, { revision: 1, state: 'open', is_default: true })
  const request = { goalId: goal.goal_id }
  await t.rejects(closeGoal(bench.gov, session, request), { code: 'default_goal' })
  t.throws(() => defaultGoal(bench.view(), 'prn_x'), { code: 'goal_not_found' })
})

t.test('every change of a goal raises its revision, and no change does not', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { goal_id: goalId } = await addGoal(bench.gov, session, 'Learn about tides')
  const same = await updateGoal(bench.gov, session, { goalId, title: 'Learn about tides' })
  t.equal(same.revision, 1)
  const updated = await updateGoal(bench.gov, session, { goalId, title: 'Learn about moons' })
  t.hasStrict(updated, { revision: 2, title: 'Learn about moons', state: 'open' })
  t.hasStrict(await closeGoal(bench.gov, session, { goalId }), { revision: 3, state: 'closed' })
  t.hasStrict(await closeGoal(bench.gov, session, { goalId }), { revision: 3 })
  await t.rejects(updateGoal(bench.gov, session, { goalId, title: 'Again' }), {
    kind: 'conflict', code: 'goal_closed',
  })
  const owner = session.principal.principal_id
  t.throws(() => requireOpenGoal(bench.view(), owner, goalId), { code: 'goal_closed' })
})

t.test('a change that looked at another revision is a conflict', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { goal_id: goalId } = await addGoal(bench.gov, session, 'One')
  const stale = { goalId, title: 'Two', expectedRevision: 2 }
  await t.rejects(updateGoal(bench.gov, session, stale), {
    kind: 'conflict', code: 'stale_goal_revision', details: { revision: 1 },
  })
  t.hasStrict(
    await updateGoal(bench.gov, session, { ...stale, expectedRevision: 1 }), { revision: 2 }
  )
})

t.test('a title is one line of 1 to 200 characters', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const { goal_id: goalId } = await addGoal(bench.gov, session, 'One')
  const wrong = ['', '   ', 'two\nlines', 'bell\u0007', 'x'.repeat(201), '\ud800', 'a\u2028b']
  const refused = { kind: 'rejected', code: 'goal_title' }
  for (const title of wrong) {
    await t.rejects(async () => addGoal(bench.gov, session, title), refused)
    await t.rejects(async () => updateGoal(bench.gov, session, { goalId, title }), refused)
  }
  t.hasStrict(requireOwnGoal(bench.view(), session, goalId), { title: 'One', revision: 1 })
  t.equal((await addGoal(bench.gov, session, '😀'.repeat(200))).revision, 1)
})

t.test('a foreign goal is as absent as a missing one', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const { goal_id: goalId } = await addGoal(bench.gov, ada.session, 'Mine')
  const errorOf = (id: string): unknown => {
    try {
      return requireOwnGoal(bench.view(), bob.session, id)
    } catch (error) {
      const { kind, code, message } = error as Record<string, unknown>
      return { kind, code, message }
    }
  }
  t.strictSame(errorOf(goalId), errorOf('goal_x'))
  await t.rejects(closeGoal(bench.gov, bob.session, { goalId }), { code: 'goal_not_found' })
  await t.rejects(updateGoal(bench.gov, bob.session, { goalId, title: 'His' }), {
    code: 'goal_not_found',
  })
  t.strictSame(listGoals(bench.view(), bob.session).map(({ title }) => title), ['General'])
  t.strictSame(listGoals(bench.view(), ada.session).map(({ title }) => title), ['General', 'Mine'])
})

t.test('an ended session changes no goal', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session, token } = await signIn(bench)
  const { goal_id: goalId } = await addGoal(bench.gov, session, 'Mine')
  await logout(bench.gov, token)
  for (const act of [
    () => addGoal(bench.gov, session, 'Other'),
    () => updateGoal(bench.gov, session, { goalId, title: 'Other' }),
    () => closeGoal(bench.gov, session, { goalId }),
  ]) {
    await t.rejects(act(), { kind: 'unauthorized', code: 'session_ended' })
  }
})
