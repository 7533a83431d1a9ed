/** Whether a job occupies its connection, by rows alone. */
import t from 'tap'
import { holdsConnection } from '../../../src/codehost/jobs/reserve.js'
import type { Job } from '../../../src/codehost/jobs/job-rows.js'
import type { Connection } from '../../../src/governance/connections/connection-rows.js'

const connection = { active_job_id: 'job_1', active_fence: 2 } as unknown as Connection
const job = { job_id: 'job_1', fence: 2 } as unknown as Job

t.test('C-036 a job occupies its connection under its own fence, and under no earlier one', async (t) => {
  t.ok(holdsConnection(connection, job))
  t.notOk(holdsConnection(connection, { ...job, fence: 1 }))
  t.notOk(holdsConnection(connection, { ...job, fence: null }))
  t.notOk(holdsConnection(connection, { ...job, job_id: 'job_2' }))
  t.notOk(holdsConnection({ ...connection, active_job_id: null }, job))
  t.notOk(holdsConnection(undefined, job))
})
