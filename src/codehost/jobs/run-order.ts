/**
 * Running a job, as one order of the engine: the record that claims it occupies the connection and
 * makes or continues the task; the local work that its kind has is done and proved; then each POST
 * is marked in the ledger before its first byte and its outcome written behind it; then what proves
 * the whole is read back. Nothing is sent twice.
 */
import type { Closed, Closing, Order, Running, Send } from '../../contact/order.js'
import { leaseTask } from '../../governance/board/lease.js'
import { moveTask } from '../../governance/board/move.js'
import { findTask } from '../../governance/board/place.js'
import { getTask } from '../../governance/board/visible-tasks.js'
import { credentialRefOf } from '../../governance/connections/save.js'
import type { Tx } from '../../state/types.js'
import type { HostAhead } from '../adapter/host-time.js'
import { codehostLimits, codehostProfile, codehostProvider, codehostRuntime } from '../constants.js'
import type { CodehostContext } from '../context.js'
import { getJob } from './change.js'
import { claimJob, runAuthority, type Claimed, type Ran, type RunnableJob } from './claim.js'
import { endProven, endUnproven, type Seen } from './end.js'
import { ledgerOf } from './ledger.js'
import { isProven, readEffects, readerOf, receiptsOfEffects } from './read-back.js'
import { sealJournal } from './receipt.js'
import { sendPosts } from './send-posts.js'
import { nextEffect } from './sendable.js'
import type { Work, WorkToRun } from './work.js'

/** A job that is to be run, looked at. */
interface Runnable extends RunnableJob {
  readonly work: Pick<Work, 'posts' | 'proving'>
  readonly toRun: WorkToRun
  /** How far the host's clock is ahead; null where it did not say. */
  readonly ahead: HostAhead | null
}

const nothing: Seen = { made: null, post: null, effects: [], receipts: [], unsent: null }

const runSteps = async (
  ctx: CodehostContext, { work: { posts, proving }, toRun, ahead }: Runnable, send: Send,
  run: Running<Claimed>, key: Uint8Array,
): Promise<Seen> => {
  const made = await toRun.produce?.(ctx, run) ?? null
  if (made !== null && made.kind !== 'complete') return { ...nothing, made }
  const { gov: { store, observer } } = ctx
  const { jobId, connectionRevision } = run.claimed
  const view = store.read()
  const job = getJob(view, jobId)
  const { post, wire } = await sendPosts(
    { ctx, run, send, key, job, posts, ahead }, nextEffect(view, job))
  const created = wire.kind === 'reply' && wire.verdict.kind === 'created' ? wire.verdict : null
  const seen = { ...nothing, made, post: wire }
  if (created === null || post.number !== posts.length) return seen
  await observer.at('codehost.created')
  const effects = await readEffects(readerOf(send, ctx.baseUrl, key), job,
    ledgerOf(store.read(), jobId), proving, created.remoteId)
  const whole = effects.length === proving.length && effects.every(isProven)
  const receipts = whole ? receiptsOfEffects(ctx.gov, jobId, effects, connectionRevision) : []
  return { ...seen, effects, receipts }
}

const close = (
  ctx: CodehostContext, tx: Tx, now: string, run: Running<Claimed>,
  { evidence, sealed }: Closing<Seen>,
): Closed<Ran> => {
  const row = getJob(tx, run.claimed.jobId)
  // Taken for dead, and gone on with since: nothing that there is now is this run's to end.
  if (findTask(tx, run.claimed.taskId)?.operation_id !== run.operationId) {
    return { kept: { job: row, unsent: null }, outcome: 'overtaken', adopts: false }
  }
  const proven = sealed !== null && evidence.receipts[0]?.job_revision === row.revision
  const kept = proven
    ? endProven(ctx, tx, now, run, sealed, evidence) : endUnproven(tx, now, run, evidence)
  return { kept, outcome: kept.job.state, adopts: proven }
}

export const runOrderOf = (ctx: CodehostContext, runnable: Runnable): Order<Claimed, Seen, Ran> => {
  const { job, session, work: { posts }, toRun } = runnable
  return {
    step: 'codehost', verb: 'codehost run', noun: 'run',
    operationMsMax: toRun.operationMsMax, lane: null, session: true,
    runtime: codehostRuntime, profile: codehostProfile,
    credential: credentialRefOf(job.connection_id),
    claim: (tx, now, claiming) => claimJob(ctx, runnable, tx, now, claiming, toRun.begun),
    prepare: (tx, now, { claimed, operationId }) => {
      moveTask(tx, now, claimed.taskId, 'running')
      leaseTask(tx, now, claimed.taskId, operationId, getTask(tx, claimed.taskId).deadline_at)
      return { hold: null, requestMs: codehostLimits.postMs }
    },
    decide: (tx, _now, run) => ({
      provider: codehostProvider, url: `${ctx.baseUrl}${posts[0]?.path ?? ''}`,
      decision_id: null, policy_revision: runAuthority(ctx, tx, run),
    }),
    authority: (view, _boundary, run) => runAuthority(ctx, view, run),
    party: () => ({
      principal: session.principal.principal_id, root: session.root.root_id,
      connection: job.connection_id,
    }),
    run: (send, { key, ...run }) => runSteps(ctx, runnable, send, run, key),
    unsent: (why) => ({ ...nothing, unsent: why }),
    money: () => ({ ledger: 'release' }),
    keep: ({ receipts }) => (receipts.length === 0 ? null : sealJournal(ctx.gov, receipts)),
    close: (tx, now, run, facts) => close(ctx, tx, now, run, facts),
    details: ({ claimed }) => ({ job_id: claimed.jobId, task_id: claimed.taskId }),
  }
}
