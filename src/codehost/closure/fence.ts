/**
 * The permanent fence of a closed job. It lies in the job's row, in the row of its closure and as
 * the newest line of its checkpoints; any of the three is enough, so that no lost or altered one
 * lets a closed job run again (C-055, C-091, C-095 to C-103).
 */
import { historyHead, historyPage } from '../../state/history/read.js'
import { rowsUnder } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { checkpointHistory } from '../jobs/histories.js'
import type { Job } from '../jobs/rows.js'
import { closureCollection, closuresByJob } from './rows.js'

/** The closure that the last checkpoint of a job names; null where it names none. */
export const checkpointClosure = (view: View, jobId: string): string | null => {
  const { entries } = historyHead(view, checkpointHistory, jobId)
  if (entries === 0) return null
  const [last] = historyPage(view, checkpointHistory, jobId, { after: entries - 1, limit: 1 })
  return last?.entry.what === 'closed' ? last.entry.closure_id : null
}

/** The closure that fences a job for good; null for one that is not closed. */
export const closedBy = (view: View, job: Pick<Job, 'job_id' | 'closed'>): string | null => {
  if (job.closed !== null) return job.closed.closure_id
  const [row] = rowsUnder(view, closureCollection, closuresByJob, {
    under: [job.job_id], limit: 1,
  })
  return row?.id ?? checkpointClosure(view, job.job_id)
}
