/** How a finite consent stands, judged on rows of one moment. */
import t from 'tap'
import {
  bindingOf, grantState, type GrantMoment,
} from '../../../src/governance/connections/grant.js'
import { endGrant, restrictedConnection, revokedConnection }
  from '../../../src/governance/connections/end-consent.js'
import type { Connection, Grant } from '../../../src/governance/connections/connection-rows.js'
import { covers, stopsEverybody } from '../../../src/governance/stops/stop.js'

const unbound = {
  consent_id: 'con_a', owner: 'prn_a', root: 'root_a', repository: 'o/r', repository_id: 7,
  actions: ['issue.create'], issued_at: '2026-11-20T12:00:00.000Z',
  expires_at: '2026-11-20T12:30:00.000Z', revision: 2, policy_fence: 3,
  statement_sha256: 'a'.repeat(64),
}
const grant: Grant = { ...unbound, binding_sha256: bindingOf('cnn_a', unbound), ended: null }
const connection: Connection = {
  connection_id: 'cnn_a', owner: 'prn_a', repository: 'o/r', repository_id: 7, revision: 2,
  mode: 'active', credential_ref: 'vault:connection_a', consent: grant, consent_fence: 0,
  active_job_id: null, active_fence: 0, created_at: unbound.issued_at,
  updated_at: unbound.issued_at,
}
const ends = Date.parse(unbound.expires_at)
const moment: GrantMoment = {
  nowMs: ends - 1, policyFence: 3, isLive: (root) => root === 'root_a', isStopped: false,
}
const withGrant = (change: Partial<Grant>): Connection =>
  ({ ...connection, consent: { ...grant, ...change } })

t.test('C-086 a consent authorizes until its last millisecond, and by nothing that changed', async (t) => {
  t.equal(grantState(connection, moment), 'issued')
  t.equal(grantState({ ...connection, consent: null }, moment), null)
  t.equal(grantState(connection, { ...moment, nowMs: ends }), 'expired')
  t.equal(grantState(connection, { ...moment, policyFence: 4 }), 'revoked')
  t.equal(grantState(connection, { ...moment, isStopped: true }), 'revoked')
  t.equal(grantState(connection, { ...moment, isLive: () => false }), 'stopped')
  for (const change of [
    { mode: 'disabled' }, { mode: 'reconcile_only' }, { revision: 3 }, { repository: 'o/other' },
    { repository_id: 8 }, { repository_id: null }, { connection_id: 'cnn_b' },
  ] as const) {
    t.equal(grantState({ ...connection, ...change }, moment), 'stopped', JSON.stringify(change))
  }
})

t.test('C-030 no value of a consent can be changed beside the others', async (t) => {
  const changes: Partial<Grant>[] = [
    { consent_id: 'con_b' }, { owner: 'prn_b' }, { repository: 'o/other' }, { repository_id: 8 },
    { actions: ['issue.create', 'comment.create'] }, { issued_at: '2026-11-20T12:00:01.000Z' },
    { expires_at: '2026-11-20T13:30:00.000Z' }, { policy_fence: 9 },
    { statement_sha256: 'b'.repeat(64) }, { revision: 1 },
  ]
  for (const change of changes) {
    t.equal(grantState(withGrant(change), moment), 'stopped', JSON.stringify(change))
  }
  const other = grantState(withGrant({ root: 'root_b' }), { ...moment, isLive: () => true })
  t.equal(other, 'stopped', 'another session')
})

t.test('C-016 what ended stays ended as it ended, and each end raises the fence once', async (t) => {
  const now = '2026-11-20T12:10:00.000Z'
  const revoked = revokedConnection(connection, now)
  t.hasStrict(revoked, { revision: 3, consent_fence: 1, mode: 'active', updated_at: now })
  t.equal(grantState(revoked, moment), 'revoked')
  t.equal(grantState(revoked, { ...moment, nowMs: ends }), 'revoked', 'also when its time is over')
  t.equal(revokedConnection(revoked, now), revoked, 'once')
  const stopped = restrictedConnection(connection, now, 'reconcile_only')
  t.hasStrict(stopped, { revision: 3, consent_fence: 1, mode: 'reconcile_only' })
  t.equal(grantState(stopped, moment), 'stopped')
  t.equal(grantState(stopped, { ...moment, isStopped: true }), 'stopped')
  t.equal(restrictedConnection(stopped, now, 'reconcile_only'), stopped)
  t.hasStrict(restrictedConnection(stopped, now, 'disabled'), { revision: 4, consent_fence: 1 })
  const never = { ...connection, consent: null }
  t.equal(endGrant(never, now, 'revoked'), never)
})

t.test('a stop about a connection covers what writes through it, and nothing else', async (t) => {
  for (const kind of ['connection', 'connection_disabled', 'connection_reconcile_only']) {
    const stop = { kind, target: 'cnn_a' }
    t.equal(covers(stop, { connection: 'cnn_a' }), true)
    t.equal(covers(stop, { connection: 'cnn_b' }), false)
    t.equal(covers(stop, { connection: null }), false, 'a read, or another route')
    t.equal(covers(stop, {}), true, 'what is not known is covered')
    t.equal(stopsEverybody(stop), false)
  }
  t.equal(stopsEverybody({ kind: 'connection_other', target: 'cnn_a' }), true, 'nobody knows it')
  t.equal(covers({ kind: 'connection_other', target: 'cnn_a' }, { connection: null }), true)
})
