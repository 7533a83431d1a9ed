/**
 * What a reply to a creation is worth. Total: whatever is not a whole and valid confirmation or a
 * complete refusal is unknown, and nothing of it is sent again.
 */
import { sha256Hex } from '../../base/canonical.js'
import { orUndefined } from '../../governance/judge/fact.js'
import { isDelimited, isIdentityEncoded } from '../../net/reply.js'
import type { HttpsReply } from '../../net/types.js'
import type { FollowPlan, PlannedEffect } from '../jobs/plan.js'
import { commentTold, issueTold } from './follow-told.js'
import { likenessOf, type Likeness, type Provenance } from './provenance.js'

/** What the host says of a creation. */
export type PostVerdict = {
  readonly status: number
  readonly rawSha256: string
} & (
  /** `remoteId`: the number that the host chose; null where its id was known before. */
  | { readonly kind: 'created'; readonly remoteId: number | null }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }
)

/** Hosts say with a 422 that they gave up, and may have done it all the same. */
const timedOut = /timed?[ -]?out|timeout/i

/** Of one that ends with its connection nobody can tell whether it is whole. */
const isComplete4xx = ({ status, headers }: HttpsReply): boolean =>
  status >= 400 && status < 500 && isDelimited(headers)

const reasonOf = ({ status, headers }: HttpsReply): string => {
  if (status === 429 || headers.has('retry-after')) return 'codehost_rate_limited'
  return status === 401 ? 'codehost_token_refused' : `status_${status}`
}

/** What a whole 201 says: what was asked for is made, or something else is told, or its like. */
export type Confirmation = { readonly remoteId: number | null } | 'differs' | Likeness

/**
 * Judges the reply to a creation. `confirmed` reads the body of a 201 and throws where it is not
 * whole; a 201 about something else than what was sent is unknown, as is one that cannot be read.
 */
export const judgePost = (
  confirmed: (body: Uint8Array) => Confirmation,
) => (reply: HttpsReply): PostVerdict => {
  const { status, body, headers } = reply
  const seen = { status, rawSha256: sha256Hex(body) }
  if (isComplete4xx(reply) && !(status === 422 && timedOut.test(body.toString('utf8')))) {
    return { kind: 'refused', reason: reasonOf(reply), ...seen }
  }
  if (status !== 201) return { kind: 'unknown', reason: `status_${status}`, ...seen }
  const found = isIdentityEncoded(headers) ? orUndefined(() => confirmed(body)) : undefined
  if (found === undefined) return { kind: 'unknown', reason: 'reply_malformed', ...seen }
  return typeof found === 'string'
    ? { kind: 'unknown', reason: `reply_${found}`, ...seen }
    : { kind: 'created', ...found, ...seen }
}

/**
 * Judges the reply to the creation of an issue or a comment: it must be about the one sent, and not
 * about its like.
 */
export const judgeCreation = (
  plan: FollowPlan, { action }: Pick<PlannedEffect, 'action'>, of: Provenance,
): (reply: HttpsReply) => PostVerdict => judgePost((body) => {
  const { matches, remoteId, payload } = action === 'issue.create'
    ? issueTold(plan, body) : commentTold(plan, body)
  return matches ? likenessOf(of, payload) ?? { remoteId } : 'differs'
})
