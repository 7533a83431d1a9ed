/** What a readback of an issue and of a publication is told that is too late, or proves another. */
import t from 'tap'
import { receiptCollection, receiptsByJob } from '../../../src/codehost/jobs/receipt.js'
import { jobCollection, type Job } from '../../../src/codehost/jobs/job-rows.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { rowsUnder } from '../../../src/state/indexes.js'
import { publishing } from '../../support/codehost/publishing.js'
import { working, type Working } from '../../support/codehost/working.js'
import { failure, must } from '../../support/must.js'

/** Runs a job that nobody reads back. */
const unread = async (at: Working, job: string): Promise<void> => {
  await at.runJob(job, {
    at: (step) => {
      if (step !== 'codehost.created') return
      at.sandbox.faults.set('read_not_there', { service: 'codehost', times: 1 })
    },
  })
  at.sandbox.faults.clear()
}

t.test('what another repository shows under the name proves nothing, and nothing more is asked of it', async (t) => {
  const at = await publishing(t)
  const publication = await at.approvedPublication()
  await unread(at, publication)
  const refused = async (job: string, kind: string): Promise<void> => {
    const before = at.requests().length
    at.sandbox.faults.set('repository_renumbered', { service: 'codehost', times: 1 })
    t.equal(failure(await at.reconcile(job)).code, 'repository_replaced', kind)
    at.sandbox.faults.clear()
    t.equal(at.requests().length, before + 1, kind)
    t.hasStrict(at.job(job), { state: 'unknown_external_effect', reserved: true }, kind)
    must(await at.reconcile(job))
  }
  await refused(publication, 'a publication')
  must(await at.consent())
  const issue = await at.approved()
  await unread(at, issue)
  await refused(issue, 'an issue')
})

t.test('of two readbacks of one job the later one is told that the job changed meanwhile', async (t) => {
  const at = await publishing(t)
  const publication = await at.approvedPublication()
  await unread(at, publication)
  const late = async (job: string, kind: string): Promise<void> => {
    t.hasStrict(at.job(job), { state: 'unknown_external_effect', reserved: true }, kind)
    let others = 0
    const ran = await at.reconcile(job, {
      at: async (step) => {
        if (step !== 'reconcile.charge_known' || others > 0) return
        others += 1
        must(await at.reconcile(job))
      },
    })
    t.equal(others, 1, kind)
    t.equal(failure(ran).code, 'job_changed', kind)
    t.hasStrict(at.job(job), { state: 'succeeded', reserved: false }, kind)
  }
  await late(publication, 'a publication')
  must(await at.consent())
  const issue = await at.approved()
  await unread(at, issue)
  await late(issue, 'an issue')
})

t.test('of two readbacks of a publication that was sent in part one alone counts what was found', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', after: 2, times: 1 })
  await at.runJob(job)
  at.sandbox.faults.clear()
  t.hasStrict(at.job(job), { state: 'unknown_external_effect', contacted: 3, created: 2 })
  let found: Job | undefined
  const ran = await at.reconcile(job, {
    at: async (step) => {
      if (step !== 'reconcile.charge_known' || found !== undefined) return
      found = at.job(job)
      t.equal(failure(await at.reconcile(job)).code, 'codehost_incomplete')
      found = at.job(job)
    },
  })
  t.equal(failure(ran).code, 'job_changed')
  t.hasStrict(found, { state: 'blocked', reason: 'incomplete', contacted: 3, created: 3 })
  t.strictSame(at.job(job), found)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, `what proves it is kept: ${check.stdout}${check.stderr}`)
})

t.test('of a publication that died between two POSTs the last that was answered is read back, and no other', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const stop = new AbortController()
  let seen = 0
  await at.runJob(job, {
    stop: stop.signal,
    at: (step) => {
      if (step === 'codehost.before_resolve' && (seen += 1) === 4) stop.abort()
    },
  })
  const row = at.job(job)
  t.hasStrict(row, { state: 'blocked', contacted: 3, created: 3, reserved: true })
  // As a process leaves it that dies there.
  await at.transact((tx) => tx.put(jobCollection, job, {
    ...row, state: 'unknown_external_effect', reason: 'interrupted_after_contact',
  }))
  t.equal(failure(await at.reconcile(job)).code, 'codehost_incomplete')
  const receipts = rowsUnder(at.view(), receiptCollection, receiptsByJob, { under: [job] })
  t.strictSame(receipts.map(({ doc }) => doc.receipt.effect.number), [3])
  must(await at.run(['codehost', 'resume', job]))
  t.equal(at.posts().length, 6)
})

t.test('an issue without a number is told so, whatever became of its plan', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', times: 1 })
  await at.runJob(job)
  at.sandbox.faults.clear()
  const row = at.job(job)
  await at.transact((tx) => tx.put(jobCollection, job, {
    ...row, plan: { ...row.plan, sha256: '0'.repeat(64) },
  }))
  t.equal(failure(await at.reconcile(job)).code, 'remote_id_required')
})

t.test('a publication whose number proved another job is not told to send a rest', async (t) => {
  const at = await publishing(t)
  const first = await at.approvedPublication()
  must(await at.runJob(first))
  const second = await at.approvedPublication()
  at.sandbox.faults.set('write_other_text', { service: 'codehost', after: 5, times: 1 })
  await at.runJob(second)
  at.sandbox.faults.clear()
  const { remote, plan } = at.job(second)
  t.hasStrict(at.job(second), {
    state: 'unknown_external_effect', contacted: plan.effects, created: plan.effects - 1,
  })
  // As if the host had answered with the number that it gave before.
  const row = at.view().get(receiptCollection, at.job(first).receipt_id ?? '')
  if (row === undefined) throw new Error('it was proved')
  const effect = { ...row.receipt.effect, remote_id: remote?.id ?? 0 }
  await at.transact((tx) => tx.put(receiptCollection, row.readback_id, {
    ...row, receipt: { ...row.receipt, effect },
  }))
  const back = (await at.reconcile(second)).error()
  t.hasStrict(back, { code: 'codehost_incomplete', reason: 'remote_taken' })
  t.notMatch(back.hint, 'resume')
  t.hasStrict(at.job(second), {
    state: 'blocked', reason: 'remote_taken', reserved: true, created: plan.effects - 1,
  }, 'what proves another counts for this one no more than before')
})

t.test('a connection that another job holds meanwhile is neither read through nor freed', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  await unread(at, job)
  const sound = at.connection()
  // Behind the first reply one GET has left, before the dial none.
  for (const [moment, gets] of [
    ['reconcile.before_dial', 0], ['reconcile.replied', 1], ['reconcile.charge_known', 2],
  ] as const) {
    const before = at.requests().length
    const ran = await at.reconcile(job, {
      at: async (step) => {
        if (step !== moment) return
        await at.transact((tx) => tx.put(connectionCollection, at.id, {
          ...sound, active_job_id: 'job_other',
        }))
      },
    })
    t.equal(failure(ran).code, 'reservation_lost', moment)
    t.equal(at.requests().length, before + gets, moment)
    t.hasStrict(at.job(job), { state: 'unknown_external_effect', reserved: true }, moment)
    t.equal(at.connection().active_job_id, 'job_other', moment)
    await at.transact((tx) => tx.put(connectionCollection, at.id, sound))
  }
  must(await at.reconcile(job))
})

t.test('a connection to another repository of the same name reads nothing back of what was sent to the first', async (t) => {
  const at = await working(t)
  const job = await at.approved()
  await unread(at, job)
  const sound = at.connection()
  const before = at.requests().length
  await at.transact((tx) => tx.put(connectionCollection, at.id, {
    ...sound, repository_id: (sound.repository_id ?? 0) + 1,
  }))
  t.equal(failure(await at.reconcile(job)).code, 'repository_changed')
  t.equal(at.requests().length, before, 'nobody is asked')
  t.hasStrict(at.job(job), { state: 'unknown_external_effect', reserved: true })
  await at.transact((tx) => tx.put(connectionCollection, at.id, sound))
  must(await at.reconcile(job))
})
