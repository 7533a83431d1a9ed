/** The one read before a consent: what it rests on is asked at every boundary. */
import { lookAtRepository } from '../../src/codehost/adapter/look.js'
import {
  connectionCollection, type Connection,
} from '../../src/governance/connections/connection-rows.js'
import {
  changeConnection, disconnectConnection, issueGrant,
} from '../../src/governance/connections/save.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { newStop } from '../../src/governance/stops/act.js'
import { putStop } from '../../src/state/stop-folder.js'
import { collections } from '../../src/governance/rows.js'
import { vaultDigest } from '../../src/governance/vault.js'
import { connected, type Connected } from '../support/codehost/connected.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { stopsDirOf } from '../support/stops-dir.js'

const alter = (at: Connected, change: Partial<Connection>): Promise<void> =>
  at.transact((tx) => tx.put(connectionCollection, at.id, { ...at.row(), ...change }))

/** What happens while the request waits to leave, and what it is refused for. */
const changes: Readonly<Record<string, readonly [(at: Connected) => Promise<unknown>, string]>> = {
  'its session ended': [async (at) => must(await at.run(['logout'])), 'session'],
  'its connection was saved anew': [
    (at) => alter(at, { revision: 9 }), 'stale_connection_revision',
  ],
  'its connection has another owner': [(at) => alter(at, { owner: 'prn_x' }), 'connection_foreign'],
  'its connection is gone': [
    (at) => at.transact((tx) => tx.remove(connectionCollection, at.id)), 'connection_missing',
  ],
  'it is for another repository': [
    (at) => alter(at, { repository: 'octo-org/other' }), 'repository_changed',
  ],
  'its token is another one': [
    (at) => at.transact((tx) => {
      const ref = at.row().credential_ref
      const row = tx.get(collections.credentials, ref)
      if (row !== undefined) tx.put(collections.credentials, ref, { ...row, updates: 7 })
    }), 'credential_changed',
  ],
}

for (const [what, [happens, reason]] of Object.entries(changes)) {
  for (const step of ['look.before_dial', 'look.before_first_byte']) {
    t.test(`a read leaves nothing once ${what}, at ${step}`, async (t) => {
      const at = await connected(t)
      const ran = await at.consent([], {
        at: async (name) => { if (name === step) await happens(at) },
      })
      t.not(ran.status, 0)
      t.ok(`${ran.error().code} ${ran.error().reason}`.includes(reason), ran.stderr)
      t.equal(at.host.requests.length, 0, 'no request')
      if (step === 'look.before_dial') t.equal(at.host.connections(), 0, 'no hello')
    })
  }
}

t.test('a revoke of every route ends no read, and no consent comes of what was read before it', async (t) => {
  for (const line of [['policy', 'revoke'], ['codehost', 'revoke']]) {
    const at = await connected(t)
    must(await at.consent())
    const words = line[0] === 'codehost' ? [...line, at.id] : line
    const ran = await at.consent([], {
      at: async (name) => { if (name === 'look.before_dial') must(await at.run(words)) },
    })
    t.not(ran.status, 0, 'what was revoked meanwhile is not given')
    t.equal(at.host.requests.length, line[0] === 'policy' ? 2 : 1, words.join(' '))
    t.not(await at.state(), 'issued')
  }
})

t.test('a stop of everything that nobody has recorded yet ends no read either', async (t) => {
  const at = await connected(t)
  const nobody = { principal: null, root: null, verb: 'policy revoke' }
  const ran = await at.consent([], {
    at: async (name) => {
      if (name !== 'look.before_dial') return
      putStop(stopsDirOf(at.gov.store), newStop(at.clock, { kind: 'all', target: null }, nobody))
    },
  })
  t.equal(at.host.requests.length, 1)
  t.equal(ran.error().code, 'policy_revoked', 'but no consent comes of it')
})

t.test('a read goes to the host of the sealed profile, whatever its caller says', async (t) => {
  const at = await connected(t)
  const request = () => t.fail('somebody was contacted')
  await t.rejects(lookAtRepository({
    gov: at.gov, signal: new AbortController().signal, baseUrl: 'https://127.0.0.1:9',
    client: async () => ({ request: async () => { throw new Error(String(request())) } }),
  }, at.session(), at.id), { code: 'codehost_read_denied', reason: 'fixed_route_mismatch' })
})

t.test('C-014 the records of a save compare revision and capacity themselves', async (t) => {
  const at = await connected(t)
  const { session } = at
  const change = { connectionId: at.id, expectedRevision: 1 }
  const grant = (more: object) => at.transact((tx, now) => issueGrant(tx, now, session(), {
    ...change, actions: ['issue.create'], durationMs: 60_000, statementSha256: 'a'.repeat(64),
    vaultDigest: vaultDigest(tx, at.row().credential_ref) ?? '', repositoryId: 1,
    policyFence: policyHead(tx).fence, author: null, ...more,
  }))
  const stale = { code: 'stale_connection_revision' }
  await t.rejects(grant({ expectedRevision: 2 }), stale)
  await t.rejects(at.transact((tx, now) => changeConnection(tx, now, session(), {
    ...change, expectedRevision: 2, mode: 'reconcile_only',
  })), stale)
  await alter(at, { active_job_id: 'job_x', active_fence: 1 })
  await t.rejects(grant({}), { code: 'capacity_reserved' })
  await t.rejects(at.transact((tx, now) => disconnectConnection(tx, now, session(), at.id)),
    { code: 'capacity_reserved' })
  await alter(at, { owner: 'prn_x', active_job_id: null })
  await t.rejects(grant({}), { code: 'connection_not_found' })
  t.equal(at.row().consent, null)
})
