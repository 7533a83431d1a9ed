/**
 * Reading back what a job may have done, by GET alone, under the session, repository and credential
 * that it was prepared with. The mode of the connection and the state of its consent do not matter:
 * what was written is found out whatever was taken back since (C-023, C-024, C-104 to C-110).
 */
import { fail, SallyportError } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import type { Closed, Closing, Running, Sent, Unsent } from '../../contact/order.js'
import { requireOwnConnection } from '../../governance/connections/read.js'
import { connectionCollection } from '../../governance/connections/rows.js'
import { findTask } from '../../governance/board/place.js'
import type { Session } from '../../governance/session/types.js'
import { vaultDigest } from '../../governance/vault.js'
import type { Tx, View } from '../../state/types.js'
import { afterRead } from '../after-read.js'
import { errorOf, refusedError } from '../adapter/look.js'
import { readOrder, type Get } from '../adapter/reads.js'
import { readbackOf, type ReadReason, type ReadVerdict } from '../adapter/readback.js'
import { judgeRepositoryReply, type RepositoryVerdict } from '../adapter/repository-reply.js'
import { codehostLimits } from '../constants.js'
import { codehostBase, type CodehostContext } from '../context.js'
import { hostPath, repositoryOf } from '../repository.js'
import type { Bound } from '../readiness.js'
import type { Asked } from './boundary.js'
import { getJob, requireJobRevision, requireOriginalRoot, requireOwnJob } from './change.js'
import { ledgerOf } from './ledger.js'
import { effectOf, openPlan, type FollowPlan } from './plan.js'
import { requireRepository } from './preflight.js'
import { mintReceipt, sealJournal, type ReadReceipt } from './receipt.js'
import { holdsConnection } from './reserve.js'
import type { Job } from './rows.js'
import { settleProven } from './settle.js'

/** What is asked to be read back. */
export interface ReconcileRequest {
  readonly jobId: string
  readonly expectedReadRevision: number
}

interface Found {
  readonly repository: Sent<RepositoryVerdict>
  readonly readback: Sent<ReadVerdict> | null
  readonly receipts: readonly ReadReceipt[]
}

interface Reconciled {
  readonly job: Job
  readonly failure: SallyportError | null
}

interface Target {
  readonly job: Job
  readonly plan: FollowPlan
  readonly remoteId: number
  readonly readRevision: number
}

const refuse = (code: string, text: string, next: string, { job_id }: Job) =>
  fail.blocked(code, text, { reason: code, next, details: { job_id } })

/** A job whose success the board has not taken over may be read again at a later revision. */
const isOpenSuccess = (view: View, job: Job): boolean =>
  job.state === 'succeeded' && job.task_id !== null
  && findTask(view, job.task_id)?.state === 'blocked'

const requireState = (view: View, job: Job): void => {
  if (job.state === 'unknown_external_effect' || isOpenSuccess(view, job)) return
  if (job.state === 'blocked' && job.contacted > 0) return
  if (job.state === 'failed') {
    throw refuse(
      'effect_refused', 'The host refused it: there is nothing to read back.',
      'The connection stays occupied; use another one: sallyport codehost connect --repo '
        + 'OWNER/NAME --token-file F', job,
    )
  }
  throw fail.conflict('nothing_to_reconcile', 'Nothing of this job waits to be read back.', {
    next: `Look at it: sallyport codehost job ${job.job_id}`,
    details: { job_id: job.job_id, state: job.state },
  })
}

/** The number that the host gave it: recorded with the reply of its creation, never looked up. */
const requireRemote = (view: View, job: Job): number => {
  const effect = ledgerOf(view, job.job_id).effects.find(({ standing }) => standing === 'created')
  if (effect?.remoteId !== null && effect?.remoteId !== undefined) return effect.remoteId
  throw refuse(
    'remote_id_required',
    'The reply of the host was lost, so nobody knows which number it has there. Nothing is listed '
      + 'or searched for, and nothing sent again.',
    'Look on the host. The connection stays occupied; use another one: sallyport codehost connect '
      + '--repo OWNER/NAME --token-file F', job,
  )
}

/** What must hold of rows at every boundary of the reads. */
const requireReadable = (view: View, job: Job, readRevision: number): void => {
  const connection = view.get(connectionCollection, job.connection_id)
  if (job.closed !== null) {
    throw fail.conflict('job_closed', 'The capacity of this job was closed.')
  }
  if (connection?.revision !== readRevision) {
    throw fail.conflict(
      'stale_read_revision', 'The connection has another revision than was asked for.', {
        next: 'See it, and decide again: sallyport codehost connections',
        details: { revision: connection?.revision ?? 0 },
      },
    )
  }
  if (vaultDigest(view, connection.credential_ref) !== job.vault.sha256) {
    throw refuse(
      'credential_changed', 'The connection has another token than it was written with.',
      'It stays occupied for good; use another one: sallyport codehost connect --repo OWNER/NAME '
        + '--token-file F', job,
    )
  }
  const same = connection.repository === job.repository
    && connection.repository_id === job.repository_id
  if (!same) {
    throw refuse(
      'repository_changed', 'The connection is for another repository than it was written to.',
      'See: sallyport codehost connections', job,
    )
  }
  if (!job.reserved || holdsConnection(connection, job)) return
  throw fail.conflict('reservation_lost', 'The connection is not occupied by this job any more.', {
    next: 'Run `sallyport state check`.',
  })
}

const targetOf = (
  ctx: CodehostContext, session: Session, request: ReconcileRequest,
): Target => {
  const view = ctx.gov.store.read()
  const job = requireOwnJob(view, session, request.jobId)
  requireOriginalRoot(job, session)
  requireState(view, job)
  requireReadable(view, job, request.expectedReadRevision)
  const remoteId = requireRemote(view, job)
  const plan = openPlan(ctx.gov, view, job)
  return { job, plan, remoteId, readRevision: request.expectedReadRevision }
}

const readBoth = async (
  ctx: CodehostContext, target: Target, get: Get,
): Promise<Found> => {
  const { plan, remoteId, job, readRevision } = target
  const effect = effectOf(plan, 1)
  const repository = await get(
    hostPath.repository(repositoryOf(plan.repository)), judgeRepositoryReply,
  )
  if (repository.kind !== 'reply' || repository.verdict.kind === 'refused') {
    return { repository, readback: null, receipts: [] }
  }
  const at = readbackOf(plan, effect, remoteId)
  const readback = await get(at.path, at.judge)
  const matches = readback.kind === 'reply' && readback.verdict.kind === 'matches'
    && isSame(job, repository.verdict)
  if (!matches) return { repository, readback, receipts: [] }
  const view = ctx.gov.store.read()
  const receipt = mintReceipt(ctx.gov, view, getJob(view, job.job_id), {
    effect, remoteId, path: at.path, verdict: readback.verdict, readRevision,
  })
  return { repository, readback, receipts: [receipt] }
}

const isSame = (job: Job, verdict: Extract<RepositoryVerdict, { kind: 'seen' }>): boolean =>
  verdict.repository.id === job.repository_id && verdict.repository.fullName === job.repository

const noEvidence: Readonly<Partial<Record<ReadReason, string>>> = {
  remote_not_found: 'The host shows nothing under that number now. That is no proof that it is '
    + 'not there: for a moment after a creation, and to other tokens, it looks so.',
  readback_differs: 'What the host has under that number is not what was sent: somebody may have '
    + 'edited it.',
}

const failureOf = (target: Target, { repository, readback }: Found): SallyportError => {
  if (repository.kind !== 'reply') return errorOf(repository)
  if (repository.verdict.kind === 'refused') return refusedError(repository.verdict)
  try {
    requireRepository(target.job, { ...repository.verdict.repository, archived: false }, false)
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
  if (readback?.kind !== 'reply') return errorOf(readback ?? { kind: 'sent', reason: 'not_read' })
  const { verdict } = readback
  if (verdict.kind === 'matches') return changedMeanwhile(target.job)
  const { reason, status } = verdict
  const text = noEvidence[reason]
  if (text === undefined && reason !== 'remote_not_found' && reason !== 'readback_differs') {
    return refusedError({ code: reason, status })
  }
  return fail.blocked(reason, text ?? '', {
    reason, next: 'Nothing changed here; look on the host, and try again later.',
    details: { job_id: target.job.job_id, status },
  })
}

const changedMeanwhile = ({ job_id }: Job) =>
  fail.conflict('job_changed', 'The job changed while it was read back.', {
    next: `Look at it: sallyport codehost job ${job_id}`, details: { job_id },
  })

const incomplete = (job: Job) => fail.blocked(
  'codehost_incomplete', 'It happened and is proved, but what it rests on changed meanwhile.', {
    reason: job.reason ?? 'blocked', details: { job_id: job.job_id },
    next: `It does not count as done. See: sallyport codehost job ${job.job_id}`,
  },
)

const closeReads = (
  asked: Asked, target: Target, tx: Tx, now: string, run: Running<Bound>,
  { evidence, sealed }: Closing<Found>,
): Closed<Reconciled> => {
  const job = getJob(tx, target.job.job_id)
  const [receipt] = evidence.receipts
  const { readback } = evidence
  const fresh = receipt?.job_revision === job.revision
  const isRead = readback?.kind === 'reply' && readback.verdict.kind === 'matches'
  if (sealed === null || !fresh || !isRead) {
    return { kept: { job, failure: failureOf(target, evidence) }, outcome: 'read', adopts: false }
  }
  requireReadable(tx, job, target.readRevision)
  const settled = settleProven(asked, tx, now, job, {
    purpose: 'reconcile', operationId: run.operationId, receipts: evidence.receipts,
    journal: sealed, rawBytes: readback.verdict.kind === 'matches' ? readback.verdict.rawBytes : 0,
  })
  const failure = settled.state === 'succeeded' ? null : incomplete(settled)
  return { kept: { job: settled, failure }, outcome: settled.state, adopts: true }
}

/**
 * Reads back; a job that is proved succeeds and frees its connection. Throws `unauthorized`
 * `root_replaced`, `conflict` (`stale_read_revision`, `nothing_to_reconcile`, `job_changed`),
 * `blocked` (`remote_id_required`, `effect_refused`, `credential_changed`, `remote_not_found`,
 * `readback_differs`, `codehost_incomplete`), `remote` for what the host does not answer.
 */
export const reconcileJob = async (
  ctx: CodehostContext, session: Session, request: ReconcileRequest,
): Promise<Job> => {
  const target = targetOf(ctx, session, request)
  const { job, plan, readRevision } = target
  const asked: Asked = { gov: ctx.gov, sealedHost: codehostBase(ctx.gov), askedHost: ctx.baseUrl }
  const connection = requireOwnConnection(ctx.gov.store.read(), session, job.connection_id)
  const unsent = (why: Unsent): Found => ({ repository: why, readback: null, receipts: [] })
  try {
    const { job: settled, failure } = await runOrder(
      ctx, readOrder<Found, Reconciled>(ctx, session, connection, {
        step: 'reconcile', verb: 'codehost reconcile', noun: 'reconcile',
        operationMsMax: codehostLimits.followThroughMsMax, connectionId: job.connection_id,
        path: hostPath.repository(repositoryOf(plan.repository)),
        requires: (view) => {
          const row = getJob(view, job.job_id)
          requireJobRevision(row, job.revision)
          requireReadable(view, row, readRevision)
        },
        read: (get) => readBoth(ctx, target, get),
        unsent,
        keep: ({ receipts }) => (receipts.length === 0 ? null : sealJournal(ctx.gov, receipts)),
        close: (tx, now, run, facts) => closeReads(asked, target, tx, now, run, facts),
      }),
    )
    if (failure !== null) throw failure
    return settled
  } catch (error) {
    throw afterRead(error)
  }
}
