/**
 * Running a job, as one order of the engine: the record that claims it occupies the connection and
 * makes or continues the task; the local work that its kind has is done and proved; then each POST
 * is marked in the ledger before its first byte and its outcome written behind it; then what proves
 * the whole is read back. Nothing is sent twice.
 */
import { msFromIso, type Clock } from '../../base/clock.js'
import { SallyportError } from '../../base/errors.js'
import type { Closed, Closing, Order, Running, Send, Sent, Unsent } from '../../contact/order.js'
import { leaseTask } from '../../governance/board/lease.js'
import { moveTask } from '../../governance/board/move.js'
import { getTask } from '../../governance/board/read.js'
import { credentialRefOf } from '../../governance/connections/save.js'
import { deploymentProfile } from '../../governance/profile.js'
import type { Tx } from '../../state/types.js'
import type { HostAhead } from '../adapter/host-time.js'
import type { PostVerdict } from '../adapter/post-reply.js'
import { writeHeaders } from '../adapter/request.js'
import { codehostLimits, codehostProfile, codehostProvider, codehostRuntime } from '../constants.js'
import type { CodehostContext } from '../context.js'
import { postLimits } from '../plan/limits.js'
import { getJob, putJob } from './change.js'
import { claimJob, runAuthority, type Claimed, type Ran, type RunnableJob } from './claim.js'
import { endProven, endUnproven, type Seen } from './end.js'
import { appendContacted } from './histories.js'
import { ledgerOf, noteOutcome, provenanceOf } from './ledger.js'
import { isProven, readEffects, readerOf, receiptsOfEffects } from './read-back.js'
import { sealJournal } from './receipt.js'
import type { Job } from './rows.js'
import { nextEffect, requireNext } from './sendable.js'
import type { Work, WorkPost, WorkToRun } from './work.js'

// The POSTs of a job on their way out, one after the other: each marked in the ledger with the
// anchor before its first byte, its outcome written behind it. The first that is not answered as
// made ends the run; nothing later is sent.

/**
 * Waits until `spacingMs` have passed since it was last asked; the first time it does not wait.
 * Hosts of others ask for a second between two writes. A stop ends the wait: whoever waits looks.
 */
export const pacing = (
  clock: Clock, spacingMs: number, signal: AbortSignal,
): (() => Promise<void>) => {
  let nextMs = clock.monotonicMs()
  return async () => {
    const waitMs = nextMs - clock.monotonicMs()
    if (waitMs > 0) await clock.sleep(waitMs, signal).catch(() => undefined)
    nextMs = clock.monotonicMs() + spacingMs
  }
}

/** One POST that was tried, and what came of it. */
interface Tried {
  readonly post: WorkPost
  readonly wire: Sent<PostVerdict>
}

/** A run while it sends. */
interface Sending {
  readonly ctx: CodehostContext
  readonly run: Running<Claimed>
  readonly send: Send
  readonly key: Uint8Array
  readonly job: Job
  readonly posts: readonly WorkPost[]
  readonly ahead: HostAhead | null
}

/** The bytes of a POST, or proof that they were not sent: a sealed piece cannot be opened. */
const bodyOf = async (post: WorkPost): Promise<Buffer | Unsent> => {
  try {
    return await post.body()
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    const { code: reason, kind: errorKind } = error
    return { kind: 'unsent', reason, errorKind, cause: error }
  }
}

const sendPost = async (
  { ctx, run, send, key, job: of, ahead }: Sending, post: WorkPost,
): Promise<Sent<PostVerdict>> => {
  const { operationId, claimed: { jobId, attempt, fence } } = run
  const body = await bodyOf(post)
  if (!Buffer.isBuffer(body)) return body
  let markedMs = 0
  return send({
    authority: 'effect',
    request: () => ({
      method: 'POST', url: `${ctx.baseUrl}${post.path}`, headers: writeHeaders(key), body,
      requestBytesMax: body.length, replyBytesMax: post.replyBytesMax,
    }),
    timeoutMs: (leftMs) => (leftMs > 0 ? Math.min(leftMs, codehostLimits.postMs) : null),
    mark: (tx, now) => {
      const job = getJob(tx, jobId)
      requireNext(tx, job, post.number)
      markedMs = msFromIso(now)
      appendContacted(tx, jobId, {
        type: 'contacted', at: now, effect: post.number, attempt, operation_id: operationId,
        fence, body_sha256: post.body_sha256, ...(ahead === null ? {} : { host_ahead: ahead }),
      })
      putJob(tx, now, job, { contacted: job.contacted + 1 })
    },
    record: (tx, now, wire) => noteOutcome(tx, now, jobId, post.number, wire),
    judge: (reply) => post.judge(provenanceOf(of, {
      markedMs, endedMs: ctx.gov.clock.wallMs(), ahead,
    }))(reply),
  })
}

/** Sends from a number on. Answers the last one that was tried. */
const sendPosts = async (sending: Sending, from: number): Promise<Tried> => {
  const { ctx, posts } = sending
  const { gov: { clock, store, observer }, signal } = ctx
  const spacingMs = deploymentProfile(store).loopback ? 0 : postLimits.spacingMs
  const spaced = pacing(clock, spacingMs, signal)
  let last: Tried | null = null
  for (const post of posts) {
    if (post.number < from) continue
    await spaced()
    // One alone is nothing to count.
    if (posts.length > 1) await observer.at(`codehost.post_${post.number}_of_${posts.length}`)
    last = { post, wire: await sendPost(sending, post) }
    if (last.wire.kind !== 'reply' || last.wire.verdict.kind !== 'created') break
  }
  if (last === null) throw new TypeError('a run sends something')
  return last
}

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
  const proven = sealed !== null && evidence.receipts[0]?.job_revision === row.revision
  const kept = proven
    ? endProven(ctx, tx, now, run, sealed, evidence) : endUnproven(tx, now, run, evidence)
  return { kept, outcome: kept.job.state, adopts: proven }
}

/** The order of one run. */
export const runOrderOf = (
  ctx: CodehostContext, runnable: Runnable,
): Order<Claimed, Seen, Ran> => {
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
