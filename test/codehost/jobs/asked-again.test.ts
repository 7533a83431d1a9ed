/**
 * What was looked at is asked again in the record that rests on it: whoever changes a row in
 * between is not passed over, and what is decided moves the anchor.
 */
import t, { type Test } from 'tap'
import { adoptJob } from '../../../src/codehost/jobs/adopt.js'
import { approveJob } from '../../../src/codehost/jobs/approve.js'
import { cancelJob } from '../../../src/codehost/jobs/cancel.js'
import { prepareFollowThrough } from '../../../src/codehost/jobs/prepare.js'
import { previewJob } from '../../../src/codehost/jobs/preview.js'
import { reconcileJob } from '../../../src/codehost/jobs/reconcile.js'
import { runJob } from '../../../src/codehost/jobs/run.js'
import { jobCollection, type Job } from '../../../src/codehost/jobs/job-rows.js'
import { collections } from '../../../src/governance/rows.js'
import { anchorOf } from '../../support/anchor.js'
import { betweenLookAndRecord } from '../../support/between.js'
import { must } from '../../support/must.js'
import { atStep } from '../../support/codehost/at-step.js'
import { remote } from '../../support/codehost/elsewhere.js'
import { reconciled, unread } from '../../support/codehost/reconciled.js'
import { working, type Working } from '../../support/codehost/working.js'

const altered = (change: Partial<Job>) => async (at: Working, job: string): Promise<unknown> =>
  at.transact((tx) => tx.put(jobCollection, job, { ...at.job(job), ...change }))

const closed = { closure_id: 'cls_other', at: '2026-01-01T00:00:00.000Z', fence: 1 }

/** What happens in between, and how it is told. */
type Between = readonly [string, (at: Working, job: string) => Promise<unknown>]

/** An act that is refused in its record, where nothing of the job changed but what happened. */
const refusedInRecord = async (t: Test, at: Working, { job, act, change, code }: {
  readonly job: string
  readonly act: typeof adoptJob | typeof cancelJob
  readonly change: Between[1]
  readonly code: string
}): Promise<void> => {
  let changed: Job | undefined
  const session = at.session()
  await t.rejects(act(betweenLookAndRecord(at.gov, async () => {
    await change(at, job)
    changed = at.job(job)
  }), session, job), { code })
  t.strictSame(at.job(job), changed, 'nothing of it changed')
}

const sessionEnds: Between = ['session_ended', async (at) => must(await at.run(['logout']))]

const adoptions: readonly Between[] = [
  ['job_closed', altered({ closed })],
  ['root_replaced', altered({ root: 'root_other' })],
  ['job_not_found', altered({ owner: 'prn_other' })],
  sessionEnds,
]

for (const [code, change] of adoptions) {
  t.test(`C-011 C-284 an adoption that was right when it was looked at is refused in its record: ${code}`, async (t) => {
    const at = await working(t)
    const job = await reconciled(at)
    await refusedInRecord(t, at, { job, act: adoptJob, change, code })
    t.not(at.task(at.job(job).task_id ?? '')?.state, 'succeeded')
  })
}

const approvals: readonly Between[] = [
  ['preview_changed', altered({ preview_sha256: 'a'.repeat(64) })],
  ['job_state', altered({ state: 'cancelled' })],
  ['root_replaced', altered({ root: 'root_other' })],
  ['job_not_found', altered({ owner: 'prn_other' })],
  ['codehost_write_denied', async (at) => must(await at.run(['codehost', 'revoke', at.id]))],
  sessionEnds,
]

for (const [code, change] of approvals) {
  t.test(`C-011 C-012 an approval that was right when it was looked at is refused in its record: ${code}`, async (t) => {
    const at = await working(t)
    const job = await at.prepare()
    const { digest } = await at.json(['codehost', 'preview', job])
    const session = at.session()
    await t.rejects(approveJob(betweenLookAndRecord(at.gov, () => change(at, job)), session, {
      jobId: job, previewDigest: digest,
    }), { code })
    t.equal(at.job(job).approval, null)
  })
}

const cancels: readonly Between[] = [
  ['job_closed', altered({ closed })],
  ['effect_stands', altered({ state: 'unknown_external_effect', contacted: 1, reserved: true })],
  ['job_not_found', altered({ owner: 'prn_other' })],
]

for (const [code, change] of cancels) {
  t.test(`C-022 a job that could be given up when it was looked at is not given up in its record: ${code}`, async (t) => {
    const at = await working(t)
    const job = await at.prepare()
    await refusedInRecord(t, at, { job, act: cancelJob, change, code })
  })
}

const neverRun: readonly Between[] = [
  ['job_closed', altered({ closed })], ['root_replaced', altered({ root: 'root_other' })],
]

for (const [code, change] of neverRun) {
  t.test(`C-102 C-284 why nothing of a job is adopted is told first, also where it never ran: ${code}`, async (t) => {
    const at = await working(t)
    const job = await at.prepare()
    await t.rejects(adoptJob(at.gov, at.session(), job), { code: 'job_state' })
    await change(at, job)
    await t.rejects(adoptJob(at.gov, at.session(), job), { code })
  })
}

const readbacks: readonly Between[] = [
  ['job_closed', altered({ closed })],
  ['job_changed', async (at, job) => altered({ revision: at.job(job).revision + 1 })(at, job)],
]

for (const [code, change] of readbacks) {
  t.test(`C-101 C-104 a job that is another one when it is to be read back is refused, and nobody is asked: ${code}`, async (t) => {
    const at = await working(t)
    const job = await unread(at)
    const [ctx, session] = [remote(at), at.session()]
    const before = at.requests().length
    let changed: Job | undefined
    const gov = betweenLookAndRecord(at.gov, async () => {
      await change(at, job)
      changed = at.job(job)
    })
    await t.rejects(reconcileJob({ ...ctx, gov }, session, {
      jobId: job, expectedReadRevision: at.connection().revision,
    }), { code })
    t.equal(at.requests().length, before)
    t.strictSame(at.job(job), changed, 'nothing of it changed')
  })
}

t.test('C-101 C-180 a run whose job was closed behind its readback counts for nothing, whatever it proved', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  let changed: Job | undefined
  const ctx = atStep({ ...remote(at), gov: at.gov }, 'codehost.sealed', async () => {
    await altered({ closed })(at, job)
    changed = at.job(job)
  })
  await t.rejects(runJob(ctx, at.session(), job), { code: 'job_closed' })
  t.equal(changed?.created, 1)
  t.strictSame(at.job(job), changed, 'what was closed stays as it was closed')
})

t.test('what is looked at or prepared has time for all that it is to send', async (t) => {
  const at = await working(t)
  const { gov } = remote(at)
  const session = at.session()
  const prepare = () => prepareFollowThrough(gov, session, {
    connectionId: at.id, wish: { what: 'issue', title: 'T', body: 'B' },
  })
  must(await at.consent(['--action', 'issue.create', '--duration', '1m']))
  const { job_id: id } = await prepare()
  at.clock.advance(59_500)
  const refused = { code: 'codehost_too_short', reason: 'consent' }
  t.throws(() => previewJob(gov, session, id), refused)
  t.equal(previewJob(at.gov, session, id).job.job_id, id, 'a host of this machine is not waited for')
  const before = at.view().all(jobCollection).length
  await t.rejects(prepare(), refused)
  t.equal(at.view().all(jobCollection).length, before)
})

t.test('C-012 C-284 approving, adopting and cancelling move the anchor, once', async (t) => {
  const at = await working(t)
  const moves = async (act: () => Promise<unknown>, name: string): Promise<void> => {
    const before = anchorOf(at.place)
    await act()
    const moved = anchorOf(at.place)
    t.not(moved, before, `${name} moves it`)
    await act()
    t.equal(anchorOf(at.place), moved, `${name} again leaves it`)
  }
  const job = await at.prepare()
  await moves(() => at.approve(job), 'approve')
  await moves(() => cancelJob(at.gov, at.session(), job), 'cancel')
  const proved = await reconciled(at)
  await moves(() => adoptJob(at.gov, at.session(), proved), 'adopt')
  t.equal(at.view().get(collections.closedTasks, at.job(proved).task_id ?? '')?.state, 'succeeded')
})
