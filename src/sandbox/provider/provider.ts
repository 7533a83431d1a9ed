import { randomUUID, timingSafeEqual } from 'node:crypto'
import { v5 } from 'uuid'
import { bearerOf, checkHeaders } from '../headers-check.js'
import { isInteger, isObject, requestObject, strangers } from '../json.js'
import {
  jsonDraft, type Draft, type JsonObject, type SeenRequest, type ServiceModule,
} from '../types.js'
import { plausibleAnswer, tokensOf } from './text.js'

/** What the provider needs to know of its sandbox. */
interface ProviderOptions {
  readonly modelId: string
  /** Only this key is accepted; null accepts any. */
  readonly key: string | null
  /** Known once the server listens. */
  port(): number
  /** Milliseconds since 1970 UTC, for the reply's `created`. */
  wallMs(): number
}

/** The provider and its books. */
export interface Provider extends ServiceModule {
  /** Books a charge for a body id, as a completion does. */
  recordCharge(bodyId: string, costNanoUsd: number): void
  /** The billing UUID of a body id. */
  billingId(bodyId: string): string
}

/** Prices in nano-USD: not multiples of 1000, so that rounding up to micro-USD shows. */
const nanoUsdPerPromptToken = 151
const nanoUsdPerAnswerToken = 607

const requestBytesMax = 64 * 1024
const answerTokensMax = 1024
const questionBytesMax = 8192

const errorDraft = (status: number, message: string): Draft =>
  jsonDraft(status, { error: { message, type: 'sandbox_error', code: status } })

const sameKey = (given: string, wanted: string): boolean => {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)]
  return a.length === b.length && timingSafeEqual(a, b)
}

/** The completion request's one question, or null with violations noted. */
const questionOf = (request: SeenRequest, json: JsonObject, modelId: string): string | null => {
  const bad = (text: string): void => void request.violations.push(text)
  for (const name of strangers(json, ['model', 'messages', 'n', 'max_tokens', 'stream'])) {
    bad(`member ${name} is sent`)
  }
  if (json.model !== modelId) bad('model is not the fixed one')
  if (json.n !== 1) bad('n is not 1')
  if (!isInteger(json.max_tokens, 1, answerTokensMax)) bad('max_tokens is not 1..1024')
  if (json.stream !== undefined && json.stream !== false) bad('stream is not false')
  const [message, ...others] = Array.isArray(json.messages) ? (json.messages as unknown[]) : []
  if (others.length > 0) bad('more than one message')
  if (!isObject(message)) {
    bad('no message')
    return null
  }
  if (strangers(message, ['role', 'content']).length > 0) bad('the message has other members')
  if (message.role !== 'user') bad('the message is not the user’s')
  const { content } = message
  if (typeof content !== 'string' || content === '') {
    bad('content is not a text')
    return null
  }
  if (Buffer.byteLength(content) > questionBytesMax) bad('the question is over 8192 bytes')
  return content
}

const uuidV5 = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

/** The billing request's one id, or null with violations noted. */
const billedIdOf = (request: SeenRequest, json: JsonObject): string | null => {
  const bad = (text: string): void => void request.violations.push(text)
  if (strangers(json, ['requestIds']).length > 0) bad('billing has other members')
  const ids: unknown = json.requestIds
  const [id, ...others] = Array.isArray(ids) ? (ids as unknown[]) : []
  if (others.length > 0) bad('more than one id is asked for')
  if (typeof id !== 'string' || !uuidV5.test(id)) {
    bad('the id is not a version 5 UUID in lowercase')
    return null
  }
  return id
}

const completion = (question: string, json: JsonObject, options: ProviderOptions): JsonObject => {
  const tokensMax = isInteger(json.max_tokens, 1, answerTokensMax) ? json.max_tokens : 1
  const { text, cut } = plausibleAnswer(question, tokensMax)
  const [prompt, answer] = [tokensOf(question), tokensOf(text)]
  return {
    id: `chatcmpl-${randomUUID()}`,
    object: 'chat.completion',
    created: Math.floor(options.wallMs() / 1000),
    model: options.modelId,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: text },
        finish_reason: cut ? 'length' : 'stop',
      },
    ],
    usage: { prompt_tokens: prompt, completion_tokens: answer, total_tokens: prompt + answer },
  }
}

const priceOf = (json: JsonObject): number => {
  const usage = json.usage as { prompt_tokens: number; completion_tokens: number }
  const answer = usage.completion_tokens * nanoUsdPerAnswerToken
  return usage.prompt_tokens * nanoUsdPerPromptToken + answer
}

/** The id of a reply body that may have been changed by faults, or null. */
const idIn = (body: Buffer): string | null => {
  try {
    const value: unknown = JSON.parse(body.toString('utf8'))
    return isObject(value) && typeof value.id === 'string' ? value.id : null
  } catch {
    return null
  }
}

/** Whether a text has UTF-8 bytes: half a surrogate pair has none, and so no billing id. */
const wellFormed = (text: string): boolean => !/\p{Surrogate}/u.test(text)

const billingIdOf = (bodyId: string): string => v5(bodyId, v5.DNS)

/** A text provider with completions and billing readback. */
export const newProvider = (options: ProviderOptions): Provider => {
  const charges = new Map<string, number>()
  const attempts = new Map<string, number>()
  const recordCharge = (bodyId: string, costNanoUsd: number): void => {
    if (wellFormed(bodyId)) charges.set(billingIdOf(bodyId), costNanoUsd)
  }
  const complete = (request: SeenRequest, json: JsonObject): Draft => {
    const question = questionOf(request, json, options.modelId)
    if (question === null || request.violations.length > 0) {
      return errorDraft(400, 'The request is not one that this provider takes.')
    }
    const reply = completion(question, json, options)
    const id = String(reply.id)
    recordCharge(id, priceOf(reply))
    return jsonDraft(200, reply, [['Inference-Id', billingIdOf(id)]])
  }
  const bill = (request: SeenRequest, json: JsonObject): Draft => {
    const id = billedIdOf(request, json)
    if (id === null || request.violations.length > 0) {
      return errorDraft(400, 'The billing request is not one that this provider takes.')
    }
    request.attempt = (attempts.get(id) ?? 0) + 1
    attempts.set(id, request.attempt)
    return jsonDraft(200, { requests: [{ requestId: id, costNanoUsd: charges.get(id) ?? 0 }] })
  }
  return {
    name: 'provider',
    recordCharge,
    billingId: billingIdOf,
    routeOf: (method, path) => {
      if (method !== 'POST') return 'unknown'
      if (path === '/v1/chat/completions') return 'completion'
      return path === '/v1/billing/costs' ? 'billing' : 'unknown'
    },
    answer: (request) => {
      checkHeaders(request, { bodyBytesMax: requestBytesMax, port: options.port() })
      const key = bearerOf(request)
      if (key === null || (options.key !== null && !sameKey(key, options.key))) {
        return errorDraft(401, 'The key is not accepted.')
      }
      const json = requestObject(request)
      if (json === null) return errorDraft(400, 'The body is not a JSON object.')
      return request.route === 'billing' ? bill(request, json) : complete(request, json)
    },
    // A fault may have changed the id; the charge stands under the id that the client sees.
    delivered: (request, body) => {
      if (request.route !== 'completion') return
      const id = idIn(body)
      if (id === null || id === '' || !wellFormed(id) || charges.has(billingIdOf(id))) return
      recordCharge(id, nanoUsdPerAnswerToken)
    },
  }
}
