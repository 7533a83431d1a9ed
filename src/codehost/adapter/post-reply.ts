/**
 * What a reply to a creation is worth. Total: whatever is not a whole and valid confirmation or a
 * complete refusal is unknown, and nothing of it is sent again.
 */
import { sha256Hex } from '../../base/canonical.js'
import { orUndefined } from '../../governance/judge/fact.js'
import { isIdentityEncoded } from '../../net/reply.js'
import type { HttpsReply } from '../../net/types.js'
import { readReply } from '../replies/read.js'

/** What the host says of a creation. */
export type PostVerdict = {
  readonly status: number
  readonly rawSha256: string
} & (
  | { readonly kind: 'created'; readonly remoteId: number }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unknown'; readonly reason: string }
)

/** Hosts say with a 422 that they gave up, and may have done it all the same. */
const timedOut = /timed?[ -]?out|timeout/i

const isComplete4xx = ({ status }: HttpsReply): boolean => status >= 400 && status < 500

const reasonOf = ({ status, headers }: HttpsReply): string => {
  if (status === 429 || headers.has('retry-after')) return 'codehost_rate_limited'
  return status === 401 ? 'codehost_token_refused' : `status_${status}`
}

const idOf = (what: 'issue' | 'comment', body: Uint8Array): number | undefined =>
  orUndefined(() => (what === 'issue'
    ? readReply('issue', body).number : readReply('comment', body).id))

/** Judges the reply to the creation of an issue or a comment. */
export const judgeCreation = (what: 'issue' | 'comment') => (reply: HttpsReply): PostVerdict => {
  const { status, body, headers } = reply
  const seen = { status, rawSha256: sha256Hex(body) }
  const told = body.toString('utf8')
  if (isComplete4xx(reply) && !(status === 422 && timedOut.test(told))) {
    return { kind: 'refused', reason: reasonOf(reply), ...seen }
  }
  if (status !== 201) return { kind: 'unknown', reason: `status_${status}`, ...seen }
  const remoteId = isIdentityEncoded(headers) ? idOf(what, body) : undefined
  return remoteId === undefined
    ? { kind: 'unknown', reason: 'reply_malformed', ...seen }
    : { kind: 'created', remoteId, ...seen }
}
