/** What a device makes of an answer: a pure table (S-037, S-038). */
import * as v from 'valibot'
import { replyObject } from '../../base/schema.js'
import { isDelimited, isIdentityEncoded, isRecord, member, parseReply } from '../../net/reply.js'
import type { HttpsReply } from '../../net/types.js'
import { captureVerdicts, pairingVerdicts } from '../verdicts.js'
import type { CaptureFacts } from './spool/item.js'

/** Most bytes of an answer. */
export const replyBytesMax = 65_536

/** What becomes of a capture. */
export type Reaction =
  /** The service has it. */
  | { readonly kind: 'stored'; readonly artifactId: string }
  /** It will never take it: aside, and on to the next. */
  | { readonly kind: 'aside'; readonly reason: string }
  /** The number was used up: the service is asked for its last one, once. */
  | { readonly kind: 'renumber' }
  /** The credential counts no more: nothing is sent until somebody pairs again. */
  | { readonly kind: 'ended'; readonly status: number }
  /** Again later, as the same request. */
  | { readonly kind: 'retry'; readonly reason: string }

const storedShape = replyObject({
  artifact_id: v.pipe(
    v.string(), v.regex(/^edge_art_[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/)),
  request_id: v.string(),
  sha256: v.string(),
  bytes: v.number(),
})

const limits = { bytesMax: replyBytesMax, depthMax: 16 }
const codeForm = /^[a-z][a-z0-9_]{0,63}$/
const isRefusal = (status: number): boolean => status >= 400 && status < 500

/** The code that an error body names; else one made of the status. Nothing else of it is kept. */
export const errorCodeOf = ({ status, headers, body }: HttpsReply): string => {
  const parsed = isIdentityEncoded(headers) ? parseReply(body, limits) : null
  const error = parsed === null ? undefined : member(parsed, 'error')
  const code = isRecord(error) ? member(error, 'code') : undefined
  return typeof code === 'string' && codeForm.test(code) ? code : `http_${status}`
}

/** What the answer to an upload means for it. */
export const reactionTo = (reply: HttpsReply, sent: CaptureFacts): Reaction => {
  const { status } = reply
  if (status === 201 || status === 200) return storedBy(reply, sent)
  const code = errorCodeOf(reply)
  if (endsPairing(reply)) return { kind: 'ended', status }
  if (isRefusal(status) && code === 'sequence_not_greater') return { kind: 'renumber' }
  if (isRefusal(status) && captureVerdicts.has(code)) return { kind: 'aside', reason: code }
  // Redirects among them: none is followed.
  return { kind: 'retry', reason: code }
}

/** Whether an answer says that the credential counts no more. */
export const endsPairing = (reply: HttpsReply): boolean =>
  isRefusal(reply.status) && pairingVerdicts.has(errorCodeOf(reply))

/** Whether a service, of an earlier program, does not know what it is asked. */
export const knowsNot = ({ status }: HttpsReply): boolean => status === 404 || status === 405

/** Only an answer that names this very capture says that it is stored. */
const storedBy = ({ headers, body }: HttpsReply, sent: CaptureFacts): Reaction => {
  const parsed = isDelimited(headers) ? parseReply(body, limits) : null
  const { success, output } = v.safeParse(storedShape, parsed)
  const fits = success && output.request_id === sent.request_id
    && output.sha256 === sent.sha256 && output.bytes === sent.bytes
  return fits ? { kind: 'stored', artifactId: output.artifact_id }
    : { kind: 'retry', reason: 'reply_invalid' }
}
