import { each } from '../../state/each.js'
import { historyHead } from '../../state/history/read.js'
import type { HistorySpec, Tx, View } from '../../state/types.js'
import { connectionCollection } from '../../governance/connections/rows.js'
import { closureCollection } from '../closure/rows.js'
import { jobEntries, jobHistories } from './histories.js'
import { jobCollection, type Job } from './rows.js'

/** Lines that the former state had and the copy does not; its own stay as they are. */
const carryHistory = <T>(tx: Tx, former: View, spec: HistorySpec<T>, jobId: string): void => {
  try {
    const head = historyHead(tx, spec, jobId)
    tx.append(spec, jobId, head, jobEntries(former, spec, jobId).slice(head.entries))
  } catch {
    // Lines that nobody can read any more are not made up: the job says that it is unknown.
  }
}

const mayHaveSent = (job: Job): boolean =>
  job.contacted > 0 || job.reserved || job.state === 'running'

/** A closure that the copy does not know: its row, and the connection that it had freed. */
const carryClosure = (tx: Tx, former: View, { job_id: id, closed, connection_id }: Job): void => {
  const closure = closed === null ? undefined : former.get(closureCollection, closed.closure_id)
  if (closure !== undefined) tx.put(closureCollection, closure.closure_id, closure)
  const connection = tx.get(connectionCollection, connection_id)
  if (connection?.active_job_id !== id) return
  tx.put(connectionCollection, connection_id, { ...connection, active_job_id: null })
}

/**
 * What a state that was replaced knew of jobs that may have sent something, and its copy does not:
 * they are unknown here, whatever the copy thought of them, and keep their connection.
 */
export const carryJobs = (tx: Tx, former: View): void => {
  for (const { id, doc: theirs } of each(former, jobCollection)) {
    const mine = tx.get(jobCollection, id)
    const same = mine?.contacted === theirs.contacted && mine.created === theirs.created
      && mine.state === theirs.state && mine.reserved === theirs.reserved
      && mine.closed?.closure_id === theirs.closed?.closure_id
    if (same || !mayHaveSent(theirs)) continue
    for (const spec of Object.values(jobHistories)) {
      carryHistory(tx, former, spec as HistorySpec<unknown>, id)
    }
    tx.put(jobCollection, id, {
      ...theirs, task_id: mine?.task_id ?? null, restored: true,
      revision: Math.max(mine?.revision ?? 0, theirs.revision) + 1,
      // A closed job stays what it was when it was closed, and never runs again.
      ...(theirs.state === 'succeeded' || theirs.closed !== null ? {} : {
        state: 'unknown_external_effect' as const, reason: 'restored_over_later_state',
      }),
    })
    if (theirs.closed !== null) carryClosure(tx, former, theirs)
  }
}
