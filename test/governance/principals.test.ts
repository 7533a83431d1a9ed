import { enablePrincipal } from '../../src/governance/enable.js'
import { defaultGoal } from '../../src/governance/goals.js'
import { hashPassphrase, verifyPassphrase } from '../../src/governance/passphrase.js'
import {
  addPrincipal, defaultPrincipal, listPrincipals, principalFacts, verifyPrincipals,
} from '../../src/governance/principals.js'
import { collections, type Principal } from '../../src/governance/rows.js'
import { authenticate } from '../../src/governance/session/authenticate.js'
import { disablePrincipal } from '../../src/governance/stops/people.js'
import { addAndSignIn, signIn } from '../support/tasks.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

t.test('an added owner has a default goal of its own and a salted hash, never the passphrase', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const passphrase = 'correct horse battery'
  const { principal, goal } = await addPrincipal(bench.gov, session, { name: 'bob', passphrase })
  t.strictSame(defaultGoal(bench.view(), principal.principal_id), goal)
  t.not(goal.goal_id, defaultGoal(bench.view(), session.principal.principal_id).goal_id)
  t.notOk(JSON.stringify(bench.view().all(collections.principals)).includes(passphrase))
  const again = await addPrincipal(bench.gov, session, { name: 'eve', passphrase })
  t.not(again.principal.passphrase?.hash, principal.passphrase?.hash)
  t.strictSame(Object.keys(principalFacts(principal)).sort(), [
    'created_at', 'disabled_at', 'disabled_for_good', 'has_passphrase', 'id', 'name',
  ])
})

t.test('the default principal is the owner whom init made, whoever comes and goes', async (t) => {
  const world = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(world)
  const { session: bob } = await addAndSignIn(world, session, 'bob')
  t.equal(defaultPrincipal(world.view()).name, 'ada')
  await disablePrincipal(world.gov, bob, 'ada')
  t.matchStrict(defaultPrincipal(world.view()), { name: 'ada', disabled_at: String })
  t.strictSame(verifyPrincipals(world.view()), [])
  const { principal_id: id } = bob.principal
  await world.transact((tx) => tx.put(collections.defaults, 'the', { principal_id: id }))
  t.equal(defaultPrincipal(world.view()).name, 'bob', 'the row says it, not the age')
  await world.transact((tx) => tx.put(collections.defaults, 'the', { principal_id: 'prn_x' }))
  t.hasStrict(verifyPrincipals(world.view()), [{ code: 'default_principal_missing' }])
  t.throws(() => defaultPrincipal(world.view()), {
    kind: 'damaged', code: 'default_principal_missing',
  })
})

t.test('names have one form and are unique whatever their letter case', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  for (const name of ['', '-x', 'a b', 'é', 'a'.repeat(65), 'a/b', '../x', 'a\n']) {
    await t.rejects(addPrincipal(bench.gov, session, { name }), {
      kind: 'rejected', code: 'principal_name',
    })
  }
  for (const name of ['ada', 'ADA']) {
    await t.rejects(addPrincipal(bench.gov, session, { name }), {
      kind: 'conflict', code: 'principal_exists',
    })
  }
  await t.resolves(addPrincipal(bench.gov, session, { name: 'a'.repeat(64) }))
  t.equal(listPrincipals(bench.view()).length, 2)
})

t.test('a passphrase has 8 to 1024 bytes, counted as UTF-8', async (t) => {
  for (const wrong of ['', 'seven77', 'x'.repeat(1025), 'é'.repeat(513)]) {
    await t.rejects(hashPassphrase(wrong), { kind: 'rejected', code: 'passphrase_length' })
  }
  await t.resolves(hashPassphrase('éééé'))
  await t.resolves(hashPassphrase(Buffer.alloc(1024, 1)))
})

t.test('a passphrase is compared byte by byte', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const { session } = await signIn(bench)
  const request = { name: 'bob', passphrase: 'correct horse' }
  const { principal } = await addPrincipal(bench.gov, session, request)
  t.ok(await verifyPassphrase(principal, 'correct horse'))
  t.ok(await verifyPassphrase(principal, Buffer.from('correct horse')))
  for (const wrong of ['correct horse\n', 'Correct horse', '', undefined]) {
    t.notOk(await verifyPassphrase(principal, wrong))
  }
  t.notOk(await verifyPassphrase(undefined, 'correct horse'))
})

t.test('a stored passphrase that would exhaust the machine is damage', async (t) => {
  const salt = Buffer.alloc(16).toString('base64url')
  const passphrase = { kdf: 'scrypt', n: 2 ** 24, r: 8, p: 1, salt, hash: salt } as const
  const principal: Principal = {
    principal_id: 'prn_1', name: 'bob', passphrase, created_at: '', disabled_at: null,
  }
  await t.rejects(verifyPassphrase(principal, 'correct horse'), {
    kind: 'damaged', code: 'principal_damaged',
  })
})

t.test('disabling an owner ends its sessions and keeps the last owner', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  await t.rejects(disablePrincipal(bench.gov, ada.session, 'ada'), {
    kind: 'conflict', code: 'last_principal',
  })
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  const done = await disablePrincipal(bench.gov, ada.session, 'bob')
  t.matchStrict(done, { sessions_ended: 1, principal: { name: 'bob', disabled_at: /^2026/ } })
  t.throws(() => authenticate(bench.gov, bob.token), {
    kind: 'unauthorized', code: 'session_ended',
  })
  t.hasStrict(await disablePrincipal(bench.gov, ada.session, 'bob'), { sessions_ended: 0 })
  await t.rejects(disablePrincipal(bench.gov, ada.session, 'nobody'), {
    code: 'principal_not_found',
  })
  await t.rejects(disablePrincipal(bench.gov, ada.session, 'ada'), { code: 'last_principal' })
})

t.test('an ended session adds, disables and enables nobody', async (t) => {
  const bench = await World.still(t).state({ owner: 'ada' })
  const ada = await signIn(bench)
  const bob = await addAndSignIn(bench, ada.session, 'bob')
  await disablePrincipal(bench.gov, ada.session, 'bob')
  await t.rejects(addPrincipal(bench.gov, bob.session, { name: 'eve' }), {
    kind: 'unauthorized', code: 'session_ended',
  })
  await t.rejects(disablePrincipal(bench.gov, bob.session, 'ada'), {
    kind: 'unauthorized', code: 'session_ended',
  })
  const { principal: { principal_id: id } } = bob.session
  await bench.transact((tx, now) => tx.put(collections.principals, id, {
    ...bob.session.principal, disabled_at: now, disabled_by_restore: true,
  }))
  await t.rejects(enablePrincipal(bench.gov, bob.session, 'bob'), {
    kind: 'unauthorized', code: 'session_ended',
  })
  t.type(bench.view().get(collections.principals, id)?.disabled_at, 'string')
  t.equal(listPrincipals(bench.view()).length, 2)
})
