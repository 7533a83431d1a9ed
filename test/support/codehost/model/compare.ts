/** Compares every row that the model knows with what the program has. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { followThroughKind } from '../../../../src/codehost/jobs/kinds.js'
import type { Lived } from './lived.js'
import { requestJson } from './requests.js'

/** Names of the kept requests. */
export const keptNames = (lived: Lived): readonly string[] => {
  const folder = join(lived.at.stateDir, 'pending')
  return existsSync(folder) ? readdirSync(folder).sort() : []
}

const comparePending = (lived: Lived): void => {
  const folder = join(lived.at.stateDir, 'pending')
  const kept = keptNames(lived)
  const expected = [...lived.model.pending].map(([key]) => `${key}.json`).sort()
  assert.deepEqual(kept, expected, 'kept requests')
  for (const [key, { job, request }] of lived.model.pending) {
    const read = JSON.parse(readFileSync(join(folder, `${key}.json`), 'utf8')) as unknown
    assert.deepEqual(read, {
      schema: 'svc.codehost.close-pending.v1', job_id: lived.id(job), kind: followThroughKind,
      request: requestJson(request),
    }, 'a kept request')
  }
}

/** No job was sent twice: each body is sent at most as often as there are jobs with it. */
const requireOnce = (lived: Lived): void => {
  const posts = lived.at.host.seen.filter(({ method }) => method === 'POST')
  for (const body of new Set(posts.map((one) => one.body))) {
    const sent = posts.filter((one) => one.body === body).length
    const { title } = JSON.parse(body) as { title: string }
    const jobs = lived.model.jobs.filter((job) => job.title === title).length
    assert.ok(sent <= jobs, `${sent} POSTs of ${jobs} jobs`)
  }
}

/** Every row that the model knows is what the model says. */
export const compare = (lived: Lived): void => {
  const { connection, jobs, receipts, fenced, told, looks } = lived.rows()
  const model = lived.model
  const { active } = model
  assert.deepEqual({
    active: connection.active_job_id, fence: connection.active_fence,
    revision: connection.revision,
  }, {
    active: active === null ? null : lived.id(active), fence: model.fence,
    revision: model.revision,
  }, 'the connection')
  for (const [number, row] of jobs.entries()) {
    const { state, revision, reserved, closed } = lived.job(number)
    assert.deepEqual({
      state: row.state, revision: row.revision, reserved: row.reserved,
      closed: row.closed !== null,
    }, { state, revision, reserved, closed: closed !== null }, `job ${number}`)
    assert.equal(told[number], lived.job(number).told, `the number of job ${number}`)
    assert.equal(looks[number], lived.job(number).looks, `looks at job ${number}`)
  }
  assert.deepEqual([...receipts].sort(), model.jobs.flatMap(({ closed }, number) =>
    (closed === null ? [] : [[lived.id(number), closed.receipt]])).sort(), 'receipts')
  assert.deepEqual(fenced, model.fenced, 'what the fence rejected is written down')
  comparePending(lived)
  requireOnce(lived)
}
