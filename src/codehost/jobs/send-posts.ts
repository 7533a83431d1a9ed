/**
 * The POSTs of a job on their way out, one after the other: each marked in the ledger with
 * the anchor before its first byte, its outcome written behind it. The first that is not answered
 * as made ends the run; nothing later is sent.
 */
import { msFromIso, type Clock } from '../../base/clock.js'
import { SallyportError } from '../../base/errors.js'
import type { Running, Send, Sent, Unsent } from '../../contact/order.js'
import { deploymentProfile } from '../../governance/profile.js'
import type { HostAhead } from '../adapter/host-time.js'
import type { PostVerdict } from '../adapter/post-reply.js'
import { writeHeaders } from '../adapter/request.js'
import { codehostLimits } from '../constants.js'
import type { CodehostContext } from '../context.js'
import { postLimits } from '../plan/plan-limits.js'
import { getJob, putJob } from './change.js'
import type { Claimed } from './claim.js'
import { appendContacted } from './histories.js'
import { noteOutcome, provenanceOf } from './ledger.js'
import type { Job } from './job-rows.js'
import { requireNext } from './sendable.js'
import type { WorkPost } from './work.js'

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
    record: (tx, now, wire) =>
      noteOutcome(tx, now, { jobId, operationId, effect: post.number }, wire),
    judge: (reply) => post.judge(provenanceOf(of, {
      markedMs, endedMs: ctx.gov.clock.wallMs(), ahead,
    }))(reply),
  })
}

/** Sends from a number on. Answers the last one that was tried. */
export const sendPosts = async (sending: Sending, from: number): Promise<Tried> => {
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
