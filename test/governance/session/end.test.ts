import { existsSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { collections } from '../../../src/governance/rows.js'
import { authenticate } from '../../../src/governance/session/authenticate.js'
import { listSessions } from '../../../src/governance/session/end.js'
import { logout, revokeSession } from '../../../src/governance/stops/people.js'
import { newToken } from '../../../src/governance/session/token.js'
import { kernelStateLock } from '../../../src/state/lock.js'
import { hour } from '../../support/clock.js'
import { addAndSignIn, signIn } from '../../support/tasks.js'
import { isOverAPlace } from '../../support/place/over-a-place.js'
import { World } from '../../world/world.js'

t.test('logout ends its own session, once, and keeps the others', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const first = await signIn(bench)
  const second = await signIn(bench)
  const file = join(bench.gov.store.dir, 'run', 'sessions', first.session.root.root_id)
  t.ok(existsSync(file))
  t.hasStrict(await logout(bench.gov, first.token), { ended: true })
  t.notOk(existsSync(file))
  t.throws(() => authenticate(bench.gov, first.token), {
    code: 'session_ended', reason: 'logout',
  })
  t.doesNotThrow(() => authenticate(bench.gov, second.token))
  const { sequence } = bench.view()
  t.hasStrict(await logout(bench.gov, first.token), { ended: false })
  t.strictSame(await logout(bench.gov, newToken()), { ended: false, rootId: null, recorded: null })
  t.equal(bench.view().sequence, sequence, 'nothing to do writes nothing')
})

t.test('an idle session can still be logged out', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { token, session } = await signIn(bench)
  bench.clock.advance(hour)
  t.hasStrict(await logout(bench.gov, token), { ended: true })
  t.hasStrict(
    bench.view().get(collections.roots, session.root.root_id)?.ended, { reason: 'logout' }
  )
})

t.test('a list shows the own sessions, or everybody’s when asked, and no token', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const own = listSessions(bench.gov, bench.view(), ada.session)
  t.hasStrict(own, [{ id: ada.session.root.root_id, principal: 'ada', live: true, ended_at: null }])
  const all = listSessions(bench.gov, bench.view(), ada.session, { all: true })
  t.strictSame(all.map(({ principal }) => principal), ['bob', 'ada'])
  const text = JSON.stringify(all)
  for (const { token, session } of [ada, bob]) {
    t.notOk(text.includes(token))
    t.notOk(text.includes(session.root.token_digest))
  }
})

t.test('a revoke that the state takes no record of is in force, and told so', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const id = bob.session.root.root_id
  const lock = kernelStateLock(join(bench.place.stateDir, 'lock'), bench.clock)
  t.teardown(() => lock.close())
  t.ok(lock.tryTake('another'))
  const done = await revokeSession(bench.gov, ada.session, id)
  // Over a place the record was placed, and its directory has not taken it in.
  const code = isOverAPlace() ? 'commit_unknown' : 'lock_held'
  t.hasStrict(done, { ended: true, recorded: { row: null, why: { code } } })
  t.hasStrict(done.session, { id, live: false, ended_reason: 'revoked' })
  t.throws(() => authenticate(bench.gov, bob.token), {
    code: 'session_ended', reason: 'session_ended',
  })
})

t.test('live sessions of everybody are listed newest first, and a part of them is of the newest', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const again = await signIn(bench)
  const ids = [again, bob, ada].map(({ session }) => session.root.root_id)
  const list = (limit?: number) =>
    listSessions(bench.gov, bench.view(), ada.session, { all: true, live: true, limit })
      .map(({ id }) => id)
  t.strictSame(list(), ids)
  t.strictSame(list(2), ids.slice(0, 2))
  await revokeSession(bench.gov, ada.session, again.session.root.root_id)
  t.strictSame(list(2), ids.slice(1))
})

t.test('any operator may revoke any session, which is then refused at once', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const id = ada.session.root.root_id
  const done = await revokeSession(bench.gov, bob.session, id)
  t.hasStrict(done, { ended: true, session: { id, live: false, ended_reason: 'revoked' } })
  t.throws(() => authenticate(bench.gov, ada.token), { code: 'session_ended' })
  t.hasStrict(await revokeSession(bench.gov, bob.session, id), { ended: false })
  await t.rejects(revokeSession(bench.gov, bob.session, 'root_x'), {
    code: 'session_not_found',
  })
})

t.test('a session that has ended revokes nothing', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const first = await signIn(bench)
  const second = await signIn(bench)
  await logout(bench.gov, first.token)
  await t.rejects(revokeSession(bench.gov, first.session, second.session.root.root_id), {
    kind: 'unauthorized', code: 'session_ended',
  })
  t.doesNotThrow(() => authenticate(bench.gov, second.token))
})
