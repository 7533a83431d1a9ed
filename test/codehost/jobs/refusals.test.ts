/** What cannot be meant, comes too late, or has no room: refused by its name, nothing sent. */
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { requireJobRevision } from '../../../src/codehost/jobs/change.js'
import { codehostRun } from '../../../src/codehost/jobs/jobs-contract.js'
import {
  effectHistory, jobHistories, type EffectEntry,
} from '../../../src/codehost/jobs/histories.js'
import { canonicalJson } from '../../../src/base/canonical.js'
import { requireRepository } from '../../../src/codehost/jobs/preflight.js'
import { mintReceipt, sealJournal } from '../../../src/codehost/jobs/receipt.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { runJob } from '../../../src/codehost/jobs/run.js'
import { nextEffect } from '../../../src/codehost/jobs/sendable.js'
import { fail, type SallyportError } from '../../../src/base/errors.js'
import { historyHead } from '../../../src/state/history/read-history.js'
import { hour, minute } from '../../support/clock.js'
import { remote } from '../../support/codehost/elsewhere.js'
import { failure, must } from '../../support/must.js'
import { codeOf } from '../../support/refused.js'
import { working, type Working } from '../../support/codehost/working.js'
import { t } from '../../support/tests-in-slices.js'

const codeOfLine = async (at: Working, line: readonly string[]): Promise<string> =>
  (await at.run(['codehost', ...line, '--json'])).error().code

t.test('lines that cannot be meant are refused by their names', async (t) => {
  const at = await working(t)
  const body = ['--connection', at.id, '--body-file', at.place.write('body.md', 'MARK-x')]
  t.equal(await codeOfLine(at, ['prepare', 'issue', ...body]), 'prepare_flags')
  t.equal(await codeOfLine(at, ['prepare', 'comment', ...body, '--title', 'x']), 'prepare_flags')
  t.equal(await codeOfLine(at, ['prepare', 'issue', '--title', 'x']), 'prepare_flags')
  t.equal(await codeOfLine(at, ['approve']), 'approve_flags')
  t.equal(await codeOfLine(at, ['approve', '--standing', '--connection', at.id]), 'approve_flags')
  t.equal(await codeOfLine(at, ['approve', 'job_x', '--preview-digest', 'd', '--max-jobs', '1']),
    'approve_flags')
  t.equal(await codeOfLine(at, ['run']), 'run_flags')
  t.equal(await codeOfLine(at, ['run', 'job_x', '--approved']), 'run_flags')
  for (const verb of ['preview', 'run', 'resume', 'job', 'cancel', 'adopt']) {
    t.equal(await codeOfLine(at, [verb, 'job_x']), 'job_not_found', verb)
  }
  t.equal(at.dials(), 0)
})

t.test('a job that came to its end is neither cancelled, run again nor reconciled', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  must(await at.runJob(job))
  t.equal(await codeOfLine(at, ['cancel', job]), 'job_finished')
  t.equal(failure(await at.reconcile(job)).code, 'nothing_to_reconcile')
  for (const verb of ['run', 'resume']) t.equal(await codeOfLine(at, [verb, job]), 'job_state')
  t.throws(() => nextEffect(at.view(), at.job(job)), { code: 'effect_contacted' })
  t.throws(() => requireJobRevision(at.job(job), 1), { code: 'job_changed' })
  t.equal(at.posts().length, 1)
})

t.test('C-041 a standing authority needs a consent that allows it now', async (t) => {
  const at = await working(t)
  must(await at.consent(['--action', 'comment.create']))
  for (const actions of [['issue.create'], ['comment.create', 'issue.create']]) {
    t.equal(await codeOfLine(at, ['approve', '--standing', '--connection', at.id, '--action',
      ...actions, '--until', new Date(at.clock.wallMs() + 60_000).toISOString(),
      '--max-jobs', '1']), 'standing_without_consent', actions.join(' '))
  }
})

t.test('what the session or the consent would not outlive is refused before anything is sent', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const sound = at.job(job)
  const until = (ms: number) => new Date(at.clock.wallMs() + ms).toISOString()
  for (const [reason, consentMs, effects] of [
    ['consent', 5 * minute, 600], ['session', 10_000 * hour, 1_000_000],
  ] as const) {
    await at.transact((tx) => tx.put(jobCollection, job, {
      ...sound, plan: { ...sound.plan, effects },
      consent: { ...sound.consent, expires_at: until(consentMs) },
    }))
    await t.rejects(runJob(remote(at), at.session(), job), { code: 'codehost_too_short', reason })
  }
  t.equal(at.dials(), 0)
  await at.transact((tx) => tx.put(jobCollection, job, sound))
  t.hasStrict((await runJob(remote(at), at.session(), job)).job, { state: 'succeeded' })
})

t.test('another repository, one that is archived and one without issues take no job', async (t) => {
  const at = await working(t)
  const row = at.job(await at.prepare())
  const seen = {
    id: row.repository_id, fullName: row.repository, isPrivate: true, archived: false,
    hasIssues: true, mayPush: null, defaultBranch: 'main', roles: [], scopes: null,
  }
  const codes = ([
    {}, { hasIssues: false }, { archived: true }, { id: 7 }, { fullName: 'operator/other' },
  ] as const).map((change) => codeOf(() => requireRepository(row, { ...seen, ...change }, true)))
  t.strictSame(codes, [
    'none', 'issues_disabled', 'repository_archived', 'repository_replaced', 'repository_replaced',
  ])
  t.equal(codeOf(() => requireRepository(row, { ...seen, hasIssues: false }, false)), 'none')
})

t.test('C-071 C-073 C-074 an effect whose outcome would not fit behind its mark is not sent, and nothing makes room', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  const spare: EffectEntry = {
    type: 'outcome', at: at.job(job).created_at, effect: 1, outcome: 'unsent', status: null,
    reason: 'filled', remote_id: null, raw_sha256: null,
  }
  await at.transact((tx) => tx.append(effectHistory, job, historyHead(tx, effectHistory, job),
    Array.from({ length: 4_094 }, () => spare)))
  const before = historyHead(at.view(), effectHistory, job)
  t.equal(before.entries, 4_095)
  const ran = await at.runJob(job)
  t.equal(ran.error().reason, 'history_full', ran.stderr)
  t.equal(at.posts().length, 0)
  t.strictSame(historyHead(at.view(), effectHistory, job), before)
  t.hasStrict(at.connection(), { active_job_id: null })
})

t.test('C-072 each history of a job holds 4 MiB: what fits is written, one byte more is refused and nothing is lost', async (t) => {
  const at = await working(t)
  const job = await at.prepare()
  for (const spec of Object.values(jobHistories)) t.equal(spec.bytesMax, 4 * 1024 * 1024, spec.name)
  const entry = (reason: string): EffectEntry => ({
    type: 'outcome', at: at.job(job).created_at, effect: 1, outcome: 'unsent', status: null,
    reason, remote_id: null, raw_sha256: null,
  })
  const line = (reason: string): number => Buffer.byteLength(canonicalJson(entry(reason))) + 1
  const head = () => historyHead(at.view(), effectHistory, job)
  const append = (reason: string) => at.transact((tx) =>
    void tx.append(effectHistory, job, historyHead(tx, effectHistory, job), [entry(reason)]))
  const long = 'x'.repeat(1024 * 1024)
  for (let one = 0; one < 3; one += 1) await append(long)
  const room = 4 * 1024 * 1024 - head().bytes
  const exact = 'y'.repeat(room - line(''))
  const before = head()
  await t.rejects(append(`${exact}y`), { code: 'history_full' })
  t.strictSame(head(), before)
  await append(exact)
  t.equal(head().bytes, 4 * 1024 * 1024)
  await t.rejects(append(''), { code: 'history_full' })
  t.equal((await at.run(['state', 'check'])).status, 0)
})

t.test('a readback of too many receipts is sealed in no journal', async (t) => {
  const at = await working(t)
  const approved = at.job(await at.approved())
  const row = { ...approved, attempt: 1, contacted: 1, run_sha256: 'a'.repeat(64) }
  const receipt = mintReceipt(at.gov, at.view(), row, {
    effect: {
      number: 1, effect_id: 'eff_1', action: 'issue.create', path: '/x',
      body_sha256: 'a'.repeat(64), idempotency: 'k',
    },
    remoteId: 1, path: '/y', readRevision: 1,
    verdict: {
      kind: 'matches', rawSha256: 'b'.repeat(64), payloadSha256: 'c'.repeat(64), rawBytes: 1,
      decodedBytes: 1, edited: false,
    },
  })
  t.throws(() => sealJournal(at.gov, Array.from({ length: 200 }, () => receipt)),
    { code: 'journal_too_large' })
})

t.test('a connection that another job occupies meanwhile lets nothing be read back for the first', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await at.runJob(job)
  await at.transact((tx) => tx.put(connectionCollection, at.id, {
    ...at.connection(), active_job_id: 'job_x',
  }))
  t.equal(failure(await at.reconcile(job)).code, 'reservation_lost')
  t.equal((await at.run(['state', 'check'])).status, 12)
})

t.test('a scheduled run of which a part came to its end says so', (t) => {
  const failed = codehostRun.failure([
    { jobId: 'a', job: null as never, way: null as never, failure: null },
    { jobId: 'b', job: null as never, way: null as never, failure: fail.blocked('x', 'y') },
  ])
  t.equal(failed?.code, 'jobs_partly_run')
  t.equal(failed?.kind, 'partial')
  t.end()
})

t.test('a scheduled run of which nothing came to its end has the status of its gravest failure', (t) => {
  const kindOf = (...failures: readonly SallyportError[]) => codehostRun.failure(
    failures.map((failure) => ({ jobId: 'a', job: null as never, way: null as never, failure })),
  )?.kind
  const { blocked, cancelled, conflict, damaged, remote, unauthorized } = fail
  t.equal(kindOf(remote('x', 'y')), 'remote')
  t.equal(kindOf(cancelled('x', 'y')), 'cancelled')
  t.equal(kindOf(remote('x', 'y'), blocked('x', 'y')), 'blocked')
  t.equal(kindOf(blocked('x', 'y'), damaged('x', 'y')), 'damaged')
  t.equal(kindOf(conflict('x', 'y'), cancelled('x', 'y')), 'cancelled')
  t.equal(kindOf(conflict('x', 'y'), unauthorized('x', 'y')), 'partial', 'it may be sent')
  t.equal(kindOf(), undefined)
  t.end()
})

t.test('a scheduled run at a host that refuses it ends as a run of one job there does', async (t) => {
  const at = await working(t)
  await at.approved()
  at.sandbox.faults.set('write_not_done_422', { service: 'codehost' })
  const ran = await at.run(['codehost', 'run', '--approved', '--json'])
  t.hasStrict(ran, { status: 9 })
  t.hasStrict(ran.error(), {
    code: 'effect_refused', status: 502, details: { failed: 1, jobs: 1 },
  })
  t.equal(ran.json().jobs.length, 1)
})
