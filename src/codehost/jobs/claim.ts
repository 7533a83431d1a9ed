/**
 * How a run of a job begins: the record that claims it is judged, occupies the connection and makes
 * or continues the task, or it does nothing.
 */
import { newId } from '../../base/ids.js'
import type { Claim, Claiming, Running, Unsent } from '../../contact/order.js'
import { admitTask } from '../../governance/board/admit.js'
import { moveTask } from '../../governance/board/move.js'
import { appendAudit } from '../../governance/audit.js'
import { connectionCollection } from '../../governance/connections/connection-rows.js'
import { policyHead } from '../../governance/policy/head.js'
import { liveSession } from '../../governance/session/live.js'
import type { Session } from '../../governance/context.js'
import type { FreshView, Tx } from '../../state/types.js'
import { requireUnclosed } from './closed/fence.js'
import { effectBlock, incompleteBlock } from './blocks.js'
import { requirePrerequisites, requireWrite, type Asked } from './boundary.js'
import { getJob, putJob, requireJobRevision, requireOriginalRoot, requireOwnJob } from './change.js'
import { writePurpose } from '../constants.js'
import { codehostBase, type CodehostContext } from '../context.js'
import { runDigest } from './digests.js'
import { requireHourly } from './earlier-posts.js'
import { requireOutlives } from './outlive.js'
import { reserveConnection } from './reserve.js'
import type { Job } from './job-rows.js'
import { nextEffect } from './sendable.js'
import { takeApproval } from './standing.js'

/** A job that is to be run, as it was looked at before. */
export interface RunnableJob {
  readonly session: Session
  readonly job: Job
  readonly path: 'dispatcher' | 'routine'
}

/** What the claim read. */
export interface Claimed {
  readonly jobId: string
  readonly taskId: string
  readonly attempt: number
  readonly fence: number
  readonly connectionRevision: number
}

/** What a run gives: the job, and what kept it from being sent, if that was so. */
export interface Ran {
  readonly job: Job
  readonly unsent: Unsent | null
}

/** What a boundary of a run is asked with. */
export const askedOf = (ctx: CodehostContext, run?: Running<Claimed>): Asked => ({
  gov: ctx.gov, sealedHost: codehostBase(ctx.gov), askedHost: ctx.baseUrl,
  at: run === undefined ? null : {
    operationId: run.operationId, attempt: run.claimed.attempt, fence: run.claimed.fence,
  },
})

const newTask = (
  tx: Tx, now: string, { session, job }: RunnableJob, face: CodehostContext['gov']['face'],
  { operationId, deadline }: Claiming,
): string => {
  const { deadline_at, budget_ms } = deadline.stored()
  const { task } = admitTask(tx, now, {
    kind: job.native_kind, session, place: job.connection_id, goalId: job.goal_id,
    inputArtifactId: job.plan.artifact_id, idempotencyKey: job.idempotency_key,
    requestDigest: job.request_sha256, taskId: newId('task'), jobId: job.job_id, operationId,
    requestId: newId('req'), attemptId: newId('att'),
    purpose: {
      consent_id: job.consent.consent_id, purpose: writePurpose, revision: job.consent.revision,
      root: job.root, expires_at: job.consent.expires_at,
    },
    deadlineAt: deadline_at, budgetMs: budget_ms,
    provenance: { face, principal: job.owner, root: job.root },
  })
  moveTask(tx, now, task.task_id, 'queued')
  return task.task_id
}

const goOn = (
  tx: Tx, now: string, job: Job, taskId: string, { operationId, deadline }: Claiming,
): string => {
  const { deadline_at, budget_ms } = deadline.stored()
  moveTask(tx, now, taskId, 'queued', {
    goesOn: {
      by: { kinds: [job.native_kind], blocked: [incompleteBlock, effectBlock] },
      attempt_id: newId('att'), operation_id: operationId, deadline_at, budget_left_ms: budget_ms,
    },
  })
  return taskId
}

/** What a kind of job asks besides of what it is begun as; throws to refuse. */
export type Begun = (tx: Tx, job: Job, as: { attempt: number; fence: number }) => void

/** The claim: judged, reserved, admitted and written in one record, or nothing. */
export const claimJob = (
  ctx: CodehostContext, runnable: RunnableJob, tx: Tx, now: string, claiming: Claiming,
  begun?: Begun,
): Claim<Claimed, Ran> => {
  const session = liveSession(tx, ctx.gov, runnable.session.root.root_id)
  const seen = requireOwnJob(tx, session, runnable.job.job_id)
  requireJobRevision(seen, runnable.job.revision)
  requireOriginalRoot(seen, session)
  requireUnclosed(tx, seen, seen.task_id === null ? 'lease_claim' : 'recover')
  const job = takeApproval(tx, now, seen)
  requirePrerequisites('workBoard', askedOf(ctx), tx, job)
  requireOutlives(ctx.gov, tx, job)
  requireHourly(ctx.gov, tx, job)
  // What of it may be sent is asked before the connection is occupied.
  nextEffect(tx, job)
  const { operationId } = claiming
  const fence = reserveConnection(tx, now, job, operationId)
  const taskId = job.task_id === null
    ? newTask(tx, now, { ...runnable, session, job }, ctx.gov.face, claiming)
    : goOn(tx, now, job, job.task_id, claiming)
  const attempt = job.attempt + 1
  begun?.(tx, job, { attempt, fence })
  putJob(tx, now, job, {
    state: 'running', reason: null, task_id: taskId, attempt, fence, reserved: true,
    run_sha256: runDigest(job, { attempt, operationId, fence }),
  })
  appendAudit(tx, now, {
    what: 'codehost.run', principal: job.owner, root: job.root, subject: job.job_id,
    facts: { attempt, fence, connection: job.connection_id },
  })
  tx.mark()
  const connectionRevision = tx.get(connectionCollection, job.connection_id)?.revision ?? 0
  const claimed = { jobId: job.job_id, taskId, attempt, fence, connectionRevision }
  return { kind: 'claimed', claimed, taskId }
}

/** Everything that a request of a run rests on; answers the revision of the policy. */
export const runAuthority = (
  ctx: CodehostContext, view: FreshView, run: Running<Claimed>,
): number => {
  const job = getJob(view, run.claimed.jobId)
  requireUnclosed(view, job, 'post_handoff')
  requireWrite(askedOf(ctx, run), view, job, 'contact')
  return policyHead(view).revision
}
