/**
 * Running a publication, as one order of the engine: the record that claims it occupies the
 * connection; the local work is done and proved; then each POST is marked before its first byte and
 * its outcome written behind it; then tree, commit, branch and pull request are read back. Nothing
 * is sent twice.
 */
import type { Closed, Closing, Order, Running, Send } from '../../../contact/order.js'
import { leaseTask } from '../../../governance/board/lease.js'
import { moveTask } from '../../../governance/board/move.js'
import { getTask } from '../../../governance/board/read.js'
import { credentialRefOf } from '../../../governance/connections/save.js'
import type { Tx } from '../../../state/types.js'
import type { HostAhead } from '../../adapter/host-time.js'
import {
  codehostLimits, codehostProfile, codehostProvider, codehostRuntime,
} from '../../constants.js'
import type { CodehostContext } from '../../context.js'
import { getJob } from '../change.js'
import { claimJob, runAuthority, type Claimed, type Ran, type RunnableJob } from '../claim.js'
import { ledgerOf } from '../ledger.js'
import { sealJournal } from '../receipt.js'
import { requireBoundAs } from './bound.js'
import { endProven, endUnproven, type Seen } from './end.js'
import { produce, type Producing } from './produce.js'
import { isProven, provingPosts, readEffects, readerOf, receiptsOfEffects } from './read-back.js'
import { nextEffect } from './sendable.js'
import { publishedOf, sendPosts } from './send-posts.js'

/** A publication that is to be run. */
interface RunnablePublication extends RunnableJob, Producing {
  /** How far the host's clock is ahead; null where it did not say. */
  readonly ahead: HostAhead | null
}

const nothing: Seen = { made: null, post: null, effects: [], receipts: [], unsent: null }

const runSteps = async (
  ctx: CodehostContext, runnable: RunnablePublication, send: Send, run: Running<Claimed>,
  key: Uint8Array,
): Promise<Seen> => {
  const made = await produce(ctx, run, runnable)
  if (made.kind !== 'complete') return { ...nothing, made }
  const { publication, ahead } = runnable
  const { jobId, connectionRevision } = run.claimed
  const job = getJob(ctx.gov.store.read(), jobId)
  const { post, wire } = await sendPosts(
    { ctx, run, send, key, publication, ahead }, job, nextEffect(ctx.gov.store.read(), job))
  const created = wire.kind === 'reply' && wire.verdict.kind === 'created' ? wire.verdict : null
  const seen = { ...nothing, made, post: wire }
  if (created === null || post.number !== publication.posts.length) return seen
  await ctx.gov.observer.at('codehost.created')
  const effects = await readEffects(
    readerOf(send, ctx.baseUrl, key),
    publishedOf(publication, job, ledgerOf(ctx.gov.store.read(), jobId)),
    provingPosts(publication), created.remoteId)
  const whole = effects.length === provingPosts(publication).length && effects.every(isProven)
  const receipts = whole ? receiptsOfEffects(ctx.gov, jobId, effects, connectionRevision) : []
  return { ...seen, effects, receipts }
}

const close = (
  ctx: CodehostContext, tx: Tx, now: string, run: Running<Claimed>,
  { evidence, sealed }: Closing<Seen>,
): Closed<Ran> => {
  const row = getJob(tx, run.claimed.jobId)
  if (sealed !== null && evidence.receipts[0]?.job_revision === row.revision) {
    const kept = endProven(ctx, tx, now, run, sealed, evidence)
    return { kept, outcome: kept.job.state, adopts: true }
  }
  const kept = endUnproven(tx, now, run, evidence)
  return { kept, outcome: kept.job.state, adopts: false }
}

/** The order of one run of a publication. */
export const publicationOrder = (
  ctx: CodehostContext, runnable: RunnablePublication,
): Order<Claimed, Seen, Ran> => {
  const { job, session, publication } = runnable
  return {
    step: 'codehost', verb: 'codehost run', noun: 'run',
    operationMsMax: codehostLimits.jobMsMax, lane: null, session: true,
    runtime: codehostRuntime, profile: codehostProfile,
    credential: credentialRefOf(job.connection_id),
    claim: (tx, now, claiming) => claimJob(ctx, runnable, tx, now, claiming, {
      sendable: (rows, row) => void nextEffect(rows, row),
      begun: (rows, row, as) => requireBoundAs(rows, row, runnable.binding, as),
    }),
    prepare: (tx, now, { claimed, operationId }) => {
      moveTask(tx, now, claimed.taskId, 'running')
      leaseTask(tx, now, claimed.taskId, operationId, getTask(tx, claimed.taskId).deadline_at)
      return { hold: null, requestMs: codehostLimits.postMs }
    },
    decide: (tx, _now, run) => ({
      provider: codehostProvider, url: `${ctx.baseUrl}${publication.posts[0]?.path ?? ''}`,
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
