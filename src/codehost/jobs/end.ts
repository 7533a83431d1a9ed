/**
 * How a run of a job ends: by what its ledger says of what may have happened, and by what the
 * run saw itself. Nothing is freed here without proof.
 */
import type { Running, Sent, Unsent } from '../../contact/order.js'
import { moveTask } from '../../governance/board/move.js'
import { getTask } from '../../governance/board/visible-tasks.js'
import type { ArtifactRef, Tx } from '../../state/types.js'
import { refusedFor, type PostVerdict } from '../adapter/post-reply.js'
import { closedBy } from './closed/fence.js'
import type { CodehostContext } from '../context.js'
import { effectBlock, incompleteBlock } from './blocks.js'
import { getJob, givenUp, isCancelAsked, putJob } from './change.js'
import { askedOf, type Claimed, type Ran } from './claim.js'
import { ledgerOf, noteInterrupted, noteOutcome } from './ledger.js'
import type { ReadReceipt } from './receipt.js'
import { releaseConnection } from './reserve.js'
import type { Job } from './job-rows.js'
import { settleProven } from './settle.js'
import type { Made } from './publication/produce.js'
import { rawBytesOf, unprovenReason, type ReadEffect } from './read-back.js'

/** What a run saw. */
export interface Seen {
  /** Null where the run did not come to the local work, or there is none. */
  readonly made: Made | null
  /** What came of the last POST; null where none was tried. */
  readonly post: Sent<PostVerdict> | null
  /** What was read back; empty where not all was answered as made. */
  readonly effects: readonly ReadEffect[]
  /** Of effects that are all as they were sent. */
  readonly receipts: readonly ReadReceipt[]
  /** What stopped it before its first step. */
  readonly unsent: Unsent | null
}

interface Ending {
  readonly tx: Tx
  readonly now: string
  readonly run: Running<Claimed>
  readonly job: Job
  readonly seen: Seen
}

/** The task waits for a person. */
const blockTask = (tx: Tx, now: string, taskId: string, kind: string, reason: string): void => {
  moveTask(tx, now, taskId, 'blocked', { blocked: { kind, reason } })
}

/** What kept the next POST from being sent, with proof that no byte of it left. */
const unsentOf = ({ unsent, post, made }: Seen): Unsent => {
  if (unsent !== null) return unsent
  if (post?.kind === 'unsent') return post
  if (made?.kind === 'not_started') {
    return { kind: 'unsent', reason: made.reason, errorKind: made.error.kind, cause: made.error }
  }
  const reason = made === null || made.kind === 'complete' ? 'not_sent' : `producer_${made.reason}`
  return { kind: 'unsent', reason, errorKind: 'failed' }
}

/** Nothing was sent and nothing of it lives: the connection is free, in the record that says so. */
const endFree = ({ tx, now, run, job }: Ending, end: 'blocked' | 'failed', why: Unsent): Ran => {
  const task = getTask(tx, run.claimed.taskId)
  const cancelled = task.cancel_requested_at !== null || task.state === 'cancelled'
  releaseConnection(tx, now, job, 'nothing_was_sent', run.operationId)
  if (!cancelled && end === 'blocked') {
    blockTask(tx, now, task.task_id, incompleteBlock, why.reason)
  } else if (task.state !== 'cancelled') {
    moveTask(tx, now, task.task_id, cancelled ? 'cancelled' : 'failed', {
      reason: cancelled ? givenUp : why.reason,
    })
  }
  if (end === 'failed') tx.mark()
  const state = cancelled ? 'cancelled' : end
  return { job: putJob(tx, now, job, { state, reason: why.reason, reserved: false }), unsent: why }
}

/** The task waits for a person, and the connection stays occupied. */
const endOccupied = (
  { tx, now, run, job }: Ending, blocked: { readonly kind: string, readonly reason: string },
  change: Pick<Job, 'state' | 'reason'>, unsent: Unsent | null = null,
): Ran => {
  const { taskId } = run.claimed
  // One that was cancelled before the board called it running has ended by that.
  if (getTask(tx, taskId).state !== 'cancelled') {
    blockTask(tx, now, taskId, blocked.kind, blocked.reason)
  }
  tx.mark()
  return { job: putJob(tx, now, job, change), unsent }
}

const endNothingSent = (ending: Ending): Ran => {
  const { tx, job, seen } = ending
  const why = unsentOf(seen)
  // What was closed meanwhile stays as it was closed.
  if (closedBy(tx, job) !== null) return { job, unsent: why }
  const { producer } = ledgerOf(tx, job.job_id)
  if (producer === null) return endFree(ending, 'blocked', why)
  // Local work that was begun, and is proved to be over, is done once: it never goes on.
  const over = seen.made?.kind === 'not_started' || producer.standing !== 'spawned'
  if (over) return endFree(ending, 'failed', why)
  // What lives ends by itself, and leaves its proof then; what nobody looked at may have left one.
  const isOpen = seen.made === null
    || (seen.made.kind === 'unproved' && seen.made.reason === 'running')
  const found = isOpen ? 'interrupted_after_spawn' : why.reason
  const reason = isCancelAsked(tx, job) ? givenUp : found
  return endOccupied(ending, { kind: incompleteBlock, reason }, { state: 'blocked', reason }, why)
}

/** Some were made, and of the next one no byte left: what was never sent may go on. */
const endPartly = (ending: Ending): Ran => {
  const { tx, job, seen } = ending
  const reason = isCancelAsked(tx, job) ? givenUp : unsentOf(seen).reason
  return endOccupied(ending, { kind: incompleteBlock, reason }, { state: 'blocked', reason })
}

const endOpen = (ending: Ending): Ran => {
  const { post, effects } = ending.seen
  const refused = refusedFor(post)
  const reason = refused === null ? 'unknown_external_effect' : 'effect_refused'
  const overtaken = effects.length > 0 ? 'receipt_overtaken' : null
  const why = unprovenReason(effects) ?? overtaken ?? openReason(post)
  return endOccupied(ending, { kind: effectBlock, reason }, refused === null
    ? { state: 'unknown_external_effect', reason: why } : { state: 'failed', reason: refused })
}

const openReason = (post: Seen['post']): string => {
  if (post?.kind !== 'reply') return post?.reason ?? 'not_read_back'
  return post.verdict.kind === 'created' ? 'not_read_back' : post.verdict.reason
}

const markedIn = (tx: Tx, jobId: string) =>
  ledgerOf(tx, jobId).effects.find(({ standing }) => standing === 'contacted')

/** What a mark came to that could not be recorded; that nothing left only this run can prove. */
const closeMark = (
  tx: Tx, now: string, { claimed: { jobId }, operationId }: Running<Claimed>, seen: Seen,
): 'closed' | 'open' => {
  const marked = markedIn(tx, jobId)
  if (marked === undefined) return 'closed'
  const proven = seen.post?.kind === 'unsent' ? seen.post : seen.unsent
  if (proven !== null) noteOutcome(tx, now, { jobId, operationId, effect: marked.number }, proven)
  if (markedIn(tx, jobId) === undefined) return 'closed'
  // As after a death: its ledger alone is proof.
  noteInterrupted(tx, now, getJob(tx, jobId))
  return 'open'
}

/** Writes the end of a run that proved nothing to be whole. */
export const endUnproven = (tx: Tx, now: string, run: Running<Claimed>, seen: Seen): Ran => {
  const mark = closeMark(tx, now, run, seen)
  const job = getJob(tx, run.claimed.jobId)
  const ending: Ending = { tx, now, run, job, seen }
  if (mark === 'open') return endOpen(ending)
  const { post, unsent } = seen
  const isUnsent = post === null || post.kind === 'unsent' || unsent !== null
  // A run begins only where all that was contacted is known to be made.
  if (isUnsent && (job.contacted === 0 || job.plan.effects === 1)) return endNothingSent(ending)
  return isUnsent && job.created < job.plan.effects ? endPartly(ending) : endOpen(ending)
}

/** Writes the end of a run whose effects were all read back. */
export const endProven = (
  ctx: CodehostContext, tx: Tx, now: string, run: Running<Claimed>, journal: ArtifactRef,
  { effects, receipts }: Seen,
): Ran => {
  const { jobId, taskId } = run.claimed
  const settled = settleProven(askedOf(ctx, run), tx, now, getJob(tx, jobId), {
    purpose: 'readback', operationId: run.operationId, receipts, journal,
    rawBytes: rawBytesOf(effects),
  })
  if (settled.state === 'succeeded') moveTask(tx, now, taskId, 'succeeded')
  else blockTask(tx, now, taskId, incompleteBlock, settled.reason ?? 'unknown')
  return { job: settled, unsent: null }
}
