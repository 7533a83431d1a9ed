/**
 * The one way in for JSON that was written outside this process.
 *
 * `JSON.parse` lets equal keys overwrite one another, takes `1.0` for the integer 1, rounds what a
 * double cannot hold, and quotes its input in its error texts. Here every one of these is refused
 * or kept apart, and no error text holds a byte of the input: a body, a key or a question that
 * fails to parse must not end in a log.
 */
import { visit } from 'jsonc-parser'
import { fail, type SallyportError } from './errors.js'
import { NumberLexeme } from './number-lexeme.js'
import { plainJson } from './plain-json.js'

/** How much a document may cost to read. */
export interface StrictJsonLimits {
  /** Most bytes of the encoded document. */
  readonly bytesMax: number
  /** Most containers inside one another; `[]` and `{}` have depth 1, a scalar 0. At most 512. */
  readonly depthMax: number
}

export { NumberLexeme } from './number-lexeme.js'

/** Codes of the errors of `parseStrictJson`. */
export type StrictJsonCode =
  | 'json_too_large'
  | 'json_not_utf8'
  | 'json_has_bom'
  | 'json_too_deep'
  | 'json_duplicate_key'
  | 'json_lone_surrogate'
  | 'not_json'

/** The parser calls itself per level; above this the stack, not the caller, would set the limit. */
const depthCeiling = 512
const plainInteger = /^(?:0|-?[1-9][0-9]*)$/
const loneSurrogate = /\p{Surrogate}/u

type Container = Record<string, unknown> | unknown[]

/** Where a fault was seen: counted positions, which tell nothing about the content. */
interface Place {
  readonly line: number
  readonly column: number
}

const fault = (code: StrictJsonCode, problem: string, place?: Place): SallyportError =>
  fail.rejected(
    code,
    place === undefined
      ? `The document ${problem}.`
      : `The document ${problem} (line ${place.line}, column ${place.column}).`,
    place === undefined ? {} : { details: { line: place.line, column: place.column } },
  )

/** Bytes to text: bounded, UTF-8 without exception, no byte order mark. */
const decode = (bytes: Uint8Array, bytesMax: number): string => {
  if (bytes.byteLength > bytesMax) {
    throw fault('json_too_large', `is larger than the limit of ${bytesMax} bytes`)
  }
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw fault('json_not_utf8', 'is not UTF-8')
  }
  if (text.startsWith('\uFEFF')) {
    throw fault('json_has_bom', 'begins with a byte order mark')
  }
  return text
}

/** Assembles the value from the parser's events and refuses what the grammar alone lets pass. */
class Builder {
  root: unknown = undefined
  readonly #text: string
  readonly #depthMax: number
  readonly #stack: Container[] = []
  readonly #keys: string[] = []

  constructor(text: string, depthMax: number) {
    this.#text = text
    this.#depthMax = depthMax
  }

  open(container: Container, place: Place): void {
    if (this.#stack.length >= this.#depthMax) {
      throw fault('json_too_deep', `is nested deeper than ${this.#depthMax} levels`, place)
    }
    this.#place(container)
    this.#stack.push(container)
  }

  close(): void {
    this.#stack.pop()
  }

  key(name: string, place: Place): void {
    this.#requireWellFormed(name, place)
    const parent = this.#stack.at(-1)
    if (parent !== undefined && Object.hasOwn(parent, name)) {
      throw fault('json_duplicate_key', 'holds an object that names one field twice', place)
    }
    this.#keys.push(name)
  }

  literal(value: unknown, offset: number, length: number, place: Place): void {
    if (typeof value === 'string') this.#requireWellFormed(value, place)
    this.#place(typeof value === 'number' ? this.#number(value, offset, length) : value)
  }

  #number(value: number, offset: number, length: number): number | NumberLexeme {
    const lexeme = this.#text.slice(offset, offset + length)
    return plainInteger.test(lexeme) && Number.isSafeInteger(value)
      ? value
      : new NumberLexeme(lexeme)
  }

  #requireWellFormed(text: string, place: Place): void {
    if (loneSurrogate.test(text)) {
      throw fault('json_lone_surrogate', 'holds text that is not valid Unicode', place)
    }
  }

  #place(value: unknown): void {
    const parent = this.#stack.at(-1)
    if (parent === undefined) {
      this.root = value
    } else if (Array.isArray(parent)) {
      parent.push(value)
    } else {
      // Plain assignment to `__proto__` would change the prototype and hide the field.
      Object.defineProperty(parent, this.#keys.pop() as string, {
        value,
        writable: true,
        enumerable: true,
        configurable: true,
      })
    }
  }
}

/**
 * Reads one JSON document.
 *
 * Refused: more bytes than `bytesMax`, bytes that are not UTF-8, a byte order mark, nesting beyond
 * `depthMax`, one field named twice in one object at any depth (also when spelled with escapes),
 * lone surrogates (also as `\u` escapes), comments, trailing commas, anything RFC 8259 refuses.
 * Numbers that are not plain safe integers come as `NumberLexeme`. A field named `__proto__` is an
 * ordinary own property.
 *
 * Throws a `rejected` error with a `StrictJsonCode`; its text and details hold limits and
 * positions, never input.
 */
export const parseStrictJson = (bytes: Uint8Array, limits: StrictJsonLimits): unknown => {
  if (!(limits.depthMax >= 0 && limits.depthMax <= depthCeiling)) {
    throw new RangeError(`depthMax must be from 0 to ${depthCeiling}`)
  }
  const text = decode(bytes, limits.bytesMax)
  // Large replies are plain, and the engine reads them several times as fast.
  const plain = plainJson(bytes, text, limits.depthMax)
  return plain === null ? readBySteps(text, limits.depthMax) : plain.value
}

/** Reads a document one token after the other; names what is wrong with it. */
export const readBySteps = (text: string, depthMax: number): unknown => {
  const builder = new Builder(text, depthMax)
  const at = (line: number, column: number): Place => ({ line: line + 1, column: column + 1 })
  visit(
    text,
    {
      onObjectBegin: (_offset, _length, line, column) => builder.open({}, at(line, column)),
      onArrayBegin: (_offset, _length, line, column) => builder.open([], at(line, column)),
      onObjectEnd: () => builder.close(),
      onArrayEnd: () => builder.close(),
      onObjectProperty: (name, _offset, _length, line, column) =>
        builder.key(name, at(line, column)),
      onLiteralValue: (value: unknown, offset, length, line, column) =>
        builder.literal(value, offset, length, at(line, column)),
      // Thrown at the first fault: what the parser would make of the rest is a guess.
      onError: (_error, _offset, _length, line, column) => {
        throw fault('not_json', 'is not JSON', at(line, column))
      },
    },
    { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false },
  )
  return builder.root
}
