/**
 * One protected read of a closure: counted, never tried again, and either a reply that was judged
 * or the named reason why capacity stays occupied.
 */
import { fail, SallyportError } from '../../base/errors.js'
import type { Sent } from '../../contact/order.js'
import type { ReadParts } from '../../contact/unrecorded.js'
import type { HttpsReply } from '../../net/types.js'
import { getStep } from '../adapter/reads.js'
import { closureBlocked, type ClosureBlocker } from './blockers.js'
import type { Allowance, ReadBudget } from './budget.js'
import { replyBlocker, wireBlockers } from './readback.js'

/** Reads one path; throws `blocked` `closure_blocked`, or what its authority refuses. */
export type ClosureGet = <V>(
  path: string, judge: (reply: HttpsReply) => V, how?: ClosureGetHow,
) => Promise<V>

/** What differs from a read of one small object. */
interface ClosureGetHow {
  /** Left out: the limit of all other replies. */
  readonly replyBytesMax?: number
  readonly list?: true
}

type Judged<V> =
  | { readonly kind: 'judged'; readonly value: V }
  | { readonly kind: 'blocked'; readonly reason: ClosureBlocker }

const judging = <V>(
  judge: (reply: HttpsReply) => V, { list }: ClosureGetHow,
) => (reply: HttpsReply): Judged<V> => {
  const reason = replyBlocker(reply, list)
  return reason === null ? { kind: 'judged', value: judge(reply) } : { kind: 'blocked', reason }
}

/** Whether what kept a request back is a refusal of its own, not the way to the host. */
const isRefusal = (cause: unknown): cause is SallyportError =>
  cause instanceof SallyportError && !(cause.code in wireBlockers)

/** The end of a closure that the operator stopped. */
export const closeCancelled = (jobId: string, cause?: unknown): SallyportError => fail.cancelled(
  'close_capacity_cancelled', 'The closure was cancelled; nothing was closed.', {
    next: `Send the same request again: \`sallyport codehost close-capacity ${jobId} --retry\`.`,
    details: { job_id: jobId }, ...(cause === undefined ? {} : { cause }),
  },
)

/** The error of a request without a reply. */
const lost = (
  jobId: string, wire: Exclude<Sent<unknown>, { kind: 'reply' }>, allowed: Allowance, over: boolean,
): SallyportError => {
  const { cause } = wire
  const stopped = wire.kind === 'unsent'
    ? wire.errorKind === 'cancelled' : cause instanceof SallyportError && cause.kind === 'cancelled'
  if (stopped) return closeCancelled(jobId, cause)
  const code = cause instanceof SallyportError ? cause.code : wire.reason
  if (code === 'reply_too_large') return closureBlocked(allowed.beyond(), jobId, cause)
  if (over) return closureBlocked('deadline_elapsed', jobId, cause)
  const reason = wireBlockers[code]
  if (reason !== undefined) return closureBlocked(reason, jobId, cause)
  if (isRefusal(cause)) return cause
  // Neither the host nor the network: a defect, which is thrown on as it is.
  throw cause instanceof Error ? cause : new TypeError(`a request ended without a cause: ${code}`)
}

export const closureGet = (
  jobId: string, baseUrl: string, budget: ReadBudget, { send, key, deadline }: ReadParts,
): ClosureGet => async (path, judge, how = {}) => {
  const allowed = budget.begin(how.replyBytesMax)
  if (typeof allowed === 'string') throw closureBlocked(allowed, jobId)
  const wire = await send(getStep(
    baseUrl, key, path, judging(judge, how), allowed.bytesMax, (bytes) => allowed.take(bytes)))
  if (wire.kind !== 'reply') throw lost(jobId, wire, allowed, deadline.expired())
  const { verdict } = wire
  if (verdict.kind === 'blocked') throw closureBlocked(verdict.reason, jobId)
  return verdict.value
}
