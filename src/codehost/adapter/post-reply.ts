/**
 * What a reply to a creation is worth. Total: whatever is not a whole and valid confirmation or a
 * complete refusal is unknown, and nothing of it is sent again.
 */
import { sha256Hex } from '../../base/canonical.js'
import type { Sent } from '../../contact/order.js'
import { orUndefined } from '../../governance/judge/fact.js'
import { isDelimited, isIdentityEncoded } from '../../net/reply.js'
import type { RetryAfter } from '../../net/retry-after.js'
import type { HttpsReply } from '../../net/types.js'
import type { FollowPlan, PlannedEffect } from '../jobs/plan.js'
import { commentTold, issueTold } from './follow-told.js'
import { likenessOf, type Likeness, type Provenance, type ToldOrigin } from './provenance.js'
import { backOf, isLimited, provesRefusal } from './refusal.js'

/** What the host says of a creation. */
export type PostVerdict = {
  readonly status: number
  readonly rawSha256: string
  /** When the token may come back; null where no limit of it was named, or no time. */
  readonly back: RetryAfter | null
  /** The number that the host told; null where its id was known before, or it told none. */
  readonly remoteId: number | null
} & (
  | { readonly kind: 'created' }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }
)

/** Why the host refused a creation; null where it did not, or nobody knows. */
export const refusedFor = (post: Sent<PostVerdict> | null): string | null =>
  (post?.kind === 'reply' && post.verdict.kind === 'refused' ? post.verdict.reason : null)

/** Of one that ends with its connection nobody can tell whether it is whole. */
const isRefusal = (reply: HttpsReply): boolean => {
  const { status, headers } = reply
  return status >= 400 && status < 500 && isDelimited(headers) && provesRefusal(reply)
}

const reasonOf = (reply: HttpsReply): string => {
  if (isLimited(reply)) return 'codehost_rate_limited'
  return reply.status === 401 ? 'codehost_token_refused' : `status_${reply.status}`
}

/** What a whole 201 says: what was asked for is made, or something else is told, or its like. */
export interface Confirmation {
  /** What the host numbered it; null where its id was known before, or it is not this one's. */
  readonly remoteId: number | null
  /** Why it is no confirmation; null where it is one. */
  readonly problem: 'differs' | Likeness | null
}

/** A whole 201 that is none of this effect, and whose number is none. */
export const notThis = (problem: 'differs' | Likeness): Confirmation =>
  ({ remoteId: null, problem })

/** What was told of something that the host numbered. */
interface Numbered {
  readonly remoteId: number
  /** It is of the place that it was sent to. */
  readonly inPlace: boolean
  /** Its text is the one that was sent. */
  readonly sameText: boolean
  readonly payload: ToldOrigin
}

/**
 * What a 201 about something numbered confirms. One that differs in its text alone is no success;
 * its number is kept all the same where time and maker are those of this effect, for a mark may be
 * gone with the text.
 */
export const numberedConfirmation = (
  of: Provenance, { remoteId, inPlace, sameText, payload }: Numbered,
): Confirmation => {
  if (!inPlace) return notThis('differs')
  const like = likenessOf(sameText ? of : { ...of, marked: false }, payload)
  if (sameText) return like === null ? { remoteId, problem: null } : notThis(like)
  return like === null ? { remoteId, problem: 'differs' } : notThis('differs')
}

/**
 * Judges the reply to a creation. `confirmed` reads the body of a 201 and throws where it is not
 * whole; a 201 about something else than what was sent is unknown, as is one that cannot be read.
 */
export const judgePost = (
  confirmed: (body: Uint8Array) => Confirmation,
) => (reply: HttpsReply): PostVerdict => {
  const { status, body, headers } = reply
  const seen = { status, rawSha256: sha256Hex(body), back: backOf(reply), remoteId: null }
  if (isRefusal(reply)) return { kind: 'refused', reason: reasonOf(reply), ...seen }
  if (status !== 201) return { kind: 'unknown', reason: reasonOf(reply), ...seen }
  const found = isIdentityEncoded(headers) ? orUndefined(() => confirmed(body)) : undefined
  if (found === undefined) return { kind: 'unknown', reason: 'reply_malformed', ...seen }
  const { remoteId, problem } = found
  return problem === null ? { kind: 'created', ...seen, remoteId }
    : { kind: 'unknown', reason: `reply_${problem}`, ...seen, remoteId }
}

/**
 * Judges the reply to the creation of an issue or a comment: it must be about the one sent, and not
 * about its like.
 */
export const judgeCreation = (
  plan: FollowPlan, { action }: Pick<PlannedEffect, 'action'>, of: Provenance,
): (reply: HttpsReply) => PostVerdict => judgePost((body) => numberedConfirmation(
  of, action === 'issue.create' ? issueTold(plan, body) : commentTold(plan, body)))
