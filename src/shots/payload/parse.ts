/**
 * From a reply's text to a payload, or to the one reason why not (S-078, S-090 to S-093). Nothing
 * is repaired, cut or left out: a payload is what the model wrote, whole, or it is refused. The
 * reasons name rules; none of them holds a byte of the reply.
 */
import * as v from 'valibot'
import { SallyportError } from '../../base/errors.js'
import { parseStrictJson } from '../../base/strict-json.js'
import type { AcceptedReply } from '../../gateway/call/order.js'
import type { GatewayProof } from '../../gateway/proof.js'
import { judgeReply } from './reply.js'
import { holdsSecret } from './secrets.js'
import { holdsLongRaw, holdsMessage } from './screen.js'
import { payloadField, payloadLimits, type AnalysisPayload } from './schema.js'

/** Why a reply gives no payload. */
type PayloadRefusal =
  | 'payload_not_json' | 'payload_duplicate_field' | 'payload_too_large' | 'payload_unknown_field'
  | 'payload_field_missing' | 'payload_enum_invalid' | 'payload_confidence_invalid'
  | 'payload_text_too_long' | 'payload_field_invalid' | 'payload_contains_secret'
  | 'payload_contains_message' | 'payload_contains_raw_text' | 'payload_sensitive_snippets'

/** A payload, or why there is none. */
type PayloadVerdict =
  | { readonly ok: true; readonly payload: AnalysisPayload }
  | { readonly ok: false; readonly reason: PayloadRefusal }

const jsonReasons: Readonly<Record<string, PayloadRefusal>> = {
  json_too_large: 'payload_too_large', json_duplicate_key: 'payload_duplicate_field',
}

const enums = new Set(['schema', 'activity', 'kind', 'status', 'pushed_the_needle'])

const nameOf = (issue: v.BaseIssue<unknown>): string => {
  const keys = (issue.path ?? []).map(({ key }) => key).filter((key) => typeof key === 'string')
  return String(keys.at(-1) ?? '')
}

/** The class of the first thing that does not fit. */
const reasonOf = (issue: v.BaseIssue<unknown>): PayloadRefusal => {
  if (issue.type === 'strict_object') {
    return issue.expected === 'never' ? 'payload_unknown_field' : 'payload_field_missing'
  }
  const name = nameOf(issue)
  if (name === 'confidence') return 'payload_confidence_invalid'
  if (enums.has(name)) return 'payload_enum_invalid'
  const long = issue.type === 'max_length' || issue.message.startsWith('has at most')
  return long ? 'payload_text_too_long' : 'payload_field_invalid'
}

/** Every text of a value. */
const textsOf = (value: unknown): string[] => {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(textsOf)
}

/** What may not be kept although it fits the schema (S-083, S-087, S-088). */
const privateReason = (payload: AnalysisPayload): PayloadRefusal | null => {
  const texts = textsOf(payload)
  // Together too: a key that was cut over two fields is still a key.
  if ([...texts, payload.snippets.join('')].some(holdsSecret)) return 'payload_contains_secret'
  if (payload.sensitive && payload.snippets.length > 0) return 'payload_sensitive_snippets'
  if (texts.some(holdsMessage)) return 'payload_contains_message'
  return holdsLongRaw(payload.snippets) ? 'payload_contains_raw_text' : null
}

/** Reads the text of a reply. Total: it never throws on any text. */
export const parsePayload = (content: string): PayloadVerdict => {
  let value: unknown
  try {
    value = parseStrictJson(Buffer.from(content, 'utf8'), {
      bytesMax: payloadLimits.contentBytes, depthMax: 6,
    })
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return { ok: false, reason: jsonReasons[error.code] ?? 'payload_not_json' }
  }
  const parsed = v.safeParse(payloadField.shape, value, { abortEarly: true })
  if (!parsed.success) return { ok: false, reason: reasonOf(parsed.issues[0]) }
  const reason = privateReason(parsed.output)
  return reason === null ? { ok: true, payload: parsed.output } : { ok: false, reason }
}

/** Judges a whole reply: the names that the proof recorded, an end of its own, a payload. */
export const judgeAnalysis = (
  reply: AcceptedReply, proof: GatewayProof,
): PayloadVerdict | { readonly ok: false; readonly reason: string } => {
  const reason = judgeReply(reply, proof)
  return reason === null ? parsePayload(reply.content) : { ok: false, reason }
}
