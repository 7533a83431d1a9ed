import { isInteger, isObject, strangers } from '../json.js'
import type { JsonObject } from '../types.js'

/** What a gateway request asks for, once it has passed the rules. */
export interface GatewayAsk {
  readonly model: string
  /** First slug of the upstream allow-list. */
  readonly upstream: string
  /** All text of the messages, for the answer and for counting. */
  readonly text: string
  readonly images: number
  /** Bytes of the first image; null without one. */
  readonly image: Buffer | null
  readonly tokensMax: number
  /** The schema that the answer must fit, or null for free text. */
  readonly schema: JsonObject | null
  /** The name that came with it. */
  readonly schemaName: string | null
  readonly costWanted: boolean
}

type Bad = (text: string) => void

const known = [
  'max_tokens',
  'messages',
  'model',
  'n',
  'provider',
  'response_format',
  'stream',
  'temperature',
  'usage',
]

/** Text models take lists this long at most; a bound so that no request is worked on for ever. */
const messagesMax = 16
const partsMax = 32

const routing: Readonly<Record<string, unknown>> = {
  allow_fallbacks: false,
  data_collection: 'deny',
  zdr: true,
  require_parameters: true,
}

/** Every routing control must be sent: the gateway's own defaults let more happen. */
const upstreamOf = (json: JsonObject, bad: Bad): string => {
  const { provider } = json
  if (!isObject(provider)) {
    bad('no provider object with routing controls')
    return 'nobody'
  }
  for (const [name, value] of Object.entries(routing)) {
    if (provider[name] !== value) bad(`routing control ${name} is not ${JSON.stringify(value)}`)
  }
  for (const name of strangers(provider, ['only', ...Object.keys(routing)])) {
    bad(`routing control ${name} is sent`)
  }
  const only = Array.isArray(provider.only) ? (provider.only as unknown[]) : []
  const slugs = only.filter((one): one is string => typeof one === 'string' && one !== '')
  if (slugs.length === 0 || slugs.length !== only.length) bad('routing control only is not a list')
  return slugs[0] ?? 'nobody'
}

const imageUrl = /^data:image\/(png|jpeg);base64,([A-Za-z0-9+/]+={0,2})$/

const magic: Readonly<Record<string, Buffer>> = {
  png: Buffer.from('89504e470d0a1a0a', 'hex'),
  jpeg: Buffer.from('ffd8ff', 'hex'),
}

const readImage = (part: JsonObject, bad: Bad): Buffer | null => {
  const url: unknown = isObject(part.image_url) ? part.image_url.url : undefined
  const match = typeof url === 'string' ? imageUrl.exec(url) : null
  if (match === null) {
    bad('an image is not a PNG or JPEG data URL')
    return null
  }
  const [, format = '', data = ''] = match
  const bytes = Buffer.from(data, 'base64')
  if (bytes.toString('base64') !== data) bad('an image is not canonical base64')
  const wanted = magic[format] ?? Buffer.alloc(0)
  if (!bytes.subarray(0, wanted.length).equals(wanted)) bad('an image is not what its URL says')
  return bytes
}

/** What the parts of messages hold. */
interface Parts {
  readonly text: string
  readonly images: number
  readonly image: Buffer | null
}

const readParts = (parts: unknown[], bad: Bad): Parts => {
  let images = 0
  let image: Buffer | null = null
  const texts: string[] = []
  if (parts.length === 0 || parts.length > partsMax) bad('a message has no parts or too many')
  for (const part of parts.slice(0, partsMax)) {
    if (isObject(part) && part.type === 'text' && typeof part.text === 'string') {
      texts.push(part.text)
    } else if (isObject(part) && part.type === 'image_url') {
      images += 1
      image ??= readImage(part, bad)
    } else bad('a message part is neither text nor image')
  }
  return { text: texts.join('\n'), images, image }
}

const readMessages = (json: JsonObject, bad: Bad): Parts => {
  const messages = Array.isArray(json.messages) ? (json.messages as unknown[]) : []
  if (messages.length === 0 || messages.length > messagesMax) bad('no messages or too many')
  let images = 0
  let image: Buffer | null = null
  const texts: string[] = []
  for (const message of messages.slice(0, messagesMax)) {
    if (!isObject(message) || strangers(message, ['role', 'content']).length > 0) {
      bad('a message has no content or other members')
      continue
    }
    if (message.role !== 'user' && message.role !== 'system') bad('a message has another role')
    if (typeof message.content === 'string') texts.push(message.content)
    else if (Array.isArray(message.content)) {
      const read = readParts(message.content as unknown[], bad)
      images += read.images
      image ??= read.image
      texts.push(read.text)
    } else bad('a message has no content')
  }
  return { text: texts.join('\n'), images, image }
}

type Asked = Pick<GatewayAsk, 'schema' | 'schemaName'>

const schemaOf = (json: JsonObject, bad: Bad): Asked => {
  const none = { schema: null, schemaName: null }
  const { response_format: format } = json
  if (format === undefined) return none
  const inner = isObject(format) && format.type === 'json_schema' ? format.json_schema : undefined
  if (!isObject(inner) || typeof inner.name !== 'string' || inner.strict !== true) {
    bad('response_format is not a strict JSON schema')
    return none
  }
  if (isObject(inner.schema)) return { schema: inner.schema, schemaName: inner.name }
  bad('response_format holds no schema')
  return none
}

const tokensMaxMax = 65_536

/** Reads a gateway request and notes everything it may not say. */
export const readGatewayAsk = (json: JsonObject, bad: Bad): GatewayAsk => {
  for (const name of strangers(json, known)) bad(`member ${name} is sent`)
  const model = typeof json.model === 'string' ? json.model : ''
  if (!/^[^/\s]+\/[^\s]+$/.test(model)) bad('model is not <provider>/<model>')
  if (model.startsWith('gateway/')) bad('model still carries the gateway/ prefix')
  if (json.stream !== undefined && json.stream !== false) bad('stream is not false')
  if (json.n !== undefined && json.n !== 1) bad('n is not 1')
  if (!isInteger(json.max_tokens, 1, tokensMaxMax)) bad('max_tokens is not a positive integer')
  const usage = json.usage
  if (usage !== undefined && !isObject(usage)) bad('usage is not an object')
  return {
    model,
    upstream: upstreamOf(json, bad),
    ...readMessages(json, bad),
    tokensMax: isInteger(json.max_tokens, 1, tokensMaxMax) ? json.max_tokens : 1,
    ...schemaOf(json, bad),
    costWanted: isObject(usage) && usage.include === true,
  }
}
