/**
 * Reading back what a job may have done, by GET alone, under the session, repository and credential
 * that it was prepared with. The mode of the connection and the state of its consent do not matter:
 * what was written is found out whatever was taken back since. An object is read by the id that was
 * predicted, a branch by its exact name, what the host numbered by the number that its reply gave.
 * An effect that is found counts as made; where some were never sent, the job waits to go on with
 * those (C-023, C-024, C-104 to C-110).
 */
import { fail, type SallyportError } from '../../base/errors.js'
import { runOrder } from '../../contact/engine.js'
import type { Closed, Closing, Running, Sent } from '../../contact/order.js'
import { appendAudit } from '../../governance/audit.js'
import { requireOwnConnection } from '../../governance/connections/find-connection.js'
import type { Gov, Session } from '../../governance/context.js'
import type { ArtifactRef, Tx, View } from '../../state/types.js'
import { afterRead } from '../after-read.js'
import { readOrder, type Get } from '../adapter/reads.js'
import { judgeRepositoryReply, type RepositoryVerdict } from '../adapter/repository-reply.js'
import { fenced } from './closed/fence.js'
import { codehostLimits } from '../constants.js'
import type { CodehostContext } from '../context.js'
import type { Bound } from '../readiness.js'
import { hostPath, repositoryOf } from '../repository.js'
import type { Asked } from './boundary.js'
import { getJob, givenUp, isCancelAsked, putJob, requireJobRevision } from './change.js'
import { askedOf } from './claim.js'
import { followThroughKind } from './kinds.js'
import { ledgerOf, noteFound } from './ledger.js'
import { nextStepNow } from './next-step-now.js'
import { openWork } from './open-work.js'
import {
  isProven, rawBytesOf, readEffects, receiptsOfEffects, type ReadEffect,
} from './read-back.js'
import { sealJournal, type ReadReceipt } from './receipt.js'
import {
  changedMeanwhile, effectRefused, readFailure, remoteIdRequired, repositoryFailure,
  requireReadable, requireReconcilable, type ReconcileRequest, type Reconciled,
} from './reconcile-checks.js'
import type { Job } from './job-rows.js'
import { keepProof, settleProven, type Proven } from './settle.js'
import type { Work, WorkPost } from './work.js'

interface Target {
  readonly job: Job
  readonly work: Work
  /** What is read. */
  readonly posts: readonly WorkPost[]
  /** All were made: what is read proves the whole. */
  readonly isWhole: boolean
  readonly readRevision: number
}

interface Found {
  readonly repository: Sent<RepositoryVerdict>
  readonly effects: readonly ReadEffect[]
  readonly receipts: readonly ReadReceipt[]
}

const resumeCommand = ({ job_id }: Job): string => `sallyport codehost run ${job_id} --resume`

/** The way on once what was sent is known: the rest, or where that is never sent its proof. */
const goesOn = (gov: Gov, view: View, job: Job): string => {
  const { text, command } = nextStepNow(gov, view, job)
  if (command === resumeCommand(job)) return `Go on with the rest: \`${command}\`.`
  return command === null ? text : `${text} \`${command}\`.`
}

const nothingToRead = (gov: Gov, view: View, job: Job) => fail.conflict(
  'nothing_to_reconcile', 'Everything of this job that was sent is known to be made.', {
    next: goesOn(gov, view, job),
    details: { job_id: job.job_id, state: job.state },
  },
)

/**
 * The effects that are read: null for what proves the whole, where all were made or their number
 * was told; else those of which nobody knows whether they happened. Of a run that died between two,
 * the last one that was answered is looked at before it goes on. The host numbers the last one of a
 * job alone, and nothing is searched for.
 */
const openNumbers = (gov: Gov, view: View, job: Job): readonly number[] | null => {
  const { effects } = ledgerOf(view, job.job_id)
  if (effects.some(({ standing }) => standing === 'refused')) throw effectRefused(job)
  const isWhole = effects.length === job.plan.effects && effects.every(
    ({ standing, remoteId }) =>
      standing === 'created' || (standing === 'unknown' && remoteId !== null))
  if (isWhole) return null
  const open = effects.filter(({ standing }) => standing === 'unknown' || standing === 'contacted')
    .map(({ number }) => number)
  if (open.includes(job.plan.effects)) throw remoteIdRequired(job)
  if (open.length > 0) return open
  if (job.state === 'blocked') throw nothingToRead(gov, view, job)
  if (job.created === 0) throw remoteIdRequired(job)
  return [job.created]
}

const openTarget = (ctx: CodehostContext, job: Job, readRevision: number): Target => {
  const view = ctx.gov.store.read()
  // Of an issue or a comment its number is asked for before its plan is.
  if (job.native_kind === followThroughKind) openNumbers(ctx.gov, view, job)
  const work = openWork(ctx.gov, view, job)
  try {
    const open = openNumbers(ctx.gov, view, job)
    const posts = open === null
      ? work.proving : work.posts.filter(({ number }) => open.includes(number))
    return { job, work, posts, isWhole: open === null, readRevision }
  } finally {
    // Nothing is sent: the contents are not needed.
    work.close()
  }
}

/** The number that the host gave it: recorded with the reply of its creation, never looked up. */
const remoteNumberOf = (
  { effects }: ReturnType<typeof ledgerOf>, { plan }: Job,
): number | null => effects.find(({ number }) => number === plan.effects)?.remoteId ?? null

const readAll = async (
  { gov }: CodehostContext, { job, work, posts, readRevision }: Target, get: Get,
): Promise<Found> => {
  const repository = await get(
    hostPath.repository(repositoryOf(work.repository)), judgeRepositoryReply)
  if (repositoryFailure(job, repository) !== null) return { repository, effects: [], receipts: [] }
  const ledger = ledgerOf(gov.store.read(), job.job_id)
  const effects = await readEffects(
    ({ path, judge, replyBytesMax }) => get(path, judge, replyBytesMax), job, ledger, posts,
    remoteNumberOf(ledger, job))
  const whole = effects.length === posts.length && effects.every(isProven)
  const receipts = whole ? receiptsOfEffects(gov, job.job_id, effects, readRevision) : []
  return { repository, effects, receipts }
}

const failureOf = ({ job }: Target, { repository, effects }: Found): SallyportError => {
  const failure = repositoryFailure(job, repository)
  if (failure !== null) return failure
  const open = effects.find((effect) => !isProven(effect))
  return (open === undefined ? null : readFailure(job, open.wire)) ?? changedMeanwhile(job)
}

const incomplete = (gov: Gov, view: View, job: Job, isWhole: boolean): SallyportError => {
  const told = { reason: job.reason ?? 'incomplete', details: { job_id: job.job_id } }
  return isWhole
    ? fail.blocked(
      'codehost_incomplete', 'It happened and is proved, but what it rests on changed meanwhile.', {
        ...told, next: `It does not count as done. See \`sallyport codehost jobs ${job.job_id}\`.`,
      })
    : fail.blocked(
      'codehost_incomplete', 'What may have happened did happen. The rest of it was never sent.', {
        ...told, next: goesOn(gov, view, job),
      })
}

const foundOf = (effects: readonly ReadEffect[]) =>
  effects.flatMap(({ post: { number: effect }, remoteId, wire }) =>
    (wire.kind !== 'reply' || wire.verdict.kind !== 'matches' ? []
      : [{ effect, remoteId, status: wire.status, rawSha256: wire.verdict.rawSha256 }]))

/** What was found counts as made; the job waits to go on. */
const settleFound = (
  asked: Asked, tx: Tx, now: string, job: Job, proven: Proven, effects: readonly ReadEffect[],
): Job => {
  keepProof(asked, tx, now, job, proven)
  const row = noteFound(tx, now, job, foundOf(effects))
  appendAudit(tx, now, {
    what: 'codehost.found', principal: job.owner, root: job.root, subject: job.job_id,
    facts: { created: row.created, effects: job.plan.effects },
  })
  tx.mark()
  const reason = isCancelAsked(tx, job) ? givenUp : 'incomplete'
  return putJob(tx, now, row, { state: 'blocked', reason })
}

const settle = (
  asked: Asked, { isWhole }: Target, tx: Tx, now: string, run: Running<Bound>, job: Job,
  { effects, receipts }: Found, journal: ArtifactRef,
): Job => {
  const proven: Proven = {
    purpose: 'reconcile', operationId: run.operationId, receipts, journal,
    rawBytes: rawBytesOf(effects),
  }
  return isWhole
    ? settleProven(asked, tx, now, job, proven, (row) => noteFound(tx, now, row, foundOf(effects)))
    : settleFound(asked, tx, now, job, proven, effects)
}

const closeReads = (
  asked: Asked, target: Target, tx: Tx, now: string, run: Running<Bound>,
  { evidence, sealed }: Closing<Found>,
): Closed<Reconciled> => {
  const job = getJob(tx, target.job.job_id)
  if (sealed === null || evidence.receipts[0]?.job_revision !== job.revision) {
    return { kept: { job, failure: failureOf(target, evidence) }, outcome: 'read', adopts: false }
  }
  requireReadable(tx, job, target.readRevision)
  const settled = settle(asked, target, tx, now, run, job, evidence, sealed)
  const failure = settled.state === 'succeeded' ? null
    : incomplete(asked.gov, tx, settled, target.isWhole)
  return { kept: { job: settled, failure }, outcome: settled.state, adopts: true }
}

/** Reads and closes; every boundary asks again for what the readback rests on. */
const runReconcile = (
  ctx: CodehostContext, session: Session, target: Target,
): Promise<Reconciled> => {
  const { job, readRevision } = target
  const asked = askedOf(ctx)
  const connection = requireOwnConnection(ctx.gov.store.read(), session, job.connection_id)
  return runOrder(ctx, readOrder<Found, Reconciled>(ctx, session, connection, {
    step: 'reconcile', verb: 'codehost reconcile', noun: 'reconcile',
    operationMsMax: codehostLimits.followThroughMsMax, connectionId: job.connection_id,
    path: hostPath.repository(repositoryOf(job.repository)),
    requires: (view) => {
      const row = getJob(view, job.job_id)
      requireJobRevision(row, job.revision)
      requireReadable(view, row, readRevision)
    },
    read: (get) => readAll(ctx, target, get),
    unsent: (why) => ({ repository: why, effects: [], receipts: [] }),
    keep: ({ receipts }) => (receipts.length === 0 ? null : sealJournal(ctx.gov, receipts)),
    close: (tx, now, run, facts) => closeReads(asked, target, tx, now, run, facts),
  }))
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
  const target = openTarget(ctx, job, request.expectedReadRevision)
  try {
    const { job: settled, failure } = await runReconcile(ctx, session, target)
    target.work.ended(settled)
    if (failure !== null) throw failure
    return settled
  } catch (error) {
    throw afterRead(error)
  }
}
