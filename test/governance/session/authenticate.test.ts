import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { collections } from '../../../src/governance/rows.js'
import { authenticate } from '../../../src/governance/session/authenticate.js'
import { readLastUse } from '../../../src/governance/session/last-use.js'
import {
  clockStepBackMsMax, liveRoot, requireRootRow, sessionFacts,
} from '../../../src/governance/session/live.js'
import { newToken } from '../../../src/governance/session/token.js'
import { hour, minute } from '../../support/clock.js'
import { codeOf } from '../../support/refused.js'
import { signIn } from '../../support/tasks.js'
import { World } from '../../world/world.js'

t.test('without a valid token nobody is authenticated', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  await signIn(bench)
  for (const none of [null, undefined, '']) {
    const code = 'session_required'
    t.throws(() => authenticate(bench.gov, none), { kind: 'unauthorized', code })
  }
  for (const wrong of [newToken(), 'x', '../../session', ' '.repeat(43)]) {
    const code = 'session_invalid'
    t.throws(() => authenticate(bench.gov, wrong), { kind: 'unauthorized', code })
  }
})

t.test('a token opens the session of its own root only', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const first = await signIn(bench)
  const second = await signIn(bench)
  t.not(first.session.root.root_id, second.session.root.root_id)
  t.equal(authenticate(bench.gov, first.token).root.root_id, first.session.root.root_id)
  t.equal(authenticate(bench.gov, second.token).root.root_id, second.session.root.root_id)
  t.equal(authenticate(bench.gov, first.token).principal.name, 'ada')
})

t.test('an idle session ends, and a use within the time keeps it', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { token } = await signIn(bench)
  bench.clock.advance(30 * minute - 1)
  t.doesNotThrow(() => authenticate(bench.gov, token))
  bench.clock.advance(30 * minute - 1)
  t.doesNotThrow(() => authenticate(bench.gov, token))
  bench.clock.advance(30 * minute)
  t.throws(() => authenticate(bench.gov, token), { code: 'session_idle' })
})

t.test('a session never lives past its absolute expiry, however much it is used', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { token } = await signIn(bench, 'ada', { ttlMs: hour })
  for (const use of [1, 2, 3, 4, 5]) {
    bench.clock.advance(10 * minute)
    t.doesNotThrow(() => authenticate(bench.gov, token), `use ${use}`)
  }
  bench.clock.advance(10 * minute - 1)
  t.doesNotThrow(() => authenticate(bench.gov, token))
  bench.clock.advance(1)
  t.throws(() => authenticate(bench.gov, token), { code: 'session_expired' })
})

t.test('uses write no record, and looking without touching does not count as a use', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { token, session } = await signIn(bench)
  const { sequence } = bench.view()
  const before = readLastUse(bench.gov.store.dir, session.root.root_id)
  bench.clock.advance(minute)
  authenticate(bench.gov, token, { touch: false })
  t.equal(readLastUse(bench.gov.store.dir, session.root.root_id), before)
  authenticate(bench.gov, token)
  t.equal(readLastUse(bench.gov.store.dir, session.root.root_id), bench.clock.wallMs())
  t.equal(bench.view().sequence, sequence)
})

t.test('a clock that steps back a little does not lengthen a session', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { token } = await signIn(bench, 'ada', { ttlMs: hour })
  bench.clock.advance(20 * minute)
  authenticate(bench.gov, token)
  bench.clock.advance(20 * minute)
  authenticate(bench.gov, token)
  bench.clock.advance(20 * minute - 1)
  authenticate(bench.gov, token)
  bench.clock.stepWall(-clockStepBackMsMax)
  t.doesNotThrow(() => authenticate(bench.gov, token), 'the newest use counts as now')
  bench.clock.advance(clockStepBackMsMax + 1)
  t.throws(() => authenticate(bench.gov, token), { code: 'session_expired' })
})

t.test('a clock that steps back a lot refuses the session and never moves its last use back', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { token, session } = await signIn(bench)
  bench.clock.advance(10 * minute)
  authenticate(bench.gov, token)
  const used = readLastUse(bench.gov.store.dir, session.root.root_id)
  bench.clock.stepWall(-clockStepBackMsMax)
  authenticate(bench.gov, token)
  t.equal(readLastUse(bench.gov.store.dir, session.root.root_id), used)
  bench.clock.stepWall(-1)
  t.throws(() => authenticate(bench.gov, token), {
    kind: 'unauthorized', code: 'session_clock_stepped_back',
  })
})

t.test('a lost or damaged last use shortens a session and never lengthens it', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { token, session } = await signIn(bench)
  const file = join(bench.gov.store.dir, 'run', 'sessions', session.root.root_id)
  t.equal(readFileSync(file, 'utf8'), `${bench.clock.wallMs()}\n`)
  bench.clock.advance(20 * minute)
  authenticate(bench.gov, token)
  bench.clock.advance(20 * minute)
  for (const damage of ['', '17', '99999999999999999999\n', 'x\n']) {
    writeFileSync(file, damage)
    t.throws(() => authenticate(bench.gov, token), { code: 'session_idle' })
  }
  rmSync(file)
  t.throws(() => authenticate(bench.gov, token), { code: 'session_idle' })
})

t.test('a last use that lies past the expiry is no way past it', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { token, session: { root } } = await signIn(bench, 'ada', { ttlMs: minute })
  bench.clock.advance(minute - 1)
  t.doesNotThrow(() => authenticate(bench.gov, token))
  const file = join(bench.gov.store.dir, 'run', 'sessions', root.root_id)
  writeFileSync(file, `${Date.parse(root.expires_at)}\n`)
  t.throws(() => authenticate(bench.gov, token), { code: 'session_expired' })
})

t.test('a session whose owner is disabled is dead, though nothing has ended it', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { token, session: { principal } } = await signIn(bench)
  await bench.transact((tx, now) =>
    tx.put(collections.principals, principal.principal_id, { ...principal, disabled_at: now }))
  t.throws(() => authenticate(bench.gov, token), { code: 'principal_disabled' })
})

t.test('requireRootRow looks at rows, liveRoot also at idleness', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const id = session.root.root_id
  bench.clock.advance(hour)
  const now = new Date(bench.clock.wallMs()).toISOString()
  t.doesNotThrow(() => requireRootRow(bench.view(), now, id))
  t.throws(() => liveRoot(bench.view(), bench.gov, id), { code: 'session_idle' })
  const place = { dir: bench.gov.store.dir, clock: bench.clock }
  t.throws(() => liveRoot(bench.view(), place, id), { code: 'session_idle' })
  t.throws(() => liveRoot(bench.view(), bench.gov, 'root_x'), { code: 'session_invalid' })
})

t.test('what is shown of a session never says more than its expiry allows', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session, token } = await signIn(bench)
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: -90_000, max: 25 * minute })), async (steps) => {
      const start = bench.clock.wallMs()
      for (const step of steps) {
        bench.clock.stepWall(step)
        const root = bench.view().get(collections.roots, session.root.root_id)!
        const facts = sessionFacts(bench.view(), bench.gov, root)
        t.ok(Date.parse(facts.idle_expires_at) <= Date.parse(facts.expires_at))
        t.equal(facts.expires_at, session.root.expires_at)
        const told = codeOf(() => authenticate(bench.gov, token))
        t.ok(['none', 'session_idle', 'session_expired', 'session_clock_stepped_back']
          .includes(told), told)
        t.equal(told === 'none', facts.live)
        if (bench.clock.wallMs() >= Date.parse(root.expires_at)) t.equal(told, 'session_expired')
      }
      bench.clock.stepWall(start - bench.clock.wallMs())
    }),
    { numRuns: 25, seed: 7 },
  )
})
