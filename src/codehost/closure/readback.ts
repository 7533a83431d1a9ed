/** What a reply to a protected read is worth as evidence, or why it is none. Total. */
import { isIdentityEncoded } from '../../net/reply.js'
import type { HttpsReply } from '../../net/types.js'
import type { ReadReason } from '../adapter/readback.js'
import type { ClosureBlocker } from './blockers.js'

const firstStatusOfFailure = 500

/**
 * Why a reply is no evidence before anybody looks at what it says; null where it may be. `list`: a
 * list was asked for.
 */
export const replyBlocker = (
  { status, headers, body }: HttpsReply, list: boolean = false,
): ClosureBlocker | null => {
  if (status >= firstStatusOfFailure) return 'host_failed'
  if (status !== 200) return null
  if (!isIdentityEncoded(headers)) return 'readback_encoded'
  const start = body.toString('latin1', 0, 64).trimStart()
  return start.startsWith('[') && !list ? 'readback_ambiguous' : null
}

/** The reason that a judged reply without evidence is told under. */
export const blockerOf: Readonly<Record<ReadReason, ClosureBlocker>> = {
  remote_not_found: 'remote_not_found',
  readback_differs: 'readback_differs',
  readback_edited: 'readback_edited',
  readback_truncated: 'readback_truncated',
  readback_other_time: 'readback_other_time',
  readback_time_missing: 'readback_time_missing',
  readback_other_author: 'readback_other_author',
  readback_author_missing: 'readback_author_missing',
  readback_author_unknown: 'readback_author_unknown',
  codehost_token_refused: 'token_refused',
  codehost_rate_limited: 'rate_limited',
  repository_not_seen: 'remote_not_found',
  repository_moved: 'readback_redirected',
  codehost_reply: 'readback_malformed',
}

/** Of a request without a usable reply, by what the client says. */
export const wireBlockers: Readonly<Record<string, ClosureBlocker>> = {
  reply_malformed: 'readback_malformed',
  encoding_refused: 'readback_encoded',
  truncated: 'readback_truncated',
  dns_failed: 'host_unreachable',
  address_refused: 'host_unreachable',
  connect_failed: 'host_unreachable',
  tls_failed: 'host_unreachable',
  reset: 'reply_lost',
  timeout: 'reply_lost',
  deadline_passed: 'deadline_elapsed',
}
