import { each, findEach } from '../../state/each.js'
import { historyHead } from '../../state/history/read-history.js'
import type { HistorySpec, Tx, View } from '../../state/types.js'
import { connectionCollection } from '../../governance/connections/connection-rows.js'
import type { Carrier } from '../../governance/carrier.js'
import { isUnread } from './change.js'
import { closureCollection } from './closed/closed-job-rows.js'
import { jobEntries, jobHistories } from './histories.js'
import { receiptCollection } from './receipt.js'
import { jobCollection, type Job } from './job-rows.js'
import { holdsConnection } from './reserve.js'

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
  job.contacted > 0 || job.reserved || job.state === 'running' || isUnread(job)

/** A closure that the copy does not know: its row, and the connection that it had freed. */
const carryClosure = (tx: Tx, former: View, { job_id: id, closed, connection_id }: Job): void => {
  const closure = closed === null ? undefined : former.get(closureCollection, closed.closure_id)
  if (closure !== undefined) tx.put(closureCollection, closure.closure_id, closure)
  const connection = tx.get(connectionCollection, connection_id)
  if (connection?.active_job_id !== id) return
  tx.put(connectionCollection, connection_id, { ...connection, active_job_id: null })
}

/** Receipts of the former state that the copy does not have; answers the ids of all. */
const carryReceipts = (tx: Tx, former: View, of: ReadonlySet<string>): ReadonlySet<string> => {
  const known = new Set<string>()
  for (const { id, doc } of each(former, receiptCollection)) {
    if (!of.has(doc.job_id)) continue
    known.add(id)
    if (tx.get(receiptCollection, id) === undefined) tx.put(receiptCollection, id, doc)
  }
  return known
}

/** What a job is in the copy: what the former state proved of it, or else unknown. */
const standingOf = (theirs: Job, receipts: ReadonlySet<string>): Pick<Job, 'state' | 'reason'> => {
  const { state, reason, receipt_id: receipt } = theirs
  const isProved = state === 'succeeded' && receipt !== null && receipts.has(receipt)
  // A closed job stays what it was when it was closed, and never runs again.
  const stays = isProved || theirs.closed !== null || !mayHaveSent(theirs) || isUnread(theirs)
  if (stays) return { state, reason }
  return { state: 'unknown_external_effect', reason: 'restored_over_later_state' }
}

/** Whether the copy's row came after the former state's, and knows of all that one sent. */
const isLater = (mine: Job, theirs: Job): boolean =>
  mine.revision >= theirs.revision && mine.contacted >= theirs.contacted
    && (theirs.closed === null || mine.closed !== null)

/** Jobs of the former state of which it knows more than the copy, and which may have sent. */
const changedIn = (tx: Tx, former: View): readonly Job[] =>
  findEach(former, jobCollection, ({ id, doc: theirs }) => {
    const mine = tx.get(jobCollection, id)
    if (mine === undefined) return mayHaveSent(theirs) ? [theirs] : []
    return !isLater(mine, theirs) && (mayHaveSent(theirs) || mine.reserved) ? [theirs] : []
  })

/**
 * What a state that was replaced knew of jobs that may have sent something, and its copy does not:
 * what was proved stays proved, with its receipts; all others are unknown here, whatever the copy
 * thought of them, and keep their connection.
 */
export const carryJobs = (tx: Tx, former: View): void => {
  const changed = changedIn(tx, former)
  if (changed.length === 0) return
  const receipts = carryReceipts(tx, former, new Set(changed.map(({ job_id: id }) => id)))
  for (const theirs of changed) {
    const { job_id: id } = theirs
    const mine = tx.get(jobCollection, id)
    for (const spec of Object.values(jobHistories)) {
      carryHistory(tx, former, spec as HistorySpec<unknown>, id)
    }
    tx.put(jobCollection, id, {
      ...theirs, task_id: mine?.task_id ?? null, restored: true,
      revision: Math.max(mine?.revision ?? 0, theirs.revision) + 1,
      ...standingOf(theirs, receipts),
    })
    if (theirs.closed !== null) carryClosure(tx, former, theirs)
  }
}

/**
 * Behind what connections took over: one that is free by a later fence may be so in a history that
 * went on apart and knew nothing of a job that occupies it here. That job keeps it; one whose
 * connection another job has by then is known as taken over.
 */
export const keepOccupied: Carrier = (tx) => {
  const ousted = findEach(tx, jobCollection, ({ doc }) => {
    const connection = tx.get(connectionCollection, doc.connection_id)
    const isHeld = connection === undefined || holdsConnection(connection, doc)
    return !doc.reserved || isHeld ? [] : [{ job: doc, connection }]
  })
  for (const { job, connection } of ousted) {
    const { job_id: id, connection_id, revision } = job
    const { active_job_id: by } = tx.get(connectionCollection, connection_id) ?? connection
    if (by === null) {
      tx.put(connectionCollection, connection_id, { ...connection, active_job_id: id })
    }
    tx.put(jobCollection, id, { ...job, restored: true, revision: revision + 1 })
  }
  return ousted.length
}
