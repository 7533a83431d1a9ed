/**
 * The private input artifact: one question and how long the answer may be. The question is taken
 * as the bytes that came: nothing is trimmed, normalized or cut.
 */
import * as v from 'valibot'
import { canonicalJson } from '../base/canonical.js'
import { fail } from '../base/errors.js'
import { closedObject, parseClosed, strictInteger } from '../base/schema.js'
import { parseStrictJson } from '../base/strict-json.js'
import { alphaLimits as limits, alphaSchemas } from './constants.js'
import { utf8Bytes } from './identity.js'

/** The fields of an input document, closed. */
export const alphaInputShape = closedObject({
  schema: v.literal(alphaSchemas.input, `must be ${alphaSchemas.input}`),
  question: v.string('must be text'),
  max_output_tokens: strictInteger(limits.outputTokensMin, limits.outputTokensMax),
})

/** `svc.alpha.text.input.v1`: closed, without any field of authority. */
export type AlphaTextInput = Readonly<v.InferOutput<typeof alphaInputShape>>

const about = { code: 'input_invalid', what: 'the input' }

/**
 * Reads an input document from bytes (`--from`, or the stored artifact).
 * Throws `rejected` with the parser's code, `input_invalid`, or a `question_…` code.
 */
export const parseAlphaInput = (bytes: Uint8Array): AlphaTextInput => {
  const value = parseStrictJson(bytes, {
    bytesMax: limits.inputBytesMax, depthMax: limits.inputDepthMax,
  })
  const input = parseClosed(alphaInputShape, value, about)
  return Object.freeze({ ...input, question: requireQuestion(input.question) })
}

/** Makes an input from a question and a length; same errors as `parseAlphaInput`. */
export const makeAlphaInput = (question: string, maxOutputTokens: number): AlphaTextInput => {
  const input = parseClosed(
    alphaInputShape,
    { schema: alphaSchemas.input, question, max_output_tokens: maxOutputTokens },
    about,
  )
  return Object.freeze({ ...input, question: requireQuestion(input.question) })
}

/**
 * A question out of the raw bytes of stdin or a file, exactly as they are, a byte order mark
 * included. Throws `rejected`: `question_empty`, `question_too_long`, `question_not_utf8`.
 */
export const questionFromBytes = (bytes: Uint8Array): string => {
  requireQuestionBytes(bytes.length)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw fail.rejected('question_not_utf8', 'The question is not valid UTF-8.', {
      next: 'Convert it to UTF-8 and ask again.',
    })
  }
}

/** Passes a question of 1 to 8192 UTF-8 bytes of valid Unicode; else throws as above. */
export const requireQuestion = (question: string): string => {
  if (/\p{Surrogate}/u.test(question)) {
    throw fail.rejected('question_not_utf8', 'The question is not valid Unicode.')
  }
  requireQuestionBytes(utf8Bytes(question))
  return question
}

const requireQuestionBytes = (bytes: number): void => {
  if (bytes < limits.questionBytesMin) {
    throw fail.rejected('question_empty', 'The question is empty.', {
      next: 'Give it on standard input, with --file or with --from.',
      details: { limit: limits.questionBytesMin },
    })
  }
  if (bytes > limits.questionBytesMax) {
    throw fail.rejected(
      'question_too_long',
      `The question is ${bytes} bytes; the limit is ${limits.questionBytesMax} bytes of UTF-8.`,
      { details: { bytes, limit: limits.questionBytesMax } },
    )
  }
}

/**
 * Holds an input to the configured cap, at admission and again at contact. An
 * excess is refused, never lowered. Returns the input; throws `rejected`
 * `max_output_tokens_above_cap`.
 */
export const requireWithinCap = (input: AlphaTextInput, capTokens: number): AlphaTextInput => {
  if (input.max_output_tokens <= capTokens) return input
  throw fail.rejected(
    'max_output_tokens_above_cap',
    `max_output_tokens is ${input.max_output_tokens}; the configured maximum is ${capTokens}.`,
    {
      next: 'Ask for fewer tokens, or raise the maximum: '
        + '`sallyport alpha setup --max-output-tokens N`.',
      details: { max_output_tokens: input.max_output_tokens, limit: capTokens },
    },
  )
}

/** The artifact's canonical bytes; their SHA-256 is the receipt's input digest. */
export const encodeInput = (input: AlphaTextInput): Buffer =>
  Buffer.from(canonicalJson(input), 'utf8')
