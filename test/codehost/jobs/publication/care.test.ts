/** Publications in a state that is looked after: checked, copied, put back. */
import { join } from 'node:path'
import { appendEntry, effectHistory } from '../../../../src/codehost/jobs/histories.js'
import { jobCollection } from '../../../../src/codehost/jobs/job-rows.js'
import { must } from '../../../support/must.js'
import { publishing } from '../../../support/codehost/publishing.js'
import { t } from '../../../support/tests-in-slices.js'

t.test('a publication that was sent before its local work was done, or out of order, is not sound', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const now = at.job(job).created_at
  await at.transact((tx) => {
    appendEntry(tx, effectHistory, job, {
      type: 'contacted', at: now, effect: 1, attempt: 1, operation_id: 'op', fence: 1,
      body_sha256: 'a'.repeat(64),
    })
    appendEntry(tx, effectHistory, job, {
      type: 'outcome', at: now, effect: 1, outcome: 'created', status: 201, reason: null,
      remote_id: null, raw_sha256: null,
    })
    tx.put(jobCollection, job, { ...at.job(job), contacted: 1, created: 1 })
  })
  const ran = await at.run(['state', 'check', '--json'])
  t.not(ran.status, 0)
  t.match(`${ran.stdout}${ran.stderr}`, 'codehost_job_order')
})

t.test('C-045 a copy that is put back over a publication under way knows what may have happened, and sends nothing again', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const kept = join(at.place.dir, 'kept')
  must(await at.run(['state', 'backup', kept]))
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', after: 2, times: 1 })
  await at.runJob(job)
  at.sandbox.faults.clear()
  const { revision, ...sent } = at.job(job)
  t.hasStrict(sent, { state: 'unknown_external_effect', contacted: 3, created: 2 })
  must(await at.run(['state', 'restore', kept, '--yes']))
  must(await at.run(['login']))
  t.ok(at.job(job).revision > revision, 'what was decided of it before stands for it no more')
  t.hasStrict(at.job(job), {
    state: 'unknown_external_effect', reason: 'restored_over_later_state', contacted: 3,
    created: 2, restored: true, reserved: true,
  })
  t.equal(at.connection().active_job_id, job)
  const { history } = await at.json(['codehost', 'job', job, '--history', 'effects'])
  t.equal(history.entries, 9, 'what the later state wrote down is carried over')
  for (const verb of ['run', 'resume']) {
    t.equal((await at.run(['codehost', verb, job, '--json'])).error().code, 'job_state')
  }
  t.equal((await at.reconcile(job)).error().code, 'root_replaced')
  t.equal(at.posts().length, 3)
  const check = await at.run(['state', 'check'])
  t.equal(check.status, 0, check.stdout + check.stderr)
})

t.test('C-045 a copy of before the local work knows that it was begun, and frees no connection', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  const kept = join(at.place.dir, 'kept')
  must(await at.run(['state', 'backup', kept]))
  await at.place.spawn(['codehost', 'run', job], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: 'codehost.spawn_intended' },
  })
  must(await at.run(['state', 'restore', kept, '--yes']))
  must(await at.run(['login']))
  t.hasStrict(at.job(job), { state: 'unknown_external_effect', reserved: true, restored: true })
  t.equal(at.connection().active_job_id, job)
  t.equal((await at.json(['codehost', 'connections']))[0].occupied_for_good, true)
})
