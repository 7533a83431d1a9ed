/**
 * What a run leaves whose process died. Where its ledger has a mark, something may have happened:
 * the job is unknown and keeps its connection. Where local work was begun, something of it may
 * live: the connection stays occupied, whatever the stage says. Where there is neither, nothing
 * left this machine, for a mark is durable before the first byte: the connection is free again.
 * Nothing is sent, started or proved here.
 */
import { findTask } from '../../governance/board/place.js'
import { isOutstanding } from '../../governance/board/states.js'
import type { CapabilityRecovery } from '../../governance/capability.js'
import { nowIso, type Gov } from '../../governance/context.js'
import type { Task } from '../../governance/rows.js'
import { rowsUnder } from '../../state/indexes.js'
import type { Tx, View } from '../../state/types.js'
import { effectBlock, incompleteBlock } from './blocks.js'
import { givenUp, putJob } from './change.js'
import type { EffectLedger } from './effects.js'
import { ledgerOf, noteInterrupted } from './ledger.js'
import { releaseConnection } from './reserve.js'
import { jobCollection, jobsByState } from './job-rows.js'
import { sweepStages } from './publication/stages.js'

const unknown = {
  state: 'unknown_external_effect', reason: 'interrupted_after_contact',
} as const

/** Its own run sent nothing; what an earlier one sent is all known to be made. */
const isPartly = (task: Task, { effects, contacted, created }: EffectLedger): boolean =>
  task.blocked?.kind === incompleteBlock && contacted === created && created < effects.length

const endJob = (tx: Tx, now: string, task: Task): void => {
  const job = tx.get(jobCollection, task.job_id)
  if (job === undefined || job.state !== 'running') return
  const ledger = ledgerOf(tx, job.job_id)
  if (ledger.contacted > 0) {
    noteInterrupted(tx, now, job)
    const reason = task.cancel_requested_at === null ? 'interrupted_before_contact' : givenUp
    putJob(tx, now, job, isPartly(task, ledger) ? { state: 'blocked', reason } : unknown)
    return
  }
  if (ledger.producer !== null) {
    putJob(tx, now, job, { state: 'blocked', reason: 'interrupted_after_spawn' })
    return
  }
  releaseConnection(tx, now, job, 'nothing_was_sent', null)
  const state = task.state === 'cancelled' ? 'cancelled' : 'blocked'
  putJob(tx, now, job, { state, reason: 'interrupted_before_contact', reserved: false })
}

/**
 * Tasks of running jobs that somebody cancelled before the board called them running, and whose
 * process is dead: no recovery of tasks sees them any more.
 */
const leftTasks = ({ store }: Gov, view: View): readonly Task[] =>
  rowsUnder(view, jobCollection, jobsByState, { under: ['running'] }).flatMap(({ doc }) => {
    const task = doc.task_id === null ? undefined : findTask(view, doc.task_id)
    if (task === undefined || isOutstanding(task.state)) return []
    return store.holds.isHeld('operation', task.operation_id) ? [] : [task]
  })

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
  settleRows: async (gov) => {
    if (leftTasks(gov, gov.store.read()).length === 0) return
    await gov.store.transact('codehost recovery', (tx) => {
      for (const task of leftTasks(gov, tx)) endJob(tx, nowIso(gov), task)
    })
  },
  sweep: async (gov) => sweepStages(gov),
}
