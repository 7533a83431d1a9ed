/**
 * Running a follow-through job, as an order of the engine: the record that claims it occupies the
 * connection and makes or continues the task; its POST is marked in the ledger before the first
 * byte and its outcome written behind it; then it is read back. Nothing is sent twice.
 */
import { msFromIso } from '../../base/clock.js'
import type { Closed, Closing, Order, Running, Sent, Send } from '../../contact/order.js'
import { leaseTask } from '../../governance/board/lease.js'
import { moveTask } from '../../governance/board/move.js'
import { getTask } from '../../governance/board/read.js'
import { credentialRefOf } from '../../governance/connections/save.js'
import type { ArtifactRef, Tx } from '../../state/types.js'
import type { HostAhead } from '../adapter/host-time.js'
import { judgeCreation, refusedFor, type PostVerdict } from '../adapter/post-reply.js'
import { getStep } from '../adapter/reads.js'
import { readbackOf, type Readback, type ReadVerdict } from '../adapter/readback.js'
import { writeHeaders } from '../adapter/request.js'
import { codehostLimits, codehostProfile, codehostProvider, codehostRuntime } from '../constants.js'
import type { CodehostContext } from '../context.js'
import { effectBlock, incompleteBlock } from './blocks.js'
import { getJob, putJob } from './change.js'
import {
  askedOf, blockTask, claimJob, closeUnsent, runAuthority, type Claimed, type Ran, type RunnableJob,
} from './claim.js'
import { appendContacted } from './histories.js'
import { effectProvenance, ledgerOf, noteOutcome, provenanceOf, requireUnsent } from './ledger.js'
import { effectOf, type FollowPlan } from './plan.js'
import { mintReceipt, sealJournal, type ReadReceipt } from './receipt.js'
import type { Job } from './rows.js'
import { settleProven } from './settle.js'

/** A follow-through job that is to be run. */
interface Runnable extends RunnableJob {
  readonly plan: FollowPlan
  /** How far the host's clock is ahead; null where it did not say. */
  readonly ahead: HostAhead | null
}

/** What the run saw. */
interface Seen {
  readonly post: Sent<PostVerdict>
  readonly readback: {
    readonly at: Readback
    readonly remoteId: number
    readonly wire: Sent<ReadVerdict>
  } | null
  /** Of a readback that matched. */
  readonly receipts: readonly ReadReceipt[]
}

const sendEffect = async (
  ctx: CodehostContext, { job: of, plan, ahead }: Runnable, send: Send, run: Running<Claimed>,
  key: Uint8Array,
): Promise<Sent<PostVerdict>> => {
  const effect = effectOf(plan, 1)
  const body = Buffer.from(effect.body)
  const { claimed: { jobId, attempt, fence }, operationId } = run
  let markedMs = 0
  return send({
    authority: 'effect',
    request: () => ({
      method: 'POST', url: `${ctx.baseUrl}${effect.path}`, headers: writeHeaders(key), body,
      requestBytesMax: body.length, replyBytesMax: codehostLimits.smallReplyBytesMax,
    }),
    timeoutMs: (leftMs) => (leftMs > 0 ? Math.min(leftMs, codehostLimits.postMs) : null),
    mark: (tx, now) => {
      const job = getJob(tx, jobId)
      requireUnsent(tx, job)
      markedMs = msFromIso(now)
      appendContacted(tx, jobId, {
        type: 'contacted', at: now, effect: effect.number, attempt, operation_id: operationId,
        fence, body_sha256: effect.body_sha256, ...(ahead === null ? {} : { host_ahead: ahead }),
      })
      putJob(tx, now, job, { contacted: job.contacted + 1 })
    },
    record: (tx, now, wire) => noteOutcome(tx, now, jobId, effect.number, wire),
    judge: (reply) => judgeCreation(plan, effect, provenanceOf(of, {
      markedMs, endedMs: ctx.gov.clock.wallMs(), ahead,
    }))(reply),
  })
}

type Sends = Omit<Seen, 'receipts'>

const sendSteps = async (
  ctx: CodehostContext, runnable: Runnable, send: Send, run: Running<Claimed>, key: Uint8Array,
): Promise<Sends> => {
  const post = await sendEffect(ctx, runnable, send, run, key)
  if (post.kind !== 'reply' || post.verdict.kind !== 'created') return { post, readback: null }
  const { remoteId } = post.verdict
  if (remoteId === null) throw new TypeError('an issue or comment has a number of the host')
  await ctx.gov.observer.at('codehost.created')
  const ledger = ledgerOf(ctx.gov.store.read(), run.claimed.jobId)
  const at = readbackOf(
    runnable.plan, effectOf(runnable.plan, 1), remoteId, effectProvenance(runnable.job, ledger, 1))
  const wire = await send(getStep(ctx.baseUrl, key, at.path, at.judge))
  return { post, readback: { at, remoteId, wire } }
}

/** The receipts of a readback that matched; none otherwise. */
const receiptsOf = (
  ctx: CodehostContext, { plan }: Runnable, { readback }: Sends, { claimed }: Running<Claimed>,
): readonly ReadReceipt[] => {
  if (readback?.wire.kind !== 'reply' || readback.wire.verdict.kind !== 'matches') return []
  const view = ctx.gov.store.read()
  return [mintReceipt(ctx.gov, view, getJob(view, claimed.jobId), {
    effect: effectOf(plan, 1), remoteId: readback.remoteId, path: readback.at.path,
    verdict: readback.wire.verdict, readRevision: claimed.connectionRevision,
  })]
}

const runSteps = async (
  ctx: CodehostContext, runnable: Runnable, send: Send, run: Running<Claimed>, key: Uint8Array,
): Promise<Seen> => {
  const sent = await sendSteps(ctx, runnable, send, run, key)
  return { ...sent, receipts: receiptsOf(ctx, runnable, sent, run) }
}

/** Why what may have happened is not known to have happened. */
const unknownReason = ({ post, readback }: Sends): string => {
  if (readback !== null) {
    const { wire } = readback
    if (wire.kind !== 'reply') return wire.reason
    return wire.verdict.kind === 'matches' ? 'receipt_overtaken' : wire.verdict.reason
  }
  if (post.kind !== 'reply') return post.reason
  return post.verdict.kind === 'created' ? 'not_read_back' : post.verdict.reason
}

const closeOpen = (
  tx: Tx, now: string, job: Job, taskId: string, seen: Seen,
): Ran => {
  const refused = refusedFor(seen.post)
  blockTask(tx, now, taskId, effectBlock,
    refused === null ? 'unknown_external_effect' : 'effect_refused')
  tx.mark()
  const changed = putJob(tx, now, job, refused === null
    ? { state: 'unknown_external_effect', reason: unknownReason(seen) }
    : { state: 'failed', reason: refused })
  return { job: changed, unsent: null }
}

const closeProven = (
  ctx: CodehostContext, tx: Tx, now: string, run: Running<Claimed>,
  journal: ArtifactRef, { readback, receipts }: Seen,
): Ran => {
  const { jobId, taskId } = run.claimed
  const verdict = readback?.wire.kind === 'reply' ? readback.wire.verdict : null
  const settled = settleProven(askedOf(ctx, run), tx, now, getJob(tx, jobId), {
    purpose: 'readback', operationId: run.operationId, receipts, journal,
    rawBytes: verdict?.kind === 'matches' ? verdict.rawBytes : 0,
  })
  if (settled.state === 'succeeded') moveTask(tx, now, taskId, 'succeeded')
  else blockTask(tx, now, taskId, incompleteBlock, settled.reason ?? 'unknown')
  return { job: settled, unsent: null }
}

/** The order of one run. */
export const runOrderOf = (
  ctx: CodehostContext, runnable: Runnable,
): Order<Claimed, Seen, Ran> => {
  const { job, session } = runnable
  const close = (
    tx: Tx, now: string, run: Running<Claimed>, { evidence, sealed }: Closing<Seen>,
  ): Closed<Ran> => {
    const row = getJob(tx, run.claimed.jobId)
    if (evidence.post.kind === 'unsent') {
      const kept = closeUnsent(tx, now, row, run, evidence.post)
      return { kept, outcome: 'unsent', adopts: false }
    }
    if (sealed !== null && evidence.receipts[0]?.job_revision === row.revision) {
      const kept = closeProven(ctx, tx, now, run, sealed, evidence)
      return { kept, outcome: kept.job.state, adopts: true }
    }
    const kept = closeOpen(tx, now, row, run.claimed.taskId, evidence)
    return { kept, outcome: kept.job.state, adopts: false }
  }
  return {
    step: 'codehost', verb: 'codehost run', noun: 'run',
    operationMsMax: codehostLimits.followThroughMsMax, lane: null, session: true,
    runtime: codehostRuntime, profile: codehostProfile,
    credential: credentialRefOf(job.connection_id),
    claim: (tx, now, claiming) =>
      claimJob(ctx, runnable, tx, now, claiming, { sendable: requireUnsent }),
    prepare: (tx, now, { claimed, operationId }) => {
      moveTask(tx, now, claimed.taskId, 'running')
      leaseTask(tx, now, claimed.taskId, operationId, getTask(tx, claimed.taskId).deadline_at)
      return { hold: null, requestMs: codehostLimits.postMs }
    },
    decide: (tx, _now, run) => ({
      provider: codehostProvider, url: `${ctx.baseUrl}${effectOf(runnable.plan, 1).path}`,
      decision_id: null, policy_revision: runAuthority(ctx, tx, run),
    }),
    authority: (view, _boundary, run) => runAuthority(ctx, view, run),
    party: () => ({
      principal: session.principal.principal_id, root: session.root.root_id,
      connection: job.connection_id,
    }),
    run: (send, { key, ...run }) => runSteps(ctx, runnable, send, run, key),
    unsent: (why) => ({ post: why, readback: null, receipts: [] }),
    money: () => ({ ledger: 'release' }),
    keep: ({ receipts }) => (receipts.length === 0 ? null : sealJournal(ctx.gov, receipts)),
    close,
    details: ({ claimed }) => ({ job_id: claimed.jobId, task_id: claimed.taskId }),
  }
}
