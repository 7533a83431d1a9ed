/** Sessions that rows name outlive the sweep at login; all others go after thirty days. */
import t from 'tap'
import { verifyBoard } from '../../../src/governance/board/verify-board.js'
import { admitTask } from '../../../src/governance/board/admit.js'
import { collections } from '../../../src/governance/rows.js'
import { rootKeepMs } from '../../../src/governance/session/end.js'
import { listSessions } from '../../../src/governance/session/end.js'
import { hour } from '../../support/clock.js'
import { admissionOf, signIn } from '../../support/tasks.js'
import { World } from '../../world/world.js'

t.test('the sweep at login removes sessions that nothing names, keeps the rows of those that a task '
  + 'names, or may name, and lists neither', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const plain = (await signIn(world)).session
  const named = (await signIn(world)).session
  const unknown = (await signIn(world)).session
  await world.transact((tx, now) => {
    admitTask(tx, now, admissionOf(world, tx, now, named))
    const row = tx.get(collections.roots, unknown.root.root_id)
    if (row === undefined) throw new Error('no such session')
    const earlier = Object.entries(row).filter(([name]) => name !== 'named')
    tx.put(collections.roots, row.root_id, Object.fromEntries(earlier) as typeof row)
  })
  t.strictSame([plain, named].map(({ root: { root_id: id } }) =>
    world.view().get(collections.roots, id)?.named), [false, true])
  world.clock.advance(rootKeepMs + 9 * hour)
  const fresh = (await signIn(world)).session
  const view = world.view()
  t.strictSame(view.all(collections.roots).map(({ id }) => id), [fresh.root.root_id])
  t.strictSame(view.all(collections.pastRoots).map(({ id }) => id),
    [named.root.root_id, unknown.root.root_id].sort())
  t.equal(listSessions(world.gov, view, fresh, { all: true }).length, 1)
  t.strictSame(verifyBoard(view), [])
})

t.test('state check tells of a session that a task names and that does not say so', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session: { root } } = await signIn(world)
  const session = (await signIn(world)).session
  await world.transact((tx, now) => admitTask(tx, now, admissionOf(world, tx, now, session)))
  t.strictSame(verifyBoard(world.view()), [])
  await world.transact((tx) =>
    tx.put(collections.roots, session.root.root_id, { ...session.root, named: false }))
  t.strictSame(verifyBoard(world.view()).map(({ code, subject }) => [code, subject]),
    [['root_named_unnoted', session.root.root_id]])
  t.not(session.root.root_id, root.root_id)
})
