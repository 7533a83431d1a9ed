/**
 * Every record that says what may have happened of a job moves the anchor, so that an old copy of
 * the state cannot forget it.
 */
import t from 'tap'
import { approveJob } from '../../../src/codehost/jobs/approve.js'
import { effectHistory } from '../../../src/codehost/jobs/histories.js'
import { standingCollection } from '../../../src/codehost/jobs/job-rows.js'
import { reconcileJob } from '../../../src/codehost/jobs/reconcile.js'
import { runJob } from '../../../src/codehost/jobs/run.js'
import { giveStanding } from '../../../src/codehost/jobs/standing.js'
import type { CodehostContext } from '../../../src/codehost/context.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { historyHead } from '../../../src/state/history/read-history.js'
import { minute } from '../../support/clock.js'
import { atStep } from '../../support/codehost/at-step.js'
import { remote } from '../../support/codehost/elsewhere.js'
import { publishing } from '../../support/codehost/publishing.js'
import { working, type Working } from '../../support/codehost/working.js'
import { notedRecords, type NotedRecord } from '../../support/noted-records.js'

/** Notes the records that change a job's row or its ledger, while something is done. */
const during = async (
  at: Working, job: string, act: (ctx: CodehostContext) => Promise<unknown>,
): Promise<readonly NotedRecord[]> => {
  const { gov, records } = notedRecords(at.gov, at.place, () =>
    [at.job(job), historyHead(at.view(), effectHistory, job)])
  await act({ ...remote(at), gov })
  return records
}

const run = (at: Working, job: string, ctx: CodehostContext): Promise<unknown> =>
  runJob(ctx, at.session(), job)

const moved = (length: number, verb: string): readonly NotedRecord[] =>
  Array.from({ length }, () => ({ verb, moved: true }))

/** Its claim, then the mark and the outcome of each POST, then its end. */
const recordsOf = (posts: number): number => 2 + 2 * posts

t.test('C-012 each record of a run moves the anchor: of one that succeeds and of one that is not answered', async (t) => {
  const at = await working(t)
  for (const [state, fault] of [
    ['succeeded', null], ['unknown_external_effect', 'write_close_before_headers'],
  ] as const) {
    const job = await at.approved()
    if (fault !== null) at.sandbox.faults.set(fault, { service: 'codehost', times: 1 })
    const records = await during(at, job, (ctx) => run(at, job, ctx))
    t.equal(at.job(job).state, state)
    t.strictSame(records, moved(recordsOf(1), 'codehost run'), state)
  }
})

t.test('C-012 C-079 each record that approves a publication, takes its approval back and runs it moves the anchor', async (t) => {
  const at = await publishing(t)
  const job = await at.preparedPublication()
  const approve = (ctx: CodehostContext): Promise<unknown> => approveJob(ctx.gov, at.session(), {
    jobId: job, previewDigest: at.job(job).preview_sha256, producer: ctx.producer,
  })
  t.strictSame(await during(at, job, approve), moved(1, 'codehost approve'))
  await at.transact((tx) => tx.put(connectionCollection, at.id, {
    ...at.connection(), active_fence: 7,
  }))
  t.strictSame(await during(at, job, approve), moved(2, 'codehost approve'), 'taken back, anew')
  const records = await during(at, job, (ctx) => run(at, job, ctx))
  t.equal(at.job(job).state, 'succeeded')
  const local = 2
  t.strictSame(records, moved(recordsOf(at.job(job).plan.effects) + local, 'codehost run'))
})

t.test('C-081 the end of a publication whose local work was stopped moves the anchor, as all before it does', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const stop = new AbortController()
  const records = await during(at, job, (ctx) => run(at, job, atStep(
    { ...ctx, signal: stop.signal }, 'codehost.spawn_intended', () => { stop.abort() })))
  t.hasStrict(at.job(job), { state: 'failed', reserved: false })
  t.strictSame(records, moved(4, 'codehost run'), 'claim, spawn, proof and end')
})

t.test('C-104 what a later readback finds of a part of a job moves the anchor', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1, after: 2 })
  await run(at, job, remote(at))
  const records = await during(at, job, async (ctx) => {
    await t.rejects(reconcileJob(ctx, at.session(), {
      jobId: job, expectedReadRevision: at.connection().revision,
    }), { code: 'codehost_incomplete' })
  })
  t.hasStrict(at.job(job), { state: 'blocked', created: 3 })
  t.strictSame(records, moved(1, 'codehost reconcile'))
})

t.test('C-007 a standing authority moves the anchor where it is given', async (t) => {
  const at = await working(t)
  const { gov, records } = notedRecords(at.gov, at.place, () =>
    at.view().all(standingCollection))
  await giveStanding(gov, at.session(), {
    connectionId: at.id, actions: ['issue.create'], jobsMax: 1,
    until: new Date(at.clock.wallMs() + minute).toISOString(),
  })
  t.strictSame(records, moved(1, 'codehost approve'))
})
