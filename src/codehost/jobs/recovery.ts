/**
 * What a run leaves whose process died. Where its ledger has a mark, something may have happened:
 * the job keeps its connection, and is unknown but where the ledger has a whole refusal. Where
 * local work was begun, something of it may live: the connection stays occupied, whatever the stage
 * says. Where there is neither, or the proof behind the mark that no byte of it left, nothing left
 * this machine, for a mark is durable before the first byte: the connection is free again; but
 * where records are lost the mark may be among them, and what waits may have gone on. Nothing is
 * sent, started or proved here.
 */
import { findTask } from '../../governance/board/place.js'
import { isOutstanding } from '../../governance/board/states.js'
import type { CapabilityRecovery } from '../../governance/capability.js'
import { nowIso, type Gov } from '../../governance/context.js'
import { orUndefined } from '../../governance/judge/fact.js'
import type { Task } from '../../governance/rows.js'
import { rowsUnder } from '../../state/indexes.js'
import type { Tx, View } from '../../state/types.js'
import { effectBlock, incompleteBlock } from './blocks.js'
import { givenUp, isCancelAsked, putJob, unreadEnd } from './change.js'
import type { EffectLedger, LedgerEffect } from './effects.js'
import { effectHistory, jobEntries } from './histories.js'
import { ledgerOf, noteInterrupted } from './ledger.js'
import { releaseConnection } from './reserve.js'
import { jobCollection, jobsByState, type Job } from './job-rows.js'
import { sweepStages } from './publication/stages.js'

/**
 * Its own run sent nothing, as the end of its task says; what an earlier one sent is all known to
 * be made.
 */
const isPartly = (task: Task, { effects, contacted, created }: EffectLedger): boolean =>
  (task.blocked?.kind === incompleteBlock || task.state === 'cancelled')
  && contacted === created && created < effects.length

/** What was written down last of an effect that may have happened. */
const lastOf = ({ effects }: EffectLedger): LedgerEffect | undefined =>
  effects.findLast(({ standing }) => standing !== 'planned')

/** Why the host refused the last one, with all before it made; null where it did not. */
const refusedFor = (ledger: EffectLedger): string | null => {
  const last = lastOf(ledger)
  return last?.standing === 'refused' && ledger.created === ledger.contacted - 1
    ? last.reason ?? 'refused' : null
}

/**
 * Whether its own run wrote down that what it marked last never left: such a run sends no more, and
 * all that it sent before is known to be made.
 */
const isProvedUnsent = (view: View, task: Task): boolean => {
  const [mark, last] = jobEntries(view, effectHistory, task.job_id).slice(-2)
  return last?.type === 'outcome' && last.outcome === 'unsent'
    && mark?.type === 'contacted' && mark.operation_id === task.operation_id
}

/** What its ledger says stands, as if the run had come to say it. */
const contactedEnd = (
  task: Task, ledger: EffectLedger, stopped: string,
): Pick<Job, 'state' | 'reason'> => {
  if (isPartly(task, ledger)) return { state: 'blocked', reason: stopped }
  const refused = refusedFor(ledger)
  if (refused !== null) return { state: 'failed', reason: refused }
  const last = lastOf(ledger)
  return {
    state: 'unknown_external_effect',
    reason: (last?.standing === 'unknown' ? last.reason : null) ?? 'interrupted_after_contact',
  }
}

const endJob = (tx: Tx, now: string, task: Task): void => {
  const job = tx.get(jobCollection, task.job_id)
  if (job === undefined || job.state !== 'running') return
  noteInterrupted(tx, now, job)
  const ledger = ledgerOf(tx, job.job_id)
  const stopped = (reason: string): string => (isCancelAsked(tx, job) ? givenUp : reason)
  if (ledger.contacted > 0) {
    putJob(tx, now, job, contactedEnd(task, ledger, stopped('interrupted_before_contact')))
    return
  }
  // It is counted as contacted where its mark may be among records that nobody can read.
  if (task.blocked?.kind === effectBlock) {
    putJob(tx, now, job, { state: 'unknown_external_effect', reason: 'interrupted_after_contact' })
    return
  }
  if (ledger.producer !== null) {
    putJob(tx, now, job, { state: 'blocked', reason: stopped('interrupted_after_spawn') })
    return
  }
  releaseConnection(tx, now, job, 'nothing_was_sent', null)
  const state = task.state === 'cancelled' ? 'cancelled' : 'blocked'
  putJob(tx, now, job, { state, reason: 'interrupted_before_contact', reserved: false })
}

const unreadStates = ['prepared', 'approved', 'blocked'] as const

const endUnread = (tx: Tx, now: string): void => {
  const found = unreadStates.flatMap((state) =>
    rowsUnder(tx, jobCollection, jobsByState, { under: [state] }))
  for (const { doc } of found) {
    const end = unreadEnd(doc)
    if (end !== null) putJob(tx, now, doc, end)
  }
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
    ending: ({ task, contacted }, view) => {
      if (contacted && orUndefined(() => isProvedUnsent(view, task)) !== true) {
        const isRefused = orUndefined(() => refusedFor(ledgerOf(view, task.job_id))) ?? null
        const reason = isRefused === null ? 'unknown_external_effect' : 'effect_refused'
        return { state: 'blocked', blocked: { kind: effectBlock, reason } }
      }
      if (task.cancel_requested_at !== null) {
        return { state: 'cancelled', reason: 'cancelled_by_owner' }
      }
      const blocked = { kind: incompleteBlock, reason: 'interrupted_before_contact' }
      return { state: 'blocked', blocked }
    },
    keep: endJob,
    unread: endUnread,
  }),
  settleRows: async (gov) => {
    if (leftTasks(gov, gov.store.read()).length === 0) return
    await gov.store.transact('codehost recovery', (tx) => {
      for (const task of leftTasks(gov, tx)) endJob(tx, nowIso(gov), task)
    })
  },
  sweep: async (gov) => sweepStages(gov),
}
