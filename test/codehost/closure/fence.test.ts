/** A closed job never runs again, by any of the ten ways, and each try is written down. */
import {
  fenceRejection, fencedRoutes, requireUnclosed,
} from '../../../src/codehost/jobs/closed/fence.js'
import { closureCollection } from '../../../src/codehost/jobs/closed/closed-job-rows.js'
import { reserveConnection } from '../../../src/codehost/jobs/reserve.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import { listAudit } from '../../../src/governance/audit.js'
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { failure, must } from '../../support/must.js'
import { closing, type Closing } from '../../support/codehost/closing.js'
import { hostTime, plantIssue } from '../../support/codehost/planted.js'
import { t } from '../../support/tests-in-slices.js'

const rows = (at: Closing, job: string) => listAudit(at.view())
  .filter(({ what, subject }) => what === 'codehost.fenced' && subject === job)

t.test('C-095 C-096 C-101 C-102 C-103 C-180 a closed job is neither run, gone on with, read back to success nor adopted, and each try is in the audit', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Closed', 'numbered')
  const [before] = [at.job(job)]
  must(await at.close(job, at.request(job)))
  const closed = at.job(job)
  const revision = String(at.connection().revision)
  const tries: readonly (readonly [string, readonly string[]])[] = [
    ['execute', ['run', job]], ['approved_resume', ['resume', job]],
    ['finalize', ['reconcile', job, '--expected-read-revision', revision]],
    ['adopt', ['adopt', job]],
  ]
  t.strictSame(await at.during(async () => {
    for (const round of [1, 2]) {
      for (const [number, [route, words]] of tries.entries()) {
        const ran = await at.run(['codehost', ...words, '--json'])
        t.equal(failure(ran).code, 'job_closed', `${route}: ${ran.stderr}`)
        const seen = rows(at, job)
        t.equal(seen.length, (round - 1) * tries.length + number + 1, 'one row a try')
        t.hasStrict(seen.at(-1), {
          root: before.root, facts: { route, fence: 1, closure: closed.closed?.closure_id },
        })
      }
      t.not((await at.run(['codehost', 'cancel', job, '--json'])).status, 0)
    }
  }), [])
  t.strictSame(at.job(job), closed, 'nothing of it changed')
})

t.test('C-101 C-180 what was refused and is closed all the same is not read back, in no session, and each try is written down', async (t) => {
  const at = await closing(t)
  const job = await at.approved()
  at.sandbox.faults.set('write_not_done_422', { service: 'codehost', times: 1 })
  await at.runJob(job)
  at.sandbox.faults.clear()
  t.equal(at.job(job).state, 'failed')
  const alike = plantIssue(at, hostTime(Date.now()))
  must(await at.close(job, at.request(job, { remote_id: alike })))
  const reconciled = async (): Promise<void> => {
    t.equal(failure(await at.reconcile(job)).code, 'job_closed')
  }
  t.strictSame(await at.during(async () => {
    await reconciled()
    must(await at.run(['login', '--replace']))
    await reconciled()
  }), [])
  t.strictSame(rows(at, job).map(({ facts }) => facts['route']), ['finalize', 'finalize'])
})

t.test('C-055 C-091 each of the three places of the fence is enough by itself', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Places', 'numbered')
  must(await at.close(job, at.request(job)))
  const row = at.job(job)
  const closure = row.closed?.closure_id ?? ''
  await at.transact((tx) => tx.put(jobCollection, job, { ...row, closed: null, state: 'approved' }))
  t.equal(failure(await at.runJob(job)).code, 'job_closed', 'row of the closure and checkpoint')
  await at.transact((tx) => tx.remove(closureCollection, closure))
  t.equal(failure(await at.runJob(job)).code, 'job_closed', 'the checkpoint alone')
  t.equal(at.posts().length, 1)
})

t.test('C-097 C-098 C-100 every route asks by its own name, and a freed connection is not taken back', async (t) => {
  const at = await closing(t)
  const job = await at.unknown('Routes', 'numbered')
  must(await at.close(job, at.request(job)))
  const row = at.job(job)
  for (const route of fencedRoutes) {
    try {
      requireUnclosed(at.view(), row, route)
      t.fail(`${route} let it pass`)
    } catch (error) {
      t.hasStrict(fenceRejection(new Error('outer', { cause: error })), { route, jobId: job })
    }
  }
  for (const [holder, route] of [[null, 'reserve'], [job, 'reacquire']] as const) {
    const connection = { ...at.connection(), active_job_id: holder }
    await t.rejects(at.transact((tx) => {
      tx.put(connectionCollection, at.id, connection)
      reserveConnection(tx, '2026-01-01T00:00:00.000Z', row, 'op')
    }), { code: 'job_closed', details: { route } })
  }
  t.equal(at.connection().active_job_id, null)
  t.equal(fenceRejection(new Error('another')), null)
})

t.test('C-099 C-180 a worker that was about to send wakes behind the closure and sends nothing', async (t) => {
  const at = await closing(t)
  const job = await at.approved('Paused')
  const closed = { closure_id: 'cls_other', at: '2026-01-01T00:00:00.000Z', fence: 1 }
  let done = false
  const ran = await at.runJob(job, {
    at: async (step) => {
      if (step !== 'codehost.before_first_byte' || done) return
      done = true
      await at.transact((tx) => tx.put(jobCollection, job, { ...at.job(job), closed }))
    },
  })
  t.ok(done)
  t.not(ran.status, 0)
  t.equal(at.posts().length, 0)
  t.hasStrict(rows(at, job).map(({ facts }) => facts['route']), ['post_handoff'])
  t.hasStrict(at.job(job), { closed, state: 'running', reason: null, reserved: true },
    'what was closed stays as it was closed')
  t.equal(at.connection().active_job_id, job)
})

t.test('C-095 what is closed is not looked at as something to be sent, either', async (t) => {
  const at = await closing(t)
  const job = await at.prepare('Preview')
  const closed = { closure_id: 'cls_other', at: '2026-01-01T00:00:00.000Z', fence: 1 }
  await at.transact((tx) => tx.put(jobCollection, job, { ...at.job(job), closed }))
  const ran = await at.run(['codehost', 'preview', job, '--json'])
  t.match(String(ran.error().details['reasons']), /job_closed/, ran.stderr)
})
