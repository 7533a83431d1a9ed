/** Connections to a code host, and the finite consent that lies in their rows. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { canonicalJson } from '../../src/base/canonical.js'
import { bindingOf } from '../../src/governance/connections/grant.js'
import { prepareConsent } from '../../src/codehost/consent.js'
import { codehostActions } from '../../src/codehost/constants.js'
import { collections } from '../../src/governance/rows.js'
import { connected, hostToken } from '../support/codehost/connected.js'
import { repositoryBody, startPlainHost } from '../support/codehost/plain-host.js'
import { failure, must } from '../support/must.js'
import { until } from '../support/until.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const filesBelow = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile()).map((one) => join(one.parentPath, one.name))

t.test('C-005 C-035 a connection is saved without contact, and no save of it is a consent', async (t) => {
  const at = await connected(t)
  t.hasStrict(at.row(), { mode: 'disabled', revision: 1, consent: null, active_job_id: null })
  const [shown] = await at.json(['codehost', 'connections'])
  t.hasStrict(shown, { opt_in: false, consent: null, capacity: 'free', repository_id: null })
  t.strictSame(await at.json(['codehost', 'grants']), [])
  must(await at.run([
    'codehost', 'connect', '--connection', at.id, '--token-file', at.place.path('token'),
    '--mode', 'reconcile_only', '--expected-revision', '1',
  ]))
  t.hasStrict(at.row(), { mode: 'reconcile_only', revision: 2, consent: null })
  must(await at.run(['codehost', 'mode', at.id, 'disabled']))
  t.hasStrict(at.row(), { mode: 'disabled', revision: 3, consent: null })
  for (const mode of ['active', 'all', '']) {
    t.equal((await at.run(['codehost', 'mode', at.id, mode])).status, 3, mode)
  }
  t.equal(at.row().revision, 3)
  t.equal(at.host.connections(), 0, 'nobody was contacted')
})

t.test('C-030 C-031 a consent names owner, session, repository, actions and end, and is made here', async (t) => {
  const at = await connected(t)
  const first = must(await at.consent(['--action', 'comment.create', 'issue.create'])).json()
  const row = at.row()
  t.hasStrict(row.consent, {
    owner: at.session().principal.principal_id,
    root: at.session().root.root_id, repository: 'octo-org/hello', repository_id: 1296269,
    actions: ['issue.create', 'comment.create'], revision: 2, ended: null,
  })
  t.equal(row.consent?.binding_sha256, row.consent && bindingOf(at.id, row.consent))
  t.hasStrict(first, { mode: 'active', opt_in: true, repository_id: 1296269 })
  t.hasStrict(first.consent, { state: 'issued', actions: ['issue.create', 'comment.create'] })
  const again = must(await at.consent()).json()
  t.not(again.consent.id, first.consent.id, 'two saves, two identities')
  const [get] = at.host.requests
  t.hasStrict(get, { method: 'GET', path: '/repos/octo-org/hello', body: '' })
  t.equal(get?.headers.authorization, `Bearer ${hostToken}`)
  t.strictSame([get?.headers['x-github-api-version'], get?.headers['if-none-match']],
    ['2022-11-28', undefined])
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('C-040 C-046 a consent needs its acknowledgment, the exact revision and known actions', async (t) => {
  const at = await connected(t)
  const before = canonicalJson(at.row())
  const line = (flags: readonly string[]) => at.run(['codehost', 'consent', at.id, ...flags])
  const issue = ['--action', 'issue.create']
  t.equal((await line([...issue, '--expected-revision', '1', '--json'])).error().code,
    'acknowledgment_required')
  t.equal((await line(['--acknowledge', ...issue])).status, 3, 'no revision')
  for (const revision of ['2', '9']) {
    t.equal(failure(await line([...issue, '--acknowledge', '--expected-revision', revision, '--json']))
      .code, 'stale_connection_revision')
  }
  const acknowledged = ['--acknowledge', '--expected-revision', '1', '--json']
  t.equal((await line(acknowledged)).error().code, 'actions_missing')
  const sixth = [
    'all', '*', 'issue.*', 'merge', 'release.create', 'git.ref.update', 'ISSUE.CREATE',
    'issue.create ',
  ]
  for (const action of sixth) {
    t.equal((await line([...acknowledged, '--action', 'issue.create', action])).error().code,
      'action_unknown', action)
  }
  t.equal(canonicalJson(at.row()), before)
  must(await at.consent(['--action', codehostActions.join(',')]))
  t.strictSame(at.row().consent?.actions, [...codehostActions])
})

t.test('C-043 a consent ends after an hour at most, and with the session that gave it', async (t) => {
  const at = await connected(t)
  t.equal((await at.consent(['--duration', '3601s'])).error().code, 'flag_invalid')
  const lasts = (): number => {
    const { consent } = at.row()
    return Date.parse(consent?.expires_at ?? '') - Date.parse(consent?.issued_at ?? '')
  }
  must(await at.consent(['--duration', '1h']))
  t.equal(lasts(), 3_600_000)
  must(await at.run(['login', '--replace', '--ttl', '10m']))
  must(await at.consent(['--duration', '1h']))
  t.equal(at.row().consent?.expires_at, at.session().root.expires_at)
  t.equal(await at.state(), 'issued')
  at.clock.advance(600_000)
  must(await at.run(['login']))
  t.equal(await at.state(), 'expired', 'by the clock alone')
})

t.test('C-044 C-086 a consent is issued, expired, revoked or stopped, and settings say which', async (t) => {
  const at = await connected(t)
  must(await at.consent())
  t.equal(await at.state(), 'issued')
  must(await at.run(['codehost', 'revoke', at.id]))
  t.equal(await at.state(), 'revoked')
  must(await at.consent())
  must(await at.run(['codehost', 'mode', at.id, 'reconcile_only']))
  t.equal(await at.state(), 'stopped')
  must(await at.consent())
  must(await at.run(['logout']))
  must(await at.run(['login']))
  t.equal(await at.state(), 'stopped', 'another session is no continuation')
  must(await at.consent(['--duration', '60s']))
  at.clock.advance(60_000)
  t.equal(await at.state(), 'expired')
  must(await at.consent())
  must(await at.run(['policy', 'revoke']))
  t.equal(await at.state(), 'revoked', 'every route, this one too')
  const [grant] = await at.json(['codehost', 'grants'])
  t.hasStrict(grant, { connection: at.id, state: 'revoked', opt_in: true, mode: 'active' })
})

t.test('C-045 another token, the same one too, extends and carries no consent', async (t) => {
  const at = await connected(t)
  must(await at.consent())
  const { consent } = at.row()
  must(await at.run([
    'codehost', 'connect', '--connection', at.id, '--token-file', at.place.path('token'),
    '--expected-revision', '2',
  ]))
  t.hasStrict(at.row().consent, { expires_at: consent?.expires_at, root: consent?.root })
  t.equal(await at.state(), 'stopped')
  t.equal(at.row().mode, 'disabled')
  must(await at.run([
    'codehost', 'connect', '--repo', 'octo-org/hello', '--token-file', at.place.path('token'),
  ]))
  const all = await at.json(['codehost', 'connections'])
  t.strictSame(all.map((one: { consent: { state: string } | null }) => one.consent?.state),
    ['stopped', undefined])
})

t.test('C-047 C-048 reading and revoking make no consent, and reading changes no byte', async (t) => {
  const at = await connected(t)
  must(await at.run(['codehost', 'revoke', at.id]))
  t.equal(at.row().consent, null)
  must(await at.consent())
  must(await at.run(['codehost', 'revoke', at.id]))
  const revoked = canonicalJson(at.row())
  must(await at.run(['codehost', 'revoke', at.id]))
  t.equal(canonicalJson(at.row()), revoked, 'once')
  const bytes = (): string[] => filesBelow(at.place.stateDir)
    .filter((file) => !file.includes('/run/')).sort().map((file) => readFileSync(file, 'base64'))
  const before = bytes()
  const [shown] = await at.json(['codehost', 'connections'])
  const [grant] = await at.json(['codehost', 'grants'])
  t.strictSame(bytes(), before)
  for (const name of ['actions', 'expires_at', 'state', 'root']) {
    t.strictSame(grant[name], shown.consent[name], name)
  }
  t.strictSame([shown.opt_in, grant.opt_in], [true, true])
})

t.test('C-047 settings and the list of grants show actions, state, the session and the end that it is bound to, and the opt-in, as the row has them', async (t) => {
  const at = await connected(t)
  t.hasStrict((await at.json(['codehost', 'connections']))[0], { opt_in: false, consent: null })
  t.strictSame(await at.json(['codehost', 'grants']), [], 'nothing was granted')
  t.match((await at.run(['codehost', 'mode', at.id, 'disabled'])).stdout, /opt-in: +not given/)
  t.match((await at.run(['codehost', 'connections'])).stdout, 'none was ever given')
  const consent = () =>
    at.consent(['--action', 'issue.create', 'comment.create', '--duration', '60s'])
  must(await consent())
  for (const state of ['issued', 'expired', 'stopped'] as const) {
    if (state === 'expired') at.clock.advance(60_000)
    if (state === 'stopped') {
      must(await consent())
      must(await at.run(['codehost', 'mode', at.id, 'disabled']))
    }
    const [settings] = await at.json(['codehost', 'connections'])
    const { consent: row } = at.row()
    if (row === null) throw new Error('it was given')
    const wanted = {
      actions: ['issue.create', 'comment.create'], expires_at: row.expires_at, root: row.root,
      revision: row.revision,
    }
    t.hasStrict(settings, { opt_in: true, consent: wanted }, state)
    const [grant] = await at.json(['codehost', 'grants'])
    t.hasStrict(grant, { connection: at.id, opt_in: true, ...wanted }, state)
    t.strictSame([grant.state, settings.consent.state], [state, state])
    t.equal(wanted.root, at.session().root.root_id)
  }
  t.match((await at.run(['codehost', 'mode', at.id, 'disabled'])).stdout, /opt-in: +given/)
})

t.test('C-014 C-015 C-016 an occupied connection keeps its scope, and revoking it raises its fence', async (t) => {
  const at = await connected(t)
  must(await at.consent())
  const occupied = { ...at.row(), active_job_id: 'job_x', active_fence: 1 }
  const { connectionCollection } =
    await import('../../src/governance/connections/connection-rows.js')
  await at.transact((tx) => tx.put(connectionCollection, at.id, occupied))
  t.equal(failure(await at.consent()).code, 'capacity_reserved')
  t.equal((await at.run([
    'codehost', 'connect', '--connection', at.id, '--repo', 'octo-org/other',
    '--expected-revision', '2', '--json',
  ])).error().code, 'capacity_reserved')
  t.strictSame(at.view().all(collections.stops), [], 'nothing was stopped for what is not saved')
  // A job may have taken it between that look and the record.
  const { changeConnection } = await import('../../src/governance/connections/save.js')
  await t.rejects(at.transact((tx) => changeConnection(tx, occupied.updated_at, at.session(), {
    connectionId: at.id, expectedRevision: 2, repository: 'octo-org/other',
  })), { code: 'capacity_reserved' })
  t.equal(canonicalJson(at.row()), canonicalJson(occupied))
  must(await at.run(['codehost', 'revoke', at.id]))
  t.hasStrict(at.row(), {
    consent_fence: 1, revision: 3, active_job_id: 'job_x', active_fence: 1,
    consent: { ended: { as: 'revoked' } },
  })
})

t.test('C-162 C-163 only the default owner consents, in a session that is live', async (t) => {
  const at = await connected(t)
  const file = at.place.write('bob', 'correct horse battery')
  must(await at.run(['principal', 'add', 'bob', '--passphrase-file', file]))
  must(await at.run(['login', '--owner', 'bob', '--passphrase-file', file]))
  t.equal((await at.run(['codehost', 'revoke', at.id])).status, 6, 'as absent as a missing one')
  t.equal((await at.consent()).status, 4)
  t.strictSame(await at.json(['codehost', 'connections']), [])
  must(await at.run(['logout']))
  t.equal((await at.consent()).status, 4)
  t.equal(at.row().consent, null)
  t.equal(at.host.connections(), 0)
})

t.test('what the host refuses, hides, moves or writes otherwise is told and consented to by nobody', async (t) => {
  const at = await connected(t)
  const cases = [
    [{ status: 401, body: {} }, 'codehost_token_refused'],
    [{ status: 403, body: {} }, 'codehost_token_refused'],
    [{ status: 403, body: {}, headers: { 'x-ratelimit-remaining': '0' } }, 'codehost_rate_limited'],
    [{ status: 429, body: {} }, 'codehost_rate_limited'],
    [{ status: 404, body: {} }, 'repository_not_seen'],
    [{ status: 301, body: {}, headers: { location: '/repositories/1' } }, 'repository_moved'],
    [{ status: 200, body: '{"id":1,"id":2}' }, 'codehost_reply'],
    [{ status: 200, body: repositoryBody({ id: '1296269' }) }, 'codehost_reply'],
    [{ status: 200, body: repositoryBody({ id: 1.5 }) }, 'codehost_reply'],
    [{ status: 200, body: repositoryBody({ full_name: 'octo-org/a;reboot' }) }, 'codehost_reply'],
    [{ status: 200, body: repositoryBody({ archived: null }) }, 'codehost_reply'],
    [{ status: 500, body: 'no' }, 'codehost_reply'],
    [
      { status: 200, body: repositoryBody({ full_name: 'octo-org/renamed' }) },
      'repository_name_differs',
    ],
  ] as const
  for (const [reply, code] of cases) {
    at.host.answers(reply)
    const refused = await at.consent()
    t.strictSame([refused.status, refused.error().code], [9, code], JSON.stringify(reply))
    t.notMatch(refused.stderr, /MARKTOKEN/)
  }
  t.hasStrict(at.row(), { consent: null, revision: 1, mode: 'disabled' })
  t.equal(at.host.requests.length, cases.length, 'each once, no redirect followed')
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('another repository of the same name, or another token meanwhile, is not consented to', async (t) => {
  const at = await connected(t)
  must(await at.consent())
  at.host.answers({ status: 200, body: repositoryBody({ id: 77 }) })
  t.strictSame(failure(await at.consent()).code, 'repository_replaced')
  at.host.answers(async () => {
    must(await at.run([
      'codehost', 'connect', '--connection', at.id, '--token-file', at.place.path('token'),
      '--expected-revision', '2',
    ]))
    return { status: 200, body: repositoryBody() }
  })
  const late = await at.consent()
  t.strictSame([late.status, late.error().code], [7, 'codehost_read_denied'],
    'a read was sent, so no status says that nothing was')
  t.equal(await at.state(), 'stopped')
})

t.test('what is refused before the host is asked is refused without contact', async (t) => {
  const at = await connected(t)
  const refused = async (...argv: string[]): Promise<unknown[]> => {
    const ran = await at.run([...argv, '--json'])
    return [ran.status, ran.error().code]
  }
  const connect = ['codehost', 'connect']
  const token = ['--token-file', at.place.path('token')]
  t.strictSame(await refused(...connect, ...token), [2, 'connect_flags'])
  t.strictSame(await refused(...connect, '--connection', at.id, ...token), [2, 'connect_flags'])
  t.strictSame(await refused(...connect, '--connection', at.id, '--expected-revision', '1'),
    [2, 'nothing_to_save'])
  t.strictSame(await refused(...connect, '--repo', 'https://host/o/r', ...token),
    [3, 'repository_name_invalid'])
  t.strictSame(await refused('codehost', 'revoke', 'cnn_none'), [6, 'connection_not_found'])
  t.strictSame(await refused('codehost', 'mode', at.id, 'active'), [3, 'mode_by_consent'])
  await t.rejects(prepareConsent({} as never, at.session(), {
    connectionId: at.id, expectedRevision: 1, actions: ['issue.create'], durationMs: 59_999,
    canAcknowledge: true,
  }), { code: 'consent_duration' })
  t.strictSame([at.host.connections(), at.row().revision], [0, 1])
})

t.test('a profile without a code host takes no connection', async (t) => {
  const world = World.in(t)
  const { profileFile } = await startPlainHost(t, world.place.dir)
  const bare = JSON.parse(readFileSync(profileFile, 'utf8'))
  delete bare.codehost
  const at = await world.state({
    profileFile: world.place.write('bare.json', JSON.stringify(bare)),
  }).session()
  const ran = await at.run([
    'codehost', 'connect', '--repo', 'o/r', '--token-file', at.place.write('token', 'x\n'),
    '--json',
  ])
  t.strictSame([ran.status, ran.error().code], [7, 'codehost_not_in_profile'])
})

t.test('a host that is not there is no failure of what was asked', async (t) => {
  const at = await connected(t)
  at.host.answers(() => new Promise<never>(() => undefined))
  const running = at.consent([], { at: (step) => { if (step === 'look.replied') t.fail(step) } })
  await until('it was asked', () => at.host.requests.length === 1)
  at.host.drop()
  const ran = await running
  t.strictSame([ran.status, ran.error().code], [9, 'codehost_unreachable'])
  t.equal(at.row().consent, null)
})

t.test('the token lies in no file, message or argument', async (t) => {
  const at = await connected(t)
  const ran = must(await at.consent())
  t.notMatch(ran.stdout + ran.stderr, /MARKTOKEN/)
  for (const file of filesBelow(at.place.stateDir)) {
    t.notOk(readFileSync(file).includes('MARKTOKEN'), file)
  }
})

t.test('on a terminal without flags a connection is a form: its token is not shown, its confirmation starts unchecked', async (t) => {
  const at = await connected(t)
  const terminal = { stdin: true, stdout: true, stderr: true }
  const form = (answers: readonly (string | boolean)[], more: readonly string[] = []) =>
    at.run(['codehost', 'connect', ...more], { terminal, answers: [...answers] })
  const count = async (): Promise<number> => (await at.json(['codehost', 'connections'])).length
  t.equal((await form(['octo-org/second', hostToken, false, 'leave'])).status, 130)
  t.equal((await form(['octo-org/second', ''])).status, 3, 'no token')
  t.equal(await count(), 1)
  const made = must(await form([
    'octo-org/secnd', hostToken, false, 'change an answer', 'octo-org/second', '', true]))
  t.match(made.stdout, /octo-org\/second/)
  t.match(made.stderr, /help real-key/)
  t.notMatch(made.stdout + made.stderr, hostToken)
  t.equal(await count(), 2)
  const change = ['--connection', at.id]
  t.equal((await form(['octo-org/hello', ''], change)).status, 2, 'nothing to save')
  t.equal((await form(['octo-org/hello', hostToken, false, 'leave'], change)).status, 130)
  t.equal(at.revision(), 1)
  must(await form(['octo-org/other', hostToken, true], change))
  t.hasStrict(at.row(), { repository: 'octo-org/other', revision: 2, mode: 'disabled' })
  t.equal((await at.run(['codehost', 'connect'])).status, 2, 'nobody is there to ask')
  t.equal(at.host.requests.length, 0)
})

t.test('on a terminal each action is asked for unchecked, and the words are shown before they count', async (t) => {
  const at = await connected(t)
  const terminal = { stdin: true, stdout: true, stderr: true }
  const ask = (answers: readonly boolean[]) => at.run(
    ['codehost', 'consent', at.id], { terminal, answers })
  const none = await ask([false, false, false, false, false])
  t.equal(none.status, 3, none.stderr)
  const declined = await ask([true, false, false, false, false, false])
  t.equal(declined.status, 130)
  t.match(declined.stderr, /for octo-org\/hello, disabled, revision 1/)
  t.match(declined.stderr, /has the role push there/)
  t.match(declined.stderr, /tells nothing of what the token itself may do/)
  t.match(declined.stderr, /Consent to writes on https:/)
  t.equal(at.row().consent, null)
  must(await ask([true, false, false, false, false, true]))
  t.strictSame(at.row().consent?.actions, ['issue.create'])
})
