/**
 * What a run leaves whose process died. Where its ledger has a mark, something may have happened:
 * the job is unknown and keeps its connection. Where it has none, nothing left this machine, for a
 * mark is durable before the first byte: the connection is free again. Nothing is sent here.
 */
import type { CapabilityRecovery } from '../../governance/capability.js'
import type { Task } from '../../governance/rows.js'
import type { Tx } from '../../state/types.js'
import { effectBlock, incompleteBlock } from './blocks.js'
import { putJob } from './change.js'
import { ledgerOf, noteInterrupted } from './ledger.js'
import { releaseConnection } from './reserve.js'
import { jobCollection } from './rows.js'

const endJob = (tx: Tx, now: string, task: Task): void => {
  const job = tx.get(jobCollection, task.job_id)
  if (job === undefined || job.state !== 'running') return
  if (ledgerOf(tx, job.job_id).contacted > 0) {
    noteInterrupted(tx, now, job)
    putJob(tx, now, job, {
      state: 'unknown_external_effect', reason: 'interrupted_after_contact',
    })
    return
  }
  releaseConnection(tx, now, job, 'nothing_was_sent', null)
  const state = task.state === 'cancelled' ? 'cancelled' : 'blocked'
  putJob(tx, now, job, { state, reason: 'interrupted_before_contact', reserved: false })
}

/** How its cut-off tasks end, and what becomes of their jobs in the same record. */
export const jobRecovery: CapabilityRecovery = {
  rule: () => ({
    ending: ({ task, contacted }) => {
      if (contacted) {
        const blocked = { kind: effectBlock, reason: 'unknown_external_effect' }
        return { state: 'blocked', blocked }
      }
      if (task.cancel_requested_at !== null) {
        return { state: 'cancelled', reason: 'cancelled_by_owner' }
      }
      const blocked = { kind: incompleteBlock, reason: 'interrupted_before_contact' }
      return { state: 'blocked', blocked }
    },
    keep: endJob,
  }),
}
