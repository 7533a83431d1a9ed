/**
 * What a publication rests on is asked before anybody is contacted, again in the record that
 * writes it, and again before its local work is begun; what is not as it was shown leaves no stage.
 */
import { existsSync, mkdirSync, renameSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { approveJob } from '../../../../src/codehost/jobs/approve.js'
import type { CodehostContext } from '../../../../src/codehost/context.js'
import { jobCollection, type Job } from '../../../../src/codehost/jobs/job-rows.js'
import { bindProducer } from '../../../../src/codehost/jobs/publication/bind.js'
import { openPublication } from '../../../../src/codehost/jobs/publication/open.js'
import { preparePublication } from '../../../../src/codehost/jobs/publication/prepare.js'
import { stageProblems } from '../../../../src/codehost/jobs/publication/stages.js'
import { runJob } from '../../../../src/codehost/jobs/run.js'
import { findTools } from '../../../../src/codehost/producer/tools.js'
import { listAudit } from '../../../../src/governance/audit.js'
import { machineBoundCollection } from '../../../../src/governance/machine-bound.js'
import { minute } from '../../../support/clock.js'
import { atStep } from '../../../support/codehost/at-step.js'
import { remote } from '../../../support/codehost/elsewhere.js'
import { publishing, type Publishing } from '../../../support/codehost/publishing.js'
import { must } from '../../../support/must.js'
import { onMachine } from '../../../support/on-machine.js'

const stageOf = ({ place }: Publishing, job = ''): string => join(place.stateDir, 'stages', job)

const put = (at: Publishing, job: string, change: Partial<Job>): Promise<void> =>
  at.transact((tx) => tx.put(jobCollection, job, { ...at.job(job), ...change }))

const prepare = (
  at: Publishing, ctx: CodehostContext = remote(at), source = at.folder({ 'a.txt': 'a\n' }),
): Promise<Job> => preparePublication(ctx, at.session(), {
  connectionId: at.id, source, ownFolders: [at.place.stateDir], base: 'main', branch: 'topic',
  title: 'T', body: '', author: 'Ann <ann@example.org>',
})

const revoke = async (at: Publishing): Promise<unknown> =>
  must(await at.run(['codehost', 'revoke', at.id]))

t.test('C-012 a consent that is not there, or that is too short, is told before a folder is looked at and before anybody is asked', async (t) => {
  const at = await publishing(t)
  const before = at.requests().length
  must(await at.consent(['--action', 'git.object.create', 'git.ref.create',
    'pull_request.create', '--duration', '1m']))
  const asked = at.requests().length
  at.clock.advance(minute - 3_000)
  await t.rejects(prepare(at), { code: 'codehost_too_short', reason: 'consent' })
  await revoke(at)
  await t.rejects(prepare(at, remote(at), at.place.path('nowhere')), {
    code: 'codehost_write_denied', reason: 'consent_revoked',
  })
  t.ok(asked > before, 'the consent looked')
  t.equal(at.requests().length, asked, 'and nobody else did')
})

t.test('a publication is prepared onto the repository that was consented to alone', async (t) => {
  const at = await publishing(t)
  at.sandbox.faults.set('repository_renumbered', { service: 'codehost', times: 1 })
  await t.rejects(prepare(at), { code: 'repository_replaced' })
  t.strictSame(at.view().all(jobCollection), [])
})

t.test('C-011 C-012 a consent that ends while a publication is planned leaves no job', async (t) => {
  const at = await publishing(t)
  await t.rejects(prepare(at, atStep(remote(at), 'codehost.planned', () => revoke(at))), {
    code: 'codehost_write_denied', reason: 'consent_revoked',
  })
  t.strictSame(at.view().all(jobCollection), [])
})

t.test('a publication that runs, or has run, is not approved, and its stage stays as it is', async (t) => {
  const at = await publishing(t)
  const jobId = await at.approvedPublication()
  const { preview_sha256: previewDigest } = at.job(jobId)
  const { ino } = statSync(stageOf(at, jobId))
  for (const state of ['running', 'succeeded', 'unknown_external_effect', 'failed'] as const) {
    await put(at, jobId, { state })
    await t.rejects(async () => approveJob(at.gov, at.session(), {
      jobId, previewDigest, producer: remote(at).producer,
    }), { code: 'job_state', details: { state } })
    t.equal(statSync(stageOf(at, jobId), { throwIfNoEntry: false })?.ino, ino, state)
  }
})

t.test('C-079 a producer that would be given other inputs, arguments or variables than were shown is not bound, and leaves no stage', async (t) => {
  const at = await publishing(t)
  const job = at.job(await at.preparedPublication())
  const open = openPublication(at.gov, at.view(), job)
  t.teardown(() => { open.close() })
  const tools = await findTools(remote(at).producer)
  const { producer } = open
  for (const change of [
    { manifest_sha256: '0'.repeat(64) }, { environment: { ...producer.environment, git: {} } },
    { arguments: { ...producer.arguments, commit: [] } },
  ]) {
    t.throws(() => bindProducer(at.gov, at.view(), job,
      { ...open, producer: { ...producer, ...change } }, tools),
    { code: 'producer_changed', reason: 'inputs' }, JSON.stringify(Object.keys(change)))
    t.notOk(existsSync(stageOf(at, job.job_id)))
  }
})

t.test('C-098 C-180 a publication that was closed before its local work was begun starts no producer', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const closed = { closure_id: 'cls_other', at: '2026-01-01T00:00:00.000Z', fence: 1 }
  await runJob(atStep({ ...remote(at), gov: at.gov }, 'codehost.reserved', () =>
    put(at, job, { closed })), at.session(), job)
  t.hasStrict(at.job(job), { closed, state: 'running', contacted: 0 }, 'it stays as it was closed')
  t.notOk(existsSync(join(stageOf(at, job), 'start.json')))
  t.strictSame(listAudit(at.view()).filter(({ what }) => what === 'codehost.fenced')
    .map(({ facts }) => facts['route']), ['producer_spawn'])
})

t.test('a publication whose stage becomes another machine’s while the host is looked at is not begun here', async (t) => {
  const at = await publishing(t)
  const ctx = remote(at)
  const here = { ...ctx, gov: { ...at.gov, store: onMachine(at.gov.store, 'a') } }
  const jobId = await at.preparedPublication()
  await approveJob(here.gov, at.session(), {
    jobId, previewDigest: at.job(jobId).preview_sha256, producer: ctx.producer,
  })
  const before = at.job(jobId)
  const late = atStep(here, 'preflight.finished', () => at.transact((tx) =>
    tx.put(machineBoundCollection, `codehost_job/${jobId}`, { machine: 'b' })))
  await t.rejects(runJob(late, at.session(), jobId), {
    code: 'of_other_machine', details: { machine: 'b' },
  })
  t.strictSame(at.job(jobId), before)
  t.equal(at.connection().active_job_id, null)
})

t.test('a link in the place of the folder of stages is not followed: nothing behind it is called a stage', async (t) => {
  const at = await publishing(t)
  mkdirSync(stageOf(at, 'job_of_nobody'), { recursive: true })
  const [{ store }, view] = [at.gov, at.view()]
  const found = () => stageProblems(store, view).map(({ subject }) => subject)
  t.strictSame(found(), ['job_of_nobody'])
  const away = at.place.path('away')
  renameSync(stageOf(at), away)
  symlinkSync(away, stageOf(at))
  t.strictSame(found(), [])
})
