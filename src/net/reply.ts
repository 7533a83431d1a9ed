/** What every reader of replies asks of one, before it looks at anything of its own. */
import { SallyportError } from '../base/errors.js'
import { NumberLexeme, parseStrictJson, type StrictJsonLimits } from '../base/strict-json.js'

/** Headers as the one client gives them: names lowercase, every value of a repeated one. */
type Headers = ReadonlyMap<string, readonly string[]>

/** An object out of a strictly parsed reply. */
export type JsonRecord = Readonly<Record<string, unknown>>

/** Whether a parsed value is an object: not an array, not null, not a number kept as its lexeme. */
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
  && !(value instanceof NumberLexeme)

/** A named member of a parsed object, or undefined; inherited names do not count. */
export const member = (record: JsonRecord, name: string): unknown =>
  Object.hasOwn(record, name) ? record[name] : undefined

/** Whether a reply says of itself that it is an error; null is as if it were left out. */
export const saysError = (record: JsonRecord): boolean => isSaid(record, 'error')

/** Whether a member is there and not null. */
const isSaid = (record: JsonRecord, name: string): boolean =>
  (member(record, name) ?? null) !== null

/**
 * Why a completion is no answer, whatever else it holds: it or its choice carries an error, or it
 * is one piece of a stream, which nobody asked for. Null where nothing speaks against it.
 */
export const completionDenial = (
  root: JsonRecord, choice: JsonRecord = {},
): 'error_member' | 'stream_piece' | null => {
  if (saysError(root) || saysError(choice)) return 'error_member'
  const isPiece = member(root, 'object') === 'chat.completion.chunk' || isSaid(choice, 'delta')
  return isPiece ? 'stream_piece' : null
}

/**
 * Whether the body may be read as it came: every coding named in `content-encoding` is identity,
 * and the only transfer coding is chunked. Anything else is refused, never decoded.
 */
export const isIdentityEncoded = (headers: Headers): boolean =>
  codings(headers, 'content-encoding').every((coding) => coding === 'identity') &&
  codings(headers, 'transfer-encoding').every((c) => c === 'chunked' || c === 'identity')

const codings = (headers: Headers, name: string): string[] =>
  (headers.get(name) ?? []).flatMap((value) => value.split(','))
    .map((coding) => coding.trim().toLowerCase())

/**
 * Whether the reply told where its body ends. One that ends with its connection may have been cut
 * short by whatever closed that, and nobody can tell.
 */
export const isDelimited = (headers: Headers): boolean =>
  headers.has('content-length') || codings(headers, 'transfer-encoding').includes('chunked')

/** Whether any content type of the reply says event stream. */
export const isEventStream = (headers: Headers): boolean =>
  (headers.get('content-type') ?? []).some((value) => /text\/event-stream/i.test(value))

/** Whether a status is a redirect of any kind; none is ever followed. */
export const isRedirect = (status: number): boolean => status >= 300 && status < 400

/** A parsed top-level object, or null when the bytes are not one under the strict rules. */
export const parseReply = (body: Uint8Array, limits: StrictJsonLimits): JsonRecord | null => {
  try {
    const value = parseStrictJson(body, limits)
    return isRecord(value) ? value : null
  } catch (error) {
    // The parser's own refusals only; their texts never hold the body. A defect goes on up.
    if (error instanceof SallyportError) return null
    throw error
  }
}
