/** Where a consent lies, what makes one, and what is none. */
import { readdirSync } from 'node:fs'
import { canonicalJson } from '../../src/base/canonical.js'
import {
  issueConsent, prepareConsent, type PreparedConsent,
} from '../../src/codehost/consent.js'
import type { CodehostContext } from '../../src/codehost/context.js'
import { connectionCollection } from '../../src/governance/connections/connection-rows.js'
import { policyHead } from '../../src/governance/policy/head.js'
import { vaultDigest } from '../../src/governance/vault.js'
import { connected, type Connected } from '../support/codehost/connected.js'
import { onCall } from '../support/codehost/on-call.js'
import { working } from '../support/codehost/working.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { requireOnlyCreations } from '../world/sandbox.js'

t.test('C-003 a consent lies in the row of its connection and nowhere else', async (t) => {
  const at = await working(t)
  const names = () => readdirSync(at.place.stateDir).sort()
  const before = names()
  must(await at.consent())
  t.strictSame(names(), before, 'no file of its own')
  const job = await at.approved()
  const listed = await at.json(['codehost', 'grants'])
  t.equal(listed[0].state, 'issued')
  const whole = at.connection()
  const put = (row: typeof whole) =>
    at.transact((tx) => tx.put(connectionCollection, at.id, row))
  await put({ ...whole, consent: null })
  t.strictSame((await at.json(['codehost', 'grants'])).map(
    ({ state }: { state: string | null }) => state).filter((state: unknown) => state === 'issued'),
  [], 'nothing else remembers it')
  t.equal((await at.runJob(job)).error().code, 'codehost_write_denied')
  t.equal(at.dials(), 1, 'the look of the consent alone')
  await put(whole)
  must(await at.runJob(job))
})

t.test('C-013 no flag, no variable and no list of before stands for a consent', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const listed = must(await at.run(['codehost', 'grants', '--json'])).stdout
  must(await at.run(['codehost', 'revoke', at.id]))
  const before = at.requests().length
  for (const flag of ['--consented', '--authorized', '--acknowledge', '--force', '--yes']) {
    t.equal((await at.run(['codehost', 'run', job, flag])).status, 2, flag)
  }
  for (const name of ['CONSENTED', 'AUTHORIZED', 'CODEHOST_CONSENT', 'YES']) {
    const ran = await at.runJob(job, { env: { [`SALLYPORT_${name}`]: 'true' }, stdin: listed })
    t.equal(ran.error().code, 'codehost_write_denied', name)
  }
  at.place.write('grants.json', listed)
  t.equal((await at.run(['codehost', 'run', job, '--from', at.place.path('grants.json')])).status, 2)
  t.equal(at.requests().length, before, 'nobody was asked')
  t.equal(at.posts().length, 0)
})

t.test('C-029 nothing merges, releases, moves a reference or deletes, by whatever name it is asked for', async (t) => {
  const at = await working(t)
  const before = at.requests().length
  for (const action of ['merge', 'release.create', 'git.ref.update', 'git.ref.delete']) {
    t.equal((await at.consent(['--action', action])).error().code, 'action_unknown', action)
  }
  for (const word of ['merge', 'release', 'update-ref', 'delete', 'push', 'undo']) {
    t.equal((await at.run(['codehost', word, 'x'])).status, 2, word)
    t.equal((await at.run(['codehost', 'prepare', word, '--connection', at.id])).status, 2, word)
  }
  for (const flag of ['--merge', '--force', '--release', '--update-ref']) {
    t.equal((await at.run(['codehost', 'prepare', 'publication', '--connection', at.id, flag]))
      .status, 2, flag)
  }
  t.equal(at.requests().length, before)
  const seen = { service: 'codehost', route: 'pull', path: '/x' } as const
  const others = [
    { ...seen, method: 'PUT' }, { ...seen, method: 'PATCH' }, { ...seen, method: 'DELETE' },
    { ...seen, method: 'POST', route: 'unknown' as const },
  ]
  for (const one of others) t.throws(() => requireOnlyCreations([one]), /asked for/, one.method)
  requireOnlyCreations([{ ...seen, method: 'POST', route: 'pull_create' }])
})

t.test('C-033 a save of a consent that ends at any of its writes leaves the old row or the whole new one', async (t) => {
  const at = await connected(t)
  for (const call of ['writeSync', 'fsyncSync', 'fdatasyncSync'] as const) {
    const seen = { old: 0, whole: 0 }
    for (let number = 1; ; number += 1) {
      const before = at.row()
      let [isSaving, calls, ended] = [false, 0, false]
      const ran = await onCall(call, () => {
        if (!isSaving) return
        calls += 1
        if (calls < number) return
        ended = true
        throw Object.assign(new Error('EIO: i/o error'), { code: 'EIO' })
      }, () => at.consent([], {
        at: (step) => { if (step === 'look.finished') isSaving = true },
      }))
      if (!ended) {
        must(ran)
        break
      }
      const after = at.row()
      if (canonicalJson(after) === canonicalJson(before)) seen.old += 1
      else {
        seen.whole += 1
        const revision = before.revision + 1
        t.hasStrict(after, {
          mode: 'active', revision, consent: {
            actions: ['issue.create'], revision, repository: 'octo-org/hello', ended: null,
          },
        })
        t.not(after.consent?.consent_id, before.consent?.consent_id)
        t.equal(await at.state(), 'issued')
      }
      t.ok(number < 40, 'comes to an end')
    }
    t.comment(`${call}: ${seen.old} of before, ${seen.whole} whole`)
    if (call !== 'fsyncSync') t.ok(seen.old + seen.whole > 0, call)
  }
  must(await at.run(['state', 'check']))
})

t.test('C-169 taking over a task makes no consent, and a consent moves no task', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await at.runJob(job)
  at.sandbox.faults.clear()
  const task = at.job(job).task_id ?? ''
  must(await at.run(['logout']))
  must(await at.run(['login']))
  const before = canonicalJson(at.connection())
  must(await at.run(['task', 'recover', task]))
  t.equal(canonicalJson(at.connection()), before, 'no consent appears')
  t.not((await at.json(['codehost', 'grants']))[0].state, 'issued')
  const other = must(await at.run(['codehost', 'connect', '--repo', 'operator/notes',
    '--token-file', at.sandbox.keyFiles.codehost, '--json'])).json().id
  const owned = canonicalJson(at.task(task))
  must(await at.run(['codehost', 'consent', other, '--acknowledge', '--expected-revision', '1',
    '--action', 'issue.create']))
  t.equal(canonicalJson(at.task(task)), owned, 'no ownership moves')
})

/** A code host that nobody may ask. */
const unasked = (at: Connected): CodehostContext => ({
  gov: at.gov, signal: new AbortController().signal, baseUrl: 'https://127.0.0.1:1',
  client: async () => { throw new Error('the host was asked') },
})

const wishOf = (at: Connected) => ({
  connectionId: at.id, expectedRevision: at.revision(), actions: ['issue.create'],
  durationMs: 60_000, canAcknowledge: true,
})

t.test('C-014 C-046 what nobody can acknowledge, of another revision or of an occupied connection is refused before the host is asked', async (t) => {
  const at = await connected(t)
  const refused = async (change: object, code: string) => {
    const before = canonicalJson(at.row())
    await t.rejects(
      prepareConsent(unasked(at), at.session(), { ...wishOf(at), ...change }), { code }, code)
    t.equal(canonicalJson(at.row()), before)
  }
  await refused({ canAcknowledge: false }, 'acknowledgment_required')
  await refused({ expectedRevision: at.revision() + 1 }, 'stale_connection_revision')
  await at.transact((tx) => tx.put(connectionCollection, at.id, {
    ...at.row(), active_job_id: 'job_x', active_fence: 1,
  }))
  await refused({}, 'capacity_reserved')
})

t.test('C-046 what was prepared is issued to whoever acknowledges its words, and to nobody else', async (t) => {
  const at = await connected(t)
  const [view, session] = [at.view(), at.session()]
  const prepared = {
    wish: wishOf(at), statement: { sha256: 'a'.repeat(64) },
    look: {
      repository: { id: 1 }, author: null, policyFence: policyHead(view).fence,
      bound: { vaultDigest: vaultDigest(view, at.row().credential_ref) },
    },
  } as unknown as PreparedConsent
  const issue = (acknowledged: boolean) =>
    issueConsent(unasked(at), session, prepared, acknowledged)
  await t.rejects(issue(false), { code: 'acknowledgment_required' })
  t.equal(at.row().consent, null)
  await issue(true)
  t.hasStrict(at.row(), { mode: 'active', consent: { actions: ['issue.create'] } })
})
