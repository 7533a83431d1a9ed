import { createHmac } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { listAudit } from '../../../src/governance/audit.js'
import { addPrincipal } from '../../../src/governance/principals.js'
import { stopsRecorded } from '../../../src/governance/stops/recent.js'
import { disablePrincipal } from '../../../src/governance/stops/people.js'
import { collections } from '../../../src/governance/rows.js'
import { authenticate } from '../../../src/governance/session/authenticate.js'
import { rootKeepMs } from '../../../src/governance/session/end.js'
import { login } from '../../../src/governance/session/login.js'
import { saveToken, tokenPath } from '../../../src/governance/session/token.js'
import { hour, minute } from '../../support/clock.js'
import { signIn } from '../../support/tasks.js'
import { t } from '../../support/tests-in-slices.js'
import { World } from '../../world/world.js'

const usual = { idleMs: 30 * minute, ttlMs: 8 * hour }

const filesUnder = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

t.test('a login makes a root whose row holds no token', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { root, token } = await login(bench.gov, usual)
  t.match(token, /^[A-Za-z0-9_-]{43}$/)
  t.equal(Buffer.from(token, 'base64url').length, 32)
  const row = bench.view().get(collections.roots, root.root_id)
  t.strictSame(row, root)
  t.equal(Date.parse(root.expires_at) - Date.parse(root.issued_at), 8 * hour)
  t.notOk(JSON.stringify(row).includes(token))
  t.not(row?.token_digest, createHmac('sha256', '').update(token).digest('hex'))
})

t.test('the token lies in no file but the one it is saved to', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { token } = await signIn(bench)
  const dir = bench.gov.store.dir
  const holds = (): string[] => filesUnder(dir).filter((f) => readFileSync(f).includes(token))
  t.strictSame(holds(), [])
  saveToken(tokenPath(dir), token)
  t.strictSame(holds(), [tokenPath(dir)])
  t.equal(statSync(tokenPath(dir)).mode & 0o777, 0o600)
})

t.test('a second login ends no session, and one with replace ends the others of its owner', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const first = await signIn(bench)
  const second = await signIn(bench)
  t.equal(authenticate(bench.gov, first.token).root.root_id, first.session.root.root_id)
  await addPrincipal(bench.gov, first.session, { name: 'bob' })
  const bob = await signIn(bench, 'bob')
  const third = await signIn(bench, 'ada', { replace: true })
  for (const gone of [first, second]) {
    t.throws(() => authenticate(bench.gov, gone.token), {
      kind: 'unauthorized', code: 'session_ended', reason: 'replaced',
    })
  }
  t.doesNotThrow(() => authenticate(bench.gov, third.token))
  t.doesNotThrow(() => authenticate(bench.gov, bob.token), 'another owner keeps its session')
})

t.test('sessions that were over already are no stops for what is leaving when a login replaces them', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  for (let n = 0; n < 3; n += 1) await signIn(bench)
  bench.clock.advance(9 * hour)
  await signIn(bench)
  t.equal(bench.view().all(collections.roots).length, 4)
  const before = stopsRecorded(bench.view())
  await signIn(bench, 'ada', { replace: true })
  t.equal(stopsRecorded(bench.view()) - before, 1, 'the one that was not over')
})

t.test('a wrong passphrase, an unknown owner and a disabled owner give the same error', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  await addPrincipal(bench.gov, session, { name: 'bob', passphrase: 'correct horse' })
  await addPrincipal(bench.gov, session, { name: 'eve', passphrase: 'correct horse' })
  await disablePrincipal(bench.gov, session, 'eve')
  const errorOf = async (owner: string, passphrase?: string): Promise<unknown> => {
    try {
      await login(bench.gov, { ...usual, owner, passphrase })
    } catch (error) {
      const { kind, code, message, next, details } = error as Record<string, unknown>
      return { kind, code, message, next, details }
    }
    return 'logged in'
  }
  const wrong = await errorOf('bob', 'wrong horse')
  t.hasStrict(wrong, { kind: 'unauthorized', code: 'login_refused' })
  t.strictSame(await errorOf('nobody', 'correct horse'), wrong)
  t.strictSame(await errorOf('eve', 'correct horse'), wrong)
  t.strictSame(await errorOf('bob'), wrong, 'a passphrase cannot be left out')
  t.strictSame(await errorOf('ada', 'anything at all'), wrong, 'nor made up')
  t.equal(await errorOf('bob', 'correct horse'), 'logged in')
})

t.test('refused and accepted logins are audited', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  await t.rejects(login(bench.gov, { ...usual, owner: 'nobody', passphrase: 'secret words' }),
    { code: 'login_refused' })
  const { session } = await signIn(bench)
  const rows = listAudit(bench.view())
  t.hasStrict(rows.at(-2), { what: 'session.login_refused', principal: null, subject: null })
  t.hasStrict(rows.at(-1), { what: 'session.login', subject: session.root.root_id })
  t.notOk(JSON.stringify(rows).includes('secret words'))
  t.notOk(JSON.stringify(rows).includes('nobody'))
})

t.test('the owner may be left out only where there is one', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { root } = await login(bench.gov, usual)
  const session = { root, principal: bench.view().all(collections.principals)[0]!.doc }
  await addPrincipal(bench.gov, session, { name: 'bob' })
  await t.rejects(login(bench.gov, usual), { kind: 'usage', code: 'owner_required' })
  await disablePrincipal(bench.gov, session, 'bob')
  await t.resolves(login(bench.gov, usual))
})

t.test('idle time and life have bounds', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  for (const idleMs of [0, 999, 24 * hour + 1, 1.5, Number.NaN]) {
    const code = 'session_idle_out_of_range'
    await t.rejects(login(bench.gov, { ...usual, idleMs }), { kind: 'rejected', code })
  }
  for (const ttlMs of [0, 999, 7 * 24 * hour + 1, Infinity]) {
    const code = 'session_ttl_out_of_range'
    await t.rejects(login(bench.gov, { ...usual, ttlMs }), { kind: 'rejected', code })
  }
  t.strictSame(bench.view().all(collections.roots), [])
})

t.test('rows of roots that were over long ago are dropped at a login', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const old = await signIn(bench)
  bench.clock.advance(8 * hour + rootKeepMs)
  await signIn(bench)
  t.ok(bench.view().get(collections.roots, old.session.root.root_id), 'kept up to the limit')
  bench.clock.advance(1)
  await signIn(bench)
  t.equal(bench.view().get(collections.roots, old.session.root.root_id), undefined)
})

t.test('an owner disabled while its passphrase is checked does not get in', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  await addPrincipal(bench.gov, session, { name: 'bob', passphrase: 'correct horse' })
  const late = login(bench.gov, { ...usual, owner: 'bob', passphrase: 'correct horse' })
  const race = await Promise.allSettled([late, disablePrincipal(bench.gov, session, 'bob')])
  t.hasStrict(race[0], { status: 'rejected', reason: { code: 'login_refused' } })
})
