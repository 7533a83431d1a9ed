/** A short id leads to the one row of its owner that it fits, or to a refusal; never to another. */
import t, { type Test } from 'tap'
import fc from 'fast-check'
import { SallyportError } from '../../src/base/errors.js'
import { tailOf, type IdPrefix } from '../../src/base/ids.js'
import { connectionIds, goalIds, operationIds, sessionIds, taskIds }
  from '../../src/governance/own-ids.js'
import { collections, type Reservation } from '../../src/governance/rows.js'
import type { Session } from '../../src/governance/context.js'
import { requireWholeId, wholeId, type IdKind } from '../../src/governance/short-ids.js'
import { jobIds } from '../../src/codehost/own-ids.js'
import { deviceIds } from '../../src/edge/own-ids.js'
import { namedObservationIds, observationIds } from '../../src/shots/own-ids.js'
import type { View } from '../../src/state/types.js'
import { addAndSignIn, admit, signIn } from '../support/tasks.js'
import { casesOf } from '../support/for-all.js'
import { World } from '../world/world.js'

/** Few digits in few places, so that beginnings and ends are shared. */
const digits = (length: number) => fc.array(fc.constantFrom('0', 'a'), {
  minLength: length, maxLength: length,
}).map((all) => all.join(''))

const uuids = fc.tuple(digits(2), digits(1), digits(3)).map(([first, middle, last]) =>
  `0190${first}00-0000-7000-8000-000${middle}00000${last}`)

const idsOf = (prefix: IdPrefix) => fc.uniqueArray(
  uuids.map((uuid) => `${prefix}_${uuid}`), { minLength: 1, maxLength: 12 })

/** What a person might type for an id: so much of its beginning, or of its end. */
const typed = fc.record({ at: fc.nat(11), length: fc.integer({ min: 1, max: 36 }) })

const answered = (
  view: View, session: Session | null, kind: IdKind, given: string,
): string | { readonly ambiguous: number } => {
  try {
    return wholeId(view, session, kind, given, 'goal')
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'id_ambiguous') {
      if (`${error.message} ${error.next}`.includes(given)) t.fail('the input is quoted')
      return { ambiguous: Number(error.details['digits']) }
    }
    throw error
  }
}

/** The end of an id that has so many digits. */
const endOf = (id: string, count: number): string => {
  for (let at = id.length - 1, left = count; at >= 0; at -= 1) {
    if (id[at] !== '-' && (left -= 1) === 0) return id.slice(at)
  }
  return id
}

const fits = (id: string, given: string): boolean =>
  id.startsWith(given)
  || (tailOf(id) !== null && /[0-9a-f]{8}$/.test(given) && id.endsWith(given.replace(/^goal_/, '')))

const world = async (test: Test) => {
  const at = await World.still(test).state({ owner: 'ada' })
  const ada = (await signIn(at)).session
  const bob = (await addAndSignIn(at, ada, 'bob')).session
  return { at, ada, bob }
}

t.test('a short id leads to the one row of its owner that it fits or is told ambiguous, whatever others have', async (t) => {
  const { at, ada, bob } = await world(t)
  const [row] = at.view().all(collections.goals)
  if (row === undefined) throw new Error('no goal')
  const of = (session: Session) => session.principal.principal_id
  let [led, told, absent] = [0, 0, 0]
  await fc.assert(fc.asyncProperty(
    idsOf('goal'), fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    fc.array(fc.record({ way: fc.constantFrom('begins', 'ends', 'bare'), typed }), {
      minLength: 30, maxLength: 30,
    }),
    async (ids, owned, asked) => {
      await at.transact((tx) => {
        for (const { id } of tx.all(collections.goals)) tx.remove(collections.goals, id)
        ids.forEach((id, n) => tx.put(collections.goals, id, {
          ...row.doc, goal_id: id, owner: of(owned[n] === true ? ada : bob), is_default: false,
        }))
      })
      const view = at.view()
      const own = ids.filter((_, n) => owned[n] === true)
      for (const { way, typed: { at: n, length } } of asked) {
        const id = ids[n % ids.length] as string
        const given = way === 'begins' ? id.slice(0, 'goal_'.length + length)
          : `${way === 'ends' ? 'goal_' : ''}${id.slice(-length)}`
        const due = given === id ? [id] : own.filter((one) => fits(one, given))
        const found = answered(view, ada, goalIds, given)
        if (due.length === 0) {
          absent += 1
          t.equal(found, given, 'what is not there, and what is another’s, stays as it is')
        } else if (due.length === 1) {
          led += 1
          t.equal(found, due[0])
        } else {
          told += 1
          const { ambiguous } = typeof found === 'string' ? { ambiguous: 0 } : found
          t.strictSame(due.map((one) => answered(view, ada, goalIds, endOf(one, ambiguous))), due,
            'so many last digits name each of them')
        }
      }
    }), { numRuns: 40, seed: 11 })
  const each = casesOf(50)
  t.ok(led > each && told > each && absent > each, `${led} found, ${told} ambiguous, ${absent} absent`)
})

t.test('a whole id, a path and another word are no short ids; a beginning alone needs its type', async (t) => {
  const { at, ada } = await world(t)
  const whole = 'goal_01900000-0000-7000-8000-000000000001'
  for (const given of [
    whole, 'goal_', 'goal', '', 'task_00000001', '0190', 'GOAL_01900000', 'goal_019z',
    'op_unread-1', './shot.png', `${whole}0`, `goal_${'0'.repeat(37)}`,
  ]) {
    t.equal(wholeId(at.view(), ada, goalIds, given, 'goal'), given)
  }
  const named = 'obs_00000001'
  t.doesNotThrow(() => requireWholeId(namedObservationIds, '00000001', 'target'),
    'a file may have such a name')
  t.throws(() => requireWholeId(namedObservationIds, named, 'target'), { code: 'whole_id_needed' })
  t.throws(() => requireWholeId(observationIds, '00000001', 'id'), { code: 'whole_id_needed' })
  t.doesNotThrow(() => requireWholeId(goalIds, whole, 'goal'))
})

t.test('a task and its operation are found by their ends and beginnings, by their owner alone, wherever they lie', async (t) => {
  const { at, ada, bob } = await world(t)
  const { task } = await admit(at, ada)
  const op = task.operation_id
  const shown = (session: Session, kind: IdKind, given: string) =>
    wholeId(at.view(), session, kind, given, 'it')
  const id = task.task_id
  const forms = [id.slice(-8), `task_${id.slice(-8)}`, id.slice(-13), id.slice(0, -1)]
  for (const form of forms) {
    t.equal(shown(ada, taskIds, form), id)
    t.equal(shown(bob, taskIds, form), form)
  }
  await at.transact((tx) => {
    tx.remove(collections.openTasks, id)
    tx.put(collections.closedTasks, id, { ...task, state: 'succeeded' })
  })
  for (const form of forms) t.equal(shown(ada, taskIds, form), id, 'closed')
  t.equal(shown(ada, operationIds, op.slice(-8)), op.slice(-8), 'nothing is reserved for it')
  const owner = ada.principal.principal_id
  const reservation: Reservation = {
    operation_id: op, runtime: 'alpha_text', profile: 'p', task_id: id, principal: owner,
    bound_microusd: 1, state: 'unknown', charged_microusd: null, overrun: 'none', row_ids: [],
    updated_at: task.created_at,
  }
  await at.transact((tx) => {
    tx.put(collections.openReservations, op, reservation)
    tx.put(collections.ledgerRows, 'row_1', {
      row_id: 'row_1', ledger_id: 'led_1', operation_id: op, kind: 'reserve',
      runtime: 'alpha_text', profile: 'p', amount_microusd: 1, evidence: null,
      previous_row_id: null, created_at: task.created_at,
    })
  })
  for (const form of [op.slice(-8), `op_${op.slice(-8)}`, op.slice(0, -1)]) {
    t.equal(shown(ada, operationIds, form), op)
    t.equal(shown(bob, operationIds, form), form)
  }
  const adas = at.view().get(collections.principals, owner)
  if (adas === undefined) throw new Error('no owner')
  await at.transact((tx) => tx.put(collections.principals, owner, {
    ...adas, disabled_at: task.created_at,
  }))
  t.equal(shown(bob, operationIds, op.slice(-8)), op, 'whoever settles it for a disabled owner')
})

t.test('a session of another owner is no short id’s, and where nobody is logged in no owned row is', async (t) => {
  const { at, ada, bob } = await world(t)
  const mine = ada.root.root_id
  t.equal(wholeId(at.view(), ada, sessionIds, mine.slice(-8), 'session'), mine)
  for (const form of [mine.slice(-8), mine.slice(0, -1)]) {
    t.equal(wholeId(at.view(), bob, sessionIds, form, 'session'), form)
    const owned = [sessionIds, taskIds, operationIds, goalIds, jobIds, deviceIds, connectionIds]
    for (const kind of owned) {
      const given = form.replace(/^root/, kind.prefix)
      t.equal(wholeId(at.view(), null, kind, given, 'session'), given)
    }
  }
})
