/**
 * Fields that are said once and read twice: as the JSON schema that the model is given, and as the
 * closed shape that its answer has to fit. What is asked for and what is accepted cannot differ.
 */
import * as v from 'valibot'
import { NumberLexeme } from '../../base/number-lexeme.js'
import { closedObject, finiteNumber } from '../../base/schema.js'

/** One field: its JSON schema, and the shape that accepts exactly what that schema describes. */
interface Field<T> {
  readonly json: Readonly<Record<string, unknown>>
  readonly shape: v.GenericSchema<unknown, T>
}

/** The value type of a field. */
export type ValueOf<F> = F extends Field<infer T> ? T : never

const codePoints = (text: string): number => [...text].length
const control = /[^\P{Cc}\n\t]/u

/** Text of 1 to `charsMax` code points; no control character but newline and tab. */
export const textField = (
  charsMax: number, description: string, { pattern }: { readonly pattern?: string } = {},
): Field<string> => {
  const form = pattern === undefined ? null : new RegExp(pattern, 'u')
  return {
    json: {
      type: 'string', minLength: 1, maxLength: charsMax, description,
      ...(pattern === undefined ? {} : { pattern }),
    },
    shape: v.pipe(
      v.string('must be text'),
      v.check((text) => text.trim() !== '', 'must not be empty'),
      v.check((text) => codePoints(text) <= charsMax, `has at most ${charsMax} characters`),
      v.check((text) => !control.test(text), 'must not hold control characters'),
      v.check((text) => form === null || form.test(text), 'has a form of its own'),
    ),
  }
}

/** Exactly this text. */
export const constantField = <const T extends string>(text: T): Field<T> => ({
  json: { type: 'string', enum: [text] }, shape: v.literal(text, 'must be the given text'),
})

/** One of these texts. */
export const choiceField = <const T extends readonly [string, ...string[]]>(
  choices: T, description: string,
): Field<T[number]> => ({
  json: { type: 'string', enum: [...choices], description },
  shape: v.picklist(choices, 'must be one of the given texts'),
})

/** True or false. */
export const flagField = (description: string): Field<boolean> => ({
  json: { type: 'boolean', description }, shape: v.boolean('must be true or false'),
})

/**
 * Whether the number that a text of JSON writes is from 0 to 1. Its digits are looked at: a double
 * makes 1 of `1.0000000000000000000001`, and a zero of `-1e-999`.
 */
const isShareText = (text: string): boolean => {
  const parts = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)
  if (parts === null) return false
  const [, minus, whole = '', fraction = '', exponent = '0'] = parts
  const digits = `${whole}${fraction}`
  const first = digits.search(/[1-9]/)
  if (first === -1) return true
  if (minus === '-') return false
  // The value is 0.ddd times ten to this power, the first digit not a zero.
  const power = whole.length - first + Number(exponent)
  return power <= 0 || (power === 1 && /^10*$/.test(digits.slice(first)))
}

/** A number from 0 to 1, both included, by its exact value. */
export const shareField = (description: string): Field<number> => ({
  json: { type: 'number', minimum: 0, maximum: 1, description },
  shape: v.pipe(
    v.unknown(),
    v.check(
      (value) => !(value instanceof NumberLexeme) || isShareText(value.lexeme),
      'must be a number from 0 to 1',
    ),
    finiteNumber(0, 1),
  ),
})

/** The field, or null. */
export const nullable = <T>({ json, shape }: Field<T>): Field<T | null> => {
  const { description, ...rest } = json
  return {
    json: {
      anyOf: [rest, { type: 'null' }], ...(description === undefined ? {} : { description }),
    },
    shape: v.nullable(shape),
  }
}

/** At most `itemsMax` of them; none is a list too. */
export const listField = <T>(
  itemsMax: number, item: Field<T>, description: string,
): Field<T[]> => ({
  json: { type: 'array', maxItems: itemsMax, items: item.json, description },
  shape: v.pipe(
    v.array(item.shape, 'must be a list'), v.maxLength(itemsMax, `has at most ${itemsMax} entries`),
  ),
})

type Fields = Readonly<Record<string, Field<unknown>>>
type Values<E extends Fields> = { [K in keyof E]: ValueOf<E[K]> }

/** An object with exactly these fields, every one of them required. */
export const recordField = <const E extends Fields>(entries: E): Field<Values<E>> => {
  const parts = Object.entries(entries)
  const shapes = Object.fromEntries(parts.map(([name, { shape }]) => [name, shape]))
  return {
    json: {
      type: 'object',
      properties: Object.fromEntries(parts.map(([name, { json }]) => [name, json])),
      required: parts.map(([name]) => name),
      additionalProperties: false,
    },
    shape: closedObject(shapes) as unknown as v.GenericSchema<unknown, Values<E>>,
  }
}
