/**
 * Reading back what a job may have done, by GET alone, under the session, repository and credential
 * that it was prepared with. The mode of the connection and the state of its consent do not matter:
 * what was written is found out whatever was taken back since (C-023, C-024, C-104 to C-110).
 */
import { fail, type SallyportError } from '../../base/errors.js'
import type { Closed, Closing, Running, Sent } from '../../contact/order.js'
import type { Session } from '../../governance/session/types.js'
import type { Tx, View } from '../../state/types.js'
import { afterRead } from '../after-read.js'
import type { Get } from '../adapter/reads.js'
import { readbackOf, type ReadVerdict } from '../adapter/readback.js'
import { judgeRepositoryReply, type RepositoryVerdict } from '../adapter/repository-reply.js'
import type { CodehostContext } from '../context.js'
import { hostPath, repositoryOf } from '../repository.js'
import type { Bound } from '../readiness.js'
import { fenced } from '../closure/fence-audit.js'
import type { Asked } from './boundary.js'
import { getJob } from './change.js'
import { publicationKind } from './kinds.js'
import { effectProvenance, ledgerOf, noteFound } from './ledger.js'
import { effectOf, openPlan, type FollowPlan } from './plan.js'
import { publicationReconcile } from './publishing/reconcile.js'
import { mintReceipt, type ReadReceipt } from './receipt.js'
import {
  changedMeanwhile, readFailure, remoteIdRequired, repositoryFailure, requireReadable,
  requireReconcilable, type ReconcileRequest, type Reconciled,
} from './reconcile-checks.js'
import { runReconcile } from './reconcile-order.js'
import type { Job } from './rows.js'
import { settleProven } from './settle.js'

interface Found {
  readonly repository: Sent<RepositoryVerdict>
  readonly readback: Sent<ReadVerdict> | null
  readonly receipts: readonly ReadReceipt[]
}

interface Target {
  readonly job: Job
  readonly plan: FollowPlan
  readonly remoteId: number
  readonly readRevision: number
}

/** The number that the host gave it: recorded with the reply of its creation, never looked up. */
const requireRemote = (view: View, job: Job): number => {
  const told = ledgerOf(view, job.job_id).effects[0]?.remoteId ?? null
  if (told !== null) return told
  throw remoteIdRequired(job)
}

const targetOf = (ctx: CodehostContext, job: Job, readRevision: number): Target => {
  const view = ctx.gov.store.read()
  const remoteId = requireRemote(view, job)
  return { job, plan: openPlan(ctx.gov, view, job), remoteId, readRevision }
}

const readBoth = async (
  ctx: CodehostContext, target: Target, get: Get,
): Promise<Found> => {
  const { plan, remoteId, job, readRevision } = target
  const effect = effectOf(plan, 1)
  const repository = await get(
    hostPath.repository(repositoryOf(plan.repository)), judgeRepositoryReply,
  )
  if (repositoryFailure(job, repository) !== null) {
    return { repository, readback: null, receipts: [] }
  }
  const ledger = ledgerOf(ctx.gov.store.read(), job.job_id)
  const at = readbackOf(
    plan, effect, remoteId, effectProvenance(job, ledger, effect.number))
  const readback = await get(at.path, at.judge)
  const matches = readback.kind === 'reply' && readback.verdict.kind === 'matches'
  if (!matches) return { repository, readback, receipts: [] }
  const view = ctx.gov.store.read()
  const receipt = mintReceipt(ctx.gov, view, getJob(view, job.job_id), {
    effect, remoteId, path: at.path, verdict: readback.verdict, readRevision,
  })
  return { repository, readback, receipts: [receipt] }
}

const failureOf = ({ job }: Target, { repository, readback }: Found): SallyportError =>
  repositoryFailure(job, repository) ?? readFailure(job, readback) ?? changedMeanwhile(job)

/** `blocked`: what it rests on changed while it was read back. */
const incomplete = (job: Job) => fail.blocked(
  'codehost_incomplete', 'It happened and is proved, but what it rests on changed meanwhile.', {
    reason: job.reason ?? 'blocked', details: { job_id: job.job_id },
    next: `It does not count as done. See \`sallyport codehost job ${job.job_id}\`.`,
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
  if (sealed === null || !fresh || readback?.kind !== 'reply'
    || readback.verdict.kind !== 'matches') {
    return { kept: { job, failure: failureOf(target, evidence) }, outcome: 'read', adopts: false }
  }
  const { status, verdict: { rawBytes, rawSha256 } } = readback
  requireReadable(tx, job, target.readRevision)
  const settled = settleProven(asked, tx, now, job, {
    purpose: 'reconcile', operationId: run.operationId, receipts: evidence.receipts,
    journal: sealed, rawBytes,
  }, (row) => noteFound(tx, now, row, [
    { effect: 1, remoteId: target.remoteId, status, rawSha256 },
  ]))
  const failure = settled.state === 'succeeded' ? null : incomplete(settled)
  return { kept: { job: settled, failure }, outcome: settled.state, adopts: true }
}

/** What can be told of rows is refused here; the reads are what comes back. */
const followThroughReconcile = (
  ctx: CodehostContext, session: Session, job: Job, readRevision: number,
): (() => Promise<Reconciled>) => {
  const target = targetOf(ctx, job, readRevision)
  return () => runReconcile<Found>(ctx, session, {
    job, readRevision,
    read: (get) => readBoth(ctx, target, get),
    unsent: (why) => ({ repository: why, readback: null, receipts: [] }),
    close: (asked, tx, now, run, facts) => closeReads(asked, target, tx, now, run, facts),
  })
}

/**
 * Reads back; a job that is proved succeeds and frees its connection. Throws `unauthorized`
 * `root_replaced`, `conflict` (`stale_read_revision`, `nothing_to_reconcile`, `job_changed`),
 * `blocked` (`remote_id_required`, `effect_refused`, `credential_changed`, `remote_not_found`,
 * `readback_differs`, `codehost_incomplete`), `remote` for what the host does not answer.
 */
export const reconcileJob = (
  ctx: CodehostContext, session: Session, request: ReconcileRequest,
): Promise<Job> => fenced(ctx.gov, session, () => reconcileUnfenced(ctx, session, request))

const reconcileUnfenced = async (
  ctx: CodehostContext, session: Session, request: ReconcileRequest,
): Promise<Job> => {
  const job = requireReconcilable(ctx, session, request)
  const begin = job.native_kind === publicationKind
    ? publicationReconcile : followThroughReconcile
  const reconcile = begin(ctx, session, job, request.expectedReadRevision)
  try {
    const { job: settled, failure } = await reconcile()
    if (failure !== null) throw failure
    return settled
  } catch (error) {
    throw afterRead(error)
  }
}
