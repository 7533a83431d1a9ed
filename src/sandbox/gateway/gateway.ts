import { randomUUID } from 'node:crypto'
import { bearerOf, checkHeaders } from '../headers-check.js'
import { requestObject } from '../json.js'
import { Lexeme } from '../lexeme.js'
import { plausibleAnswer, tokensOf } from '../provider/text.js'
import { jsonDraft, type Draft, type JsonObject, type ServiceModule } from '../types.js'
import { readGatewayAsk, type GatewayAsk } from './rules.js'
import { screenshotAnswer, screenshotSchemaName } from './screenshot.js'
import { schemaShaped } from './shaped.js'

/** What the gateway needs to know of its sandbox. */
interface GatewayOptions {
  /** Only this key is accepted; null accepts any. */
  readonly key: string | null
  port(): number
  wallMs(): number
}

/** Prices in micro-USD. */
const microUsdPerRequest = 25
const microUsdPerImage = 400
const microUsdPerToken = 2

/** Room for a 20 MB image in base64 and its prompt. */
const requestBytesMax = 32 * 1024 * 1024

/** `some-upstream` is shown as `Some Upstream`: public gateways reply with display names. */
const displayName = (slug: string): string =>
  slug
    .split(/[-_/]/)
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(' ')

const answerTo = (ask: GatewayAsk): { text: string; cut: boolean } => {
  if (ask.schema === null) return plausibleAnswer(ask.text, ask.tokensMax)
  const value = ask.schemaName === screenshotSchemaName
    ? screenshotAnswer(ask.image ?? Buffer.alloc(0)) : schemaShaped(ask.schema)
  return { text: JSON.stringify(value), cut: false }
}

const errorDraft = (status: number, message: string): Draft =>
  jsonDraft(status, { error: { message, code: status } })

interface Priced {
  readonly json: JsonObject
  readonly microUsd: number
}

const reply = (ask: GatewayAsk, wallMs: number): Priced => {
  const { text, cut } = answerTo(ask)
  const [prompt, answer] = [tokensOf(ask.text), tokensOf(text)]
  const images = ask.images * microUsdPerImage
  const microUsd = microUsdPerRequest + images + (prompt + answer) * microUsdPerToken
  const stop = cut ? 'length' : 'stop'
  const json = {
    id: `gen-${randomUUID()}`,
    provider: displayName(ask.upstream),
    model: `${ask.model}-2026-01-15`,
    object: 'chat.completion',
    created: Math.floor(wallMs / 1000),
    choices: [
      {
        index: 0,
        finish_reason: stop,
        native_finish_reason: stop,
        logprobs: null,
        message: { role: 'assistant', content: text, refusal: null },
      },
    ],
    usage: {
      prompt_tokens: prompt,
      completion_tokens: answer,
      total_tokens: prompt + answer,
      ...(ask.costWanted ? { cost: new Lexeme((microUsd / 1_000_000).toFixed(6)) } : {}),
    },
  }
  return { json, microUsd }
}

/** What a key has spent, as one number of dollars over its whole life. */
const keyDraft = (microUsd: number): Draft => jsonDraft(200, {
  data: {
    label: 'sk-sandbox', usage: new Lexeme((microUsd / 1_000_000).toFixed(6)), byok_usage: 0,
    limit: null, limit_remaining: null, is_free_tier: false,
  },
})

/** A gateway that answers text and vision requests and insists on every routing control. */
export const newGateway = (options: GatewayOptions): ServiceModule => {
  let spentMicroUsd = 0
  const complete = (ask: GatewayAsk): Draft => {
    const { json, microUsd } = reply(ask, options.wallMs())
    spentMicroUsd += microUsd
    return jsonDraft(200, json)
  }
  return {
    name: 'gateway',
    routeOf: (method, path) => {
      if (method === 'GET' && path === '/api/v1/key') return 'key'
      return method === 'POST' && path === '/api/v1/chat/completions' ? 'completion' : 'unknown'
    },
    answer: (request) => {
      const reads = request.route === 'key'
      if (!reads) checkHeaders(request, { bodyBytesMax: requestBytesMax, port: options.port() })
      else if (request.body.length > 0) request.violations.push('a GET has a body')
      const key = bearerOf(request)
      if (key === null || (options.key !== null && key !== options.key)) {
        return errorDraft(401, 'The key is not accepted.')
      }
      if (reads) return keyDraft(spentMicroUsd)
      const json = requestObject(request)
      if (json === null) return errorDraft(400, 'The body is not a JSON object.')
      const ask = readGatewayAsk(json, (text) => void request.violations.push(text))
      return request.violations.length > 0
        ? errorDraft(400, 'The request is not one that this gateway takes.')
        : complete(ask)
    },
  }
}
