/** For which jobs, how many and until when a standing authority stands, by rows alone. */
import t from 'tap'
import { msFromIso } from '../../../src/base/clock.js'
import type { Job, Standing } from '../../../src/codehost/jobs/job-rows.js'
import { isCurrent, mayStand } from '../../../src/codehost/jobs/standing-rule.js'

const until = '2026-11-20T10:00:00.000Z'
const endMs = msFromIso(until)

const standing = {
  connection_id: 'con_1', owner: 'ada', root: 'root_1', consent_id: 'consent_1',
  actions: ['issue.create', 'issue.comment'], expires_at: until, jobs: ['job_0'], jobs_max: 2,
} as unknown as Standing

const job = {
  job_id: 'job_1', connection_id: 'con_1', owner: 'ada', root: 'root_1',
  consent: { consent_id: 'consent_1' }, actions: ['issue.create'],
} as unknown as Job

t.test('C-007 a standing authority is over at the very moment that it names', async (t) => {
  t.ok(mayStand(standing, job, endMs - 1))
  t.notOk(mayStand(standing, job, endMs))
  t.ok(isCurrent(standing, job, endMs - 1))
  t.notOk(isCurrent(standing, job, endMs))
  t.notOk(isCurrent(undefined, job, endMs - 1))
})

t.test('C-007 it stands for jobs of its own connection, consent, session, owner and actions, and no more of them', async (t) => {
  const others: Readonly<Record<string, Partial<Record<keyof Job, unknown>>>> = {
    connection: { connection_id: 'con_2' }, owner: { owner: 'bob' }, session: { root: 'root_2' },
    consent: { consent: { consent_id: 'consent_2' } },
    actions: { actions: ['issue.create', 'pull.create'] },
  }
  for (const [what, other] of Object.entries(others)) {
    t.notOk(mayStand(standing, { ...job, ...other } as Job, endMs - 1), what)
  }
  const full = { ...standing, jobs: ['job_0', 'job_2'] }
  t.notOk(mayStand(full, job, endMs - 1))
  t.ok(mayStand(full, { ...job, job_id: 'job_2' }, endMs - 1), 'which it has counted')
})
