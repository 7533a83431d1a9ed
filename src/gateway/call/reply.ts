/**
 * What a gateway reply is worth: a charge or none, and apart from that an accepted text or none. A
 * reply that is refused may still carry its charge, and an accepted one may lack it.
 */
import { sha256Hex } from '../../base/canonical.js'
import { finishReasonOf } from '../../base/finish-reason.js'
import {
  completionDenial, isEventStream, isIdentityEncoded, isRecord, member, parseReply, type JsonRecord,
} from '../../net/reply.js'
import { retryAfterOf } from '../../net/retry-after.js'
import type { HttpsReply } from '../../net/types.js'
import { gatewayLimits } from '../constants.js'
import { readUsageCost, type CostReason, type UsageCost } from '../cost.js'
import type { AcceptedReply } from './order.js'
import type { Refusal } from './pause.js'

/** Why a reply's text is not used, in the order of the checks. */
const replyReasons = [
  'content_encoding', 'oversize', 'event_stream', 'malformed_json',
  'error_member', 'stream_piece', 'model_missing', 'provider_missing', 'choice_count',
  'choice_malformed', 'tools', 'role', 'refusal', 'content_type', 'empty_content',
  'content_too_large', 'not_as_asked',
] as const
/** The same, or the status that a reply had in the place of 200. */
type ReplyReason = (typeof replyReasons)[number] | `http_status_${number}`

/** A charge with the digest of the bytes that carried it. */
export interface ReplyCost extends UsageCost { readonly responseSha256: string }

/** The verdict on one reply. */
export interface ReplyVerdict {
  readonly cost: ReplyCost | null
  /** Why there is no charge; null where there is one. */
  readonly costReason: CostReason | ReplyReason | null
  readonly reply: AcceptedReply | null
  /** Why there is no text; null where there is one. */
  readonly reason: ReplyReason | null
  /**
   * Another status than 200, or an error of unknown charge in its place; null for any other reply,
   * whatever else is wrong with it.
   */
  readonly refusal: Refusal | null
}

const unreadable = (reason: ReplyReason, refusal: Refusal | null): ReplyVerdict =>
  ({ cost: null, costReason: reason, reply: null, reason, refusal })

const outerReason = (reply: HttpsReply): ReplyReason | null => {
  if (reply.status !== 200) return `http_status_${reply.status}`
  if (!isIdentityEncoded(reply.headers)) return 'content_encoding'
  if (reply.body.length > gatewayLimits.replyBytesMax) return 'oversize'
  return isEventStream(reply.headers) ? 'event_stream' : null
}

/** A name that may be recorded and shown: bounded, visible, one line. */
const nameOf = (value: unknown): string | null =>
  typeof value === 'string' && value.length <= gatewayLimits.nameCharsMax
  && /^[^\p{Cc}\p{Cf}\p{Cs}]+$/u.test(value) ? value : null

const isSilent = (value: unknown): boolean =>
  value === undefined || value === null || (Array.isArray(value) && value.length === 0)

const contentOf = (message: JsonRecord): ReplyReason | { readonly content: string } => {
  if (!isSilent(member(message, 'tool_calls'))) return 'tools'
  const call = member(message, 'function_call')
  if (call !== undefined && call !== null) return 'tools'
  if (member(message, 'role') !== 'assistant') return 'role'
  const refusal = member(message, 'refusal')
  if (refusal !== undefined && refusal !== null && refusal !== '') return 'refusal'
  const content = member(message, 'content')
  if (typeof content !== 'string') return 'content_type'
  if (content === '') return 'empty_content'
  const bytes = Buffer.byteLength(content, 'utf8')
  return bytes > gatewayLimits.contentBytesMax ? 'content_too_large' : { content }
}

const acceptedOf = (root: JsonRecord): ReplyReason | AcceptedReply => {
  const denied = completionDenial(root)
  if (denied !== null) return denied
  const model = nameOf(member(root, 'model'))
  const provider = nameOf(member(root, 'provider'))
  if (model === null) return 'model_missing'
  if (provider === null) return 'provider_missing'
  const choices = member(root, 'choices')
  if (!Array.isArray(choices) || choices.length !== 1) return 'choice_count'
  const choice: unknown = choices[0]
  const message = isRecord(choice) ? member(choice, 'message') : undefined
  if (!isRecord(choice) || !isRecord(message)) return 'choice_malformed'
  const deniedChoice = completionDenial(root, choice)
  if (deniedChoice !== null) return deniedChoice
  const finish = member(choice, 'finish_reason')
  if (finish === 'tool_calls' || finish === 'function_call') return 'tools'
  const read = contentOf(message)
  return typeof read === 'string'
    ? read
    : { ...read, model, provider, finish: finishReasonOf(finish) }
}

/** Judges one reply. Total: it never throws on any reply. Raw bytes are counted before parsing. */
export const judgeGatewayReply = (reply: HttpsReply): ReplyVerdict => {
  const told: Refusal = { status: reply.status, retryAfter: retryAfterOf(reply) }
  const refusal = reply.status === 200 ? null : told
  const outer = outerReason(reply)
  if (outer !== null) return unreadable(outer, refusal)
  const root = parseReply(reply.body, {
    bytesMax: gatewayLimits.replyBytesMax, depthMax: gatewayLimits.replyDepthMax,
  })
  if (root === null) return unreadable('malformed_json', null)
  const usage = member(root, 'usage')
  const cost = readUsageCost(isRecord(usage) ? member(usage, 'cost') : undefined)
  const accepted = acceptedOf(root)
  const costs = typeof cost === 'string'
    ? { cost: null, costReason: cost, refusal: accepted === 'error_member' ? told : refusal }
    : { cost: { ...cost, responseSha256: sha256Hex(reply.body) }, costReason: null, refusal }
  return typeof accepted === 'string'
    ? { ...costs, reply: null, reason: accepted }
    : { ...costs, reply: accepted, reason: null }
}
