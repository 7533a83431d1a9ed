/**
 * Reading back what a publication may have done, by GET alone and under its original identities:
 * an object by the id that was predicted, the branch by its exact name, the pull request by the
 * number that its reply gave. An effect that is found counts as made. Where all were made, tree,
 * commit, branch and pull request prove the whole; where some were never sent, the job waits to go
 * on with those (C-104 to C-110).
 */
import { fail, type SallyportError } from '../../../base/errors.js'
import type { Closed, Closing, Running, Sent } from '../../../contact/order.js'
import { appendAudit } from '../../../governance/audit.js'
import type { Session } from '../../../governance/session/types.js'
import type { ArtifactRef, Tx, View } from '../../../state/types.js'
import type { Get } from '../../adapter/reads.js'
import { judgeRepositoryReply, type RepositoryVerdict } from '../../adapter/repository-reply.js'
import type { CodehostContext } from '../../context.js'
import type { Bound } from '../../readiness.js'
import { hostPath, repositoryOf } from '../../repository.js'
import type { Asked } from '../boundary.js'
import { getJob, putJob } from '../change.js'
import { ledgerOf, noteFound } from '../ledger.js'
import { openPublication, type OpenPublication, type RegisteredPost } from '../publication/open.js'
import type { ReadReceipt } from '../receipt.js'
import {
  changedMeanwhile, readFailure, remoteIdRequired, repositoryFailure, requireReadable,
  type Reconciled,
} from '../reconcile-checks.js'
import { runReconcile } from '../reconcile-order.js'
import type { Job } from '../rows.js'
import { keepProof, settleProven, type Proven } from '../settle.js'
import {
  isProven, provingPosts, rawBytesOf, readEffects, receiptsOfEffects, type ReadEffect,
} from './read-back.js'
import { publishedOf } from './send-posts.js'
import { dropStage } from './stages.js'

interface Target {
  readonly job: Job
  readonly publication: OpenPublication
  /** What is read. */
  readonly posts: readonly RegisteredPost[]
  /** All were made: what is read proves the whole. */
  readonly isWhole: boolean
  readonly readRevision: number
}

interface Found {
  readonly repository: Sent<RepositoryVerdict>
  readonly effects: readonly ReadEffect[]
  readonly receipts: readonly ReadReceipt[]
}

const resumeCommand = ({ job_id }: Job): string => `sallyport codehost resume ${job_id}`

const nothingToRead = (job: Job) => fail.conflict(
  'nothing_to_reconcile', 'Everything of this job that was sent is known to be made.', {
    next: `Go on with what was never sent: \`${resumeCommand(job)}\`.`,
    details: { job_id: job.job_id, state: job.state },
  },
)

/**
 * The effects of which nobody knows whether they happened. Of a run that died between two, the last
 * one that was answered is looked at before it goes on.
 */
const openPosts = (
  view: View, job: Job, { posts }: OpenPublication,
): readonly RegisteredPost[] => {
  const { effects } = ledgerOf(view, job.job_id)
  const open = effects.filter(({ standing }) => standing === 'unknown' || standing === 'contacted')
  const isPull = (number: number): boolean => posts[number - 1]?.kind === 'pull_request'
  if (open.some(({ number }) => isPull(number))) throw remoteIdRequired(job)
  if (open.length > 0) {
    return posts.filter(({ number }) => open.some((effect) => effect.number === number))
  }
  if (job.state === 'blocked') throw nothingToRead(job)
  if (job.created === 0) throw remoteIdRequired(job)
  return posts.filter(({ number }) => number === job.created)
}

const targetOf = (
  view: View, job: Job, publication: OpenPublication, readRevision: number,
): Target => {
  const { effects } = ledgerOf(view, job.job_id)
  // A pull request whose number was told is read with all that it stands for.
  const isWhole = effects.length === job.plan.effects && effects.every(
    ({ standing, remoteId }) =>
      standing === 'created' || (standing === 'unknown' && remoteId !== null))
  const posts = isWhole ? provingPosts(publication) : openPosts(view, job, publication)
  return { job, publication, posts, isWhole, readRevision }
}

const isSame = (job: Job, repository: Sent<RepositoryVerdict>): boolean =>
  repositoryFailure(job, repository) === null

const readAll = async (
  ctx: CodehostContext, { job, publication, posts, readRevision }: Target, get: Get,
): Promise<Found> => {
  const repository = await get(
    hostPath.repository(repositoryOf(publication.repository)), judgeRepositoryReply)
  if (!isSame(job, repository)) return { repository, effects: [], receipts: [] }
  const effects = await readEffects(
    ({ path, judge, replyBytesMax }) => get(path, judge, replyBytesMax),
    publishedOf(publication, job, ledgerOf(ctx.gov.store.read(), job.job_id)), posts,
    job.remote?.id ?? null)
  const whole = effects.length === posts.length && effects.every(isProven)
  const receipts = whole ? receiptsOfEffects(ctx.gov, job.job_id, effects, readRevision) : []
  return { repository, effects, receipts }
}

const failureOf = ({ job }: Target, { repository, effects }: Found): SallyportError =>
  repositoryFailure(job, repository)
    ?? readFailure(job, effects.find((effect) => !isProven(effect))?.wire ?? null)
    ?? changedMeanwhile(job)

const incomplete = (job: Job) => fail.blocked(
  'codehost_incomplete', job.created < job.plan.effects
    ? 'What may have happened did happen. The rest of it was never sent.'
    : 'It happened and is proved, but what it rests on changed meanwhile.', {
    reason: job.reason ?? 'incomplete', details: { job_id: job.job_id },
    next: job.created < job.plan.effects
      ? `Go on with the rest: \`${resumeCommand(job)}\`.`
      : `It does not count as done. See \`sallyport codehost job ${job.job_id}\`.`,
  },
)

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
  return putJob(tx, now, row, { state: 'blocked', reason: 'incomplete' })
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
  const failure = settled.state === 'succeeded' ? null : incomplete(settled)
  return { kept: { job: settled, failure }, outcome: settled.state, adopts: true }
}

const readPublication = (
  ctx: CodehostContext, session: Session, target: Target,
): Promise<Reconciled> => runReconcile<Found>(ctx, session, {
  job: target.job, readRevision: target.readRevision,
  read: (get) => readAll(ctx, target, get),
  unsent: (why) => ({ repository: why, effects: [], receipts: [] }),
  close: (asked, tx, now, run, facts) => closeReads(asked, target, tx, now, run, facts),
})

/**
 * What can be told of rows and the sealed plan is refused here: `remote_id_required`,
 * `nothing_to_reconcile`, `plan_altered`. The reads are what comes back.
 */
export const publicationReconcile = (
  ctx: CodehostContext, session: Session, job: Job, readRevision: number,
): (() => Promise<Reconciled>) => {
  const view = ctx.gov.store.read()
  const publication = openPublication(ctx.gov, view, job)
  try {
    const target = targetOf(view, job, publication, readRevision)
    return async () => {
      const reconciled = await readPublication(ctx, session, target)
      dropStage(ctx.gov, reconciled.job)
      return reconciled
    }
  } finally {
    publication.close()
  }
}
