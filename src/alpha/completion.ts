import {
  completionDenial, isEventStream, isIdentityEncoded, isRecord, isRedirect, member, parseReply,
  type JsonRecord,
} from '../net/reply.js'
import type { HttpsReply } from '../net/types.js'
import { finishReasonOf, type FinishReason } from '../base/finish-reason.js'
import { alphaLimits } from './constants.js'
import { billingUuidOf, inferenceHeaderAgrees, parseBodyId, utf8Bytes } from './identity.js'

/** Why a completion reply is rejected, in the order of the checks; texts for people. */
export const completionReasons = {
  redirect: 'the provider answered with a redirect, which is never followed',
  http_status: 'the provider answered with a status other than 200',
  content_encoding: 'the reply is compressed or otherwise encoded, and is not decoded',
  oversize: 'the reply is larger than 256 KiB',
  malformed_json: 'the reply is not one strict JSON object',
  body_id: 'the reply id is missing, empty, not text or longer than 256 bytes',
  inference_id: 'the inference-id header is malformed or names another reply',
  event_stream: 'the reply is an event stream, which was not asked for',
  error_member: 'the reply or its choice carries an error',
  stream_piece: 'the reply is a piece of a stream, which was not asked for',
  model_mismatch: 'the reply names another model, or none',
  choice_count: 'the reply does not hold exactly one choice',
  choice_malformed: 'the choice holds no message',
  tools: 'the reply calls tools or functions',
  role: 'the message is not an assistant message',
  refusal: 'the message carries a refusal beside or instead of an answer',
  non_text: 'the message carries output other than text',
  content_type: 'the message content is not text',
  empty_answer: 'the answer is empty',
  answer_too_large: 'the answer is larger than 64 KiB',
} as const

/** Name of a rejection; never holds text of the reply. */
export type CompletionReason = keyof typeof completionReasons

/**
 * What a completion reply is worth. `billingUuid` is set whenever the reply names its charge
 * trustworthily, so that a rejected reply is still settled and its answer dropped.
 */
export type CompletionVerdict =
  | {
    readonly ok: true
    /** Exact answer text, 1 to 65 536 UTF-8 bytes. */
    readonly answer: string
    readonly bodyId: string
    readonly billingUuid: string
    /** Why the provider says that it stopped. */
    readonly finish: FinishReason | null
  }
  | { readonly ok: false; readonly reason: CompletionReason; readonly billingUuid: string | null }

/**
 * Judges the reply to the one inference (A-018, A-022, A-024, A-144, A-147 to to
 * Total: it never throws on any reply. Raw bytes are counted before parsing
 * . Nothing of the reply is in the result but an accepted answer and its id.
 */
export const judgeCompletion = (
  reply: HttpsReply,
  expected: { readonly model: string },
): CompletionVerdict => {
  if (isRedirect(reply.status)) return nameless('redirect')
  if (reply.status !== 200) return nameless('http_status')
  if (!isIdentityEncoded(reply.headers)) return nameless('content_encoding')
  if (reply.body.length > alphaLimits.completionBytesMax) return nameless('oversize')
  const root = parseReply(reply.body, {
    bytesMax: alphaLimits.completionBytesMax, depthMax: alphaLimits.replyDepthMax,
  })
  const streams = isEventStream(reply.headers)
  if (root === null) return nameless(streams ? 'event_stream' : 'malformed_json')
  const bodyId = parseBodyId(member(root, 'id'))
  if (bodyId === null) return nameless('body_id')
  const billingUuid = billingUuidOf(bodyId)
  if (!inferenceHeaderAgrees(reply.headers.get('inference-id'), billingUuid)) {
    return nameless('inference_id')
  }
  const judged = streams ? 'event_stream' : judgeRoot(root, expected.model)
  if (typeof judged === 'string') return { ok: false, reason: judged, billingUuid }
  return { ok: true, ...judged, bodyId, billingUuid }
}

const nameless = (reason: CompletionReason): CompletionVerdict =>
  ({ ok: false, reason, billingUuid: null })

interface Accepted { readonly answer: string; readonly finish: FinishReason | null }

const judgeRoot = (root: JsonRecord, model: string): CompletionReason | Accepted => {
  const denied = completionDenial(root)
  if (denied !== null) return denied
  if (member(root, 'model') !== model) return 'model_mismatch'
  const choices = member(root, 'choices')
  if (!Array.isArray(choices) || choices.length !== 1) return 'choice_count'
  const choice: unknown = choices[0]
  const message = isRecord(choice) ? member(choice, 'message') : undefined
  if (!isRecord(choice) || !isRecord(message)) return 'choice_malformed'
  const deniedChoice = completionDenial(root, choice)
  if (deniedChoice !== null) return deniedChoice
  const finish = member(choice, 'finish_reason')
  if (finish === 'tool_calls' || finish === 'function_call') return 'tools'
  const judged = judgeMessage(message)
  return typeof judged === 'string' ? judged : { ...judged, finish: finishReasonOf(finish) }
}

/** A member that says nothing: left out, null, or an empty list or text where one is usual. */
const isSilent = (value: unknown): boolean =>
  value === undefined || value === null || value === '' ||
  (Array.isArray(value) && value.length === 0)

const judgeMessage = (message: JsonRecord): CompletionReason | { answer: string } => {
  const toolCalls = member(message, 'tool_calls')
  const functionCall = member(message, 'function_call')
  if (toolCalls === '' || !isSilent(toolCalls)) return 'tools'
  if (functionCall !== undefined && functionCall !== null) return 'tools'
  if (member(message, 'role') !== 'assistant') return 'role'
  if (!isSilent(member(message, 'refusal'))) return 'refusal'
  if (!isSilent(member(message, 'audio')) || !isSilent(member(message, 'images'))) return 'non_text'
  const content = member(message, 'content')
  if (typeof content !== 'string') return 'content_type'
  // The strict parser has refused text that is not valid Unicode, so bytes can be counted here.
  if (content === '') return 'empty_answer'
  if (utf8Bytes(content) > alphaLimits.answerBytesMax) return 'answer_too_large'
  return { answer: content }
}
