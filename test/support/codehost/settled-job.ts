/** A job that was left somewhere, brought to its end as a person would. */
import { needsApprovalAgain } from '../../../src/codehost/jobs/change.js'
import { must } from '../must.js'
import type { Working } from './working.js'

/** Where a job stands, and why. */
export const toldJob = (at: Pick<Working, 'job'>, job: string): string => {
  const { state, reason } = at.job(job)
  return reason === null ? state : `${state} (${reason})`
}

/** What a person would do; gives where it ends. */
export const settledJob = async (at: Working, job: string): Promise<string> => {
  for (let step = 0; step < 6; step += 1) {
    const row = at.job(job)
    if (row.state === 'unknown_external_effect') await at.reconcile(job)
    else if (needsApprovalAgain(row)) {
      must(await at.approve(job))
      must(await at.runJob(job))
    } else if (row.state === 'approved') must(await at.runJob(job))
    else if (row.state === 'blocked') await at.run(['codehost', 'resume', job])
    const after = at.job(job)
    if (after.revision === row.revision) break
  }
  const { state, task_id: task } = at.job(job)
  if (state === 'succeeded' && at.task(task ?? '')?.state === 'blocked') {
    must(await at.run(['codehost', 'adopt', job]))
  }
  return toldJob(at, job)
}
