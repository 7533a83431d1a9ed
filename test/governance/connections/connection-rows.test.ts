/** Connections in a state that is looked after: copied, restored, checked, stopped. */
import { join } from 'node:path'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { issueGrant } from '../../../src/governance/connections/save.js'
import { verifyConnections } from '../../../src/governance/connections/verify-connections.js'
import { policyHead } from '../../../src/governance/policy/head.js'
import { collections } from '../../../src/governance/rows.js'
import { newStop } from '../../../src/governance/stops/act.js'
import { putStop } from '../../../src/state/stop-folder.js'
import { kernelStateLock } from '../../../src/state/lock.js'
import { vaultDigest, vaultIdentity } from '../../../src/governance/vault.js'
import { connected } from '../../support/codehost/connected.js'
import { must } from '../../support/must.js'
import { takenBack } from '../../support/place/over-a-place.js'
import { t } from '../../support/tests-in-slices.js'
import { stopsDirOf } from '../../support/stops-dir.js'

t.test('C-016 a revoke that only its writer knew of is in force, ends no other route, and is recorded', async (t) => {
  const at = await connected(t)
  must(await at.consent())
  const { principal, root } = at.session()
  const by = { principal: principal.principal_id, root: root.root_id, verb: 'codehost revoke' }
  putStop(stopsDirOf(at.gov.store), newStop(at.clock, { kind: 'connection', target: at.id }, by))
  t.equal(await at.state(), 'revoked', 'before any record')
  t.equal((await at.json(['policy', 'show'])).block, null, 'nothing else is stopped')
  t.equal(at.row().consent?.ended, null)
  must(await at.run(['goal', 'add', 'a record']))
  t.hasStrict(at.row(), { consent: { ended: { as: 'revoked' } }, consent_fence: 1 })
  t.equal(await at.state(), 'revoked')
})

t.test('a revoke ends with its answer while the lock of the state is held by somebody else', async (t) => {
  const at = await connected(t)
  must(await at.consent())
  const lock = kernelStateLock(join(at.place.stateDir, 'lock'), at.clock)
  t.teardown(() => lock.close())
  t.ok(lock.tryTake('test'))
  const ran = must(await at.run(['codehost', 'revoke', at.id, '--json', '--wait', '0']))
  t.equal(ran.json().consent.state, 'revoked')
  t.equal(at.row().consent?.ended, null, 'no record was taken')
  lock.close()
  t.equal(await at.state(), 'revoked')
})

t.test('C-045 a copy that is put back revives no consent, and knows what was taken back', async (t) => {
  const at = await connected(t)
  must(await at.consent())
  const kept = join(at.place.dir, 'kept')
  must(await at.run(['state', 'backup', kept]))
  must(await at.run(['codehost', 'mode', at.id, 'reconcile_only']))
  await takenBack(at)
  must(await at.run(['state', 'restore', kept, '--yes']))
  must(await at.run(['login']))
  t.hasStrict(at.row(), { mode: 'reconcile_only', consent: { ended: { as: 'stopped' } } })
  t.equal(at.row().consent_fence, 1)
  t.equal(await at.state(), 'revoked', 'a restore revokes every route')
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('C-039 each of the five values makes another vault identity', async (t) => {
  const at = await connected(t)
  const ref = at.row().credential_ref
  const before = vaultDigest(at.view(), ref)
  t.hasStrict(vaultIdentity(at.view(), ref), {
    id: ref, owner: at.session().principal.principal_id, name: 'octo-org/hello', updates: 1,
  })
  const row = at.view().get(collections.credentials, ref)
  if (row === undefined) throw new Error('no credential')
  const digestWith = async (change: Partial<typeof row>): Promise<string | null> => {
    await at.transact((tx) => tx.put(collections.credentials, ref, { ...row, ...change }))
    return vaultDigest(at.gov.store.read(), ref)
  }
  for (const change of [
    { owner: 'prn_b' }, { name: 'o/other' }, { updates: 2 },
    { artifact: { ...row.artifact, stored_sha256: 'f'.repeat(64) } },
  ]) t.not(await digestWith(change), before, Object.keys(change).join())
  t.equal(await digestWith({}), before)
  const other = 'vault:connection_other'
  t.equal(vaultDigest(at.view(), other), null)
  await at.transact((tx) => tx.put(collections.credentials, other, { ...row }))
  t.not(vaultDigest(at.view(), other), before, 'the same under another reference')
  await at.transact((tx) => tx.remove(collections.credentials, other))
  await digestWith({})
  must(await at.run([
    'codehost', 'connect', '--connection', at.id, '--token-file', at.place.path('token'),
    '--expected-revision', '1',
  ]))
  t.equal(vaultIdentity(at.view(), ref)?.updates, 2, 'the same bytes again are a change')
})

t.test('C-162 the record of a consent refuses everybody but the default owner', async (t) => {
  const at = await connected(t)
  const file = at.place.write('bob', 'correct horse battery')
  must(await at.run(['principal', 'add', 'bob', '--passphrase-file', file]))
  must(await at.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  const { id } = must(await at.run([
    'codehost', 'connect', '--repo', 'octo-org/hello', '--token-file', at.place.path('token'),
    '--json',
  ])).json()
  const refused = await at.consent()
  t.strictSame([refused.status, refused.error().code], [4, 'not_default_principal'])
  const ref = at.view().get(connectionCollection, id)?.credential_ref ?? ''
  await t.rejects(at.transact((tx, now) => issueGrant(tx, now, at.session(), {
    connectionId: id, expectedRevision: 1, actions: ['issue.create'], durationMs: 60_000,
    statementSha256: 'a'.repeat(64), vaultDigest: vaultDigest(tx, ref) ?? '', repositoryId: 1,
    policyFence: policyHead(tx).fence, author: null,
  })), { kind: 'unauthorized', code: 'not_default_principal' })
  t.equal(at.view().get(connectionCollection, id)?.consent, null)
})

t.test('the record of a consent refuses another credential than the host was asked with', async (t) => {
  const at = await connected(t)
  await t.rejects(at.transact((tx, now) => issueGrant(tx, now, at.session(), {
    connectionId: at.id, expectedRevision: 1, actions: ['issue.create'], durationMs: 60_000,
    statementSha256: 'a'.repeat(64), vaultDigest: 'f'.repeat(64), repositoryId: 1,
    policyFence: policyHead(tx).fence, author: null,
  })), { kind: 'conflict', code: 'credential_changed' })
  t.equal(at.row().consent, null)
})

t.test('each contradiction of a connection is found', async (t) => {
  const at = await connected(t)
  must(await at.consent())
  const good = at.row()
  if (good.consent === null) throw new Error('no consent')
  const found = async (change: object): Promise<string[]> => {
    await at.transact((tx) => tx.put(connectionCollection, at.id, { ...good, ...change }))
    return verifyConnections(at.gov.store.read()).map(({ code }) => code)
  }
  t.strictSame(await found({}), [])
  for (const [change, code] of [
    [{ owner: 'prn_none' }, 'connection_owner'],
    [{ credential_ref: 'vault:alpha_api_key' }, 'connection_credential'],
    [{ consent: null }, 'connection_active'],
    [{ consent: { ...good.consent, actions: ['pull_request.create'] } }, 'connection_consent'],
    [{ consent: { ...good.consent, revision: 9 } }, 'connection_consent'],
    [{ revision: 1 }, 'connection_consent'],
    [{ active_job_id: 'job_x' }, 'connection_capacity'],
  ] as const) t.strictSame(await found(change), [code], JSON.stringify(change))
  await t.rejects(found({ consent: { ...good.consent, actions: [] } }),
    { code: 'invalid_document' }, 'a consent to nothing is none')
  await at.transact((tx) => tx.put(connectionCollection, 'cnn_other', good))
  t.ok(verifyConnections(at.gov.store.read()).some(({ code }) => code === 'connection_id_differs'))
})
