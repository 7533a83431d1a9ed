/**
 * Fields that rows and documents are made of, and closed shapes over valibot, with messages of our
 * own: valibot's default messages quote the received value, and a rejected question, key or body
 * must not come back in an error text.
 */
import * as v from 'valibot'
import { fail, type SallyportError } from './errors.js'
import { NumberLexeme } from './number-lexeme.js'

/** Any text. */
export const text = v.string()
/** Any text, or none. */
export const nullableText = v.nullable(text)
/** A time, ISO 8601. */
export const iso = v.pipe(v.string(), v.isoTimestamp())
/** A whole number from 0. */
export const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
/** A whole number from 1. */
export const counted = v.pipe(v.number(), v.safeInteger(), v.minValue(1))
/** SHA-256 as 64 lowercase hexadecimal digits. */
export const sha256 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

const isPlainRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' &&
  value !== null &&
  !Array.isArray(value) &&
  !(value instanceof NumberLexeme)

/** A JSON object, and neither an array nor a number that `strict-json` kept as text. */
const plainRecord = v.custom<Record<string, unknown>>(isPlainRecord, 'must be an object')

/**
 * An object with exactly these fields. Tighter than valibot's own strict object, which takes an
 * array for an object when every field is optional.
 */
export const closedObject = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(plainRecord, v.strictObject(entries))

/** An object with at least these fields, for replies: the named ones strict, others dropped. */
export const replyObject = <const E extends v.ObjectEntries>(entries: E) =>
  v.pipe(plainRecord, v.object(entries))

/** An integer written plainly: `1.0`, `1e3`, `-0`, `"1"`, `true` and null are refused. */
export const strictInteger = (min: number, max: number) => {
  const rule = `must be a plain integer from ${min} to ${max}`
  return v.pipe(
    v.number(rule),
    v.safeInteger(rule),
    v.check((value) => !Object.is(value, -0), rule),
    v.minValue(min, rule),
    v.maxValue(max, rule),
  )
}

/** A finite number of any spelling, as a JavaScript number; `1e999` is refused. Bounds included. */
export const finiteNumber = (min = -Number.MAX_VALUE, max = Number.MAX_VALUE) => {
  const rule =
    min === -Number.MAX_VALUE && max === Number.MAX_VALUE
      ? 'must be a finite number'
      : `must be a finite number from ${min} to ${max}`
  return v.pipe(
    v.union([v.number(rule), v.instance(NumberLexeme, rule)], rule),
    v.transform((value) => (typeof value === 'number' ? value : value.value)),
    v.finite(rule),
    v.minValue(min, rule),
    v.maxValue(max, rule),
  )
}

/** An integer that came as text (a flag or a setting): no sign `+`, hex, exponent, space, zeros. */
export const strictIntegerText = (min: number, max: number) => {
  const rule = `must be a plain integer from ${min} to ${max}`
  return v.pipe(
    v.string(rule),
    v.regex(/^(?:0|-?[1-9][0-9]{0,15})$/, rule),
    v.transform(Number),
    v.safeInteger(rule),
    v.minValue(min, rule),
    v.maxValue(max, rule),
  )
}

/** What a failure of `parseClosed` is about. */
interface ClosedShapeName {
  /** Error code, for example `setup_invalid`. */
  readonly code: string
  /** What is being read, for the text: `the request`, `the stored setup`. */
  readonly what: string
}

/** The parts of a valibot schema that lead to its inner schemas; each kind has some of them. */
interface SchemaParts {
  readonly entries?: Readonly<Record<string, unknown>>
  readonly item?: unknown
  readonly items?: readonly unknown[]
  readonly rest?: unknown
  readonly value?: unknown
  readonly wrapped?: unknown
  readonly options?: readonly unknown[]
  readonly pipe?: readonly unknown[]
}

/** Opens unions, pipes and optional wrappers, so that only shapes with fields or items remain. */
const flatten = (schema: unknown): SchemaParts[] => {
  if (typeof schema !== 'object' || schema === null) return []
  const parts = schema as SchemaParts
  if (parts.pipe !== undefined) {
    const [first, ...rest] = parts.pipe
    return [...flatten({ ...(first as object), pipe: undefined }), ...rest.flatMap(flatten)]
  }
  if (parts.wrapped !== undefined) return flatten(parts.wrapped)
  if (Array.isArray(parts.options)) return parts.options.flatMap(flatten)
  return [parts]
}

type Path = readonly { readonly key?: unknown }[]

/** The schemas that apply to what stands under `key`, and whether the schema names that key. */
const descend = (here: SchemaParts[], key: unknown): { inner: SchemaParts[]; named: boolean } => {
  if (typeof key === 'number') {
    const inner = here.flatMap((parts) => [parts.item, parts.items?.[key], parts.rest])
    return { inner: inner.flatMap(flatten), named: false }
  }
  const name = String(key)
  const naming = here.filter((parts) => Object.hasOwn(parts.entries ?? {}, name))
  return naming.length > 0
    ? { inner: naming.flatMap((parts) => flatten(parts.entries?.[name])), named: true }
    : { inner: here.flatMap((parts) => [parts.value, parts.rest]).flatMap(flatten), named: false }
}

/**
 * The path in names of the schema, and the names the schema knows where the path ends. A key that
 * the schema does not name (an unknown field, a key of a record) came from outside and shows as
 * `*`: people paste secrets into the wrong place.
 */
const locate = (schema: unknown, path: Path): { field: string; known: string[] } => {
  let here = flatten(schema)
  let known: string[] = []
  let field = ''
  for (const { key } of path) {
    known = here.flatMap((parts) => Object.keys(parts.entries ?? {}))
    const { inner, named } = descend(here, key)
    const dot = field === '' ? '' : '.'
    field += typeof key === 'number' ? `[${key}]` : `${dot}${named ? String(key) : '*'}`
    here = inner
  }
  return { field, known: [...new Set(known)] }
}

/** Valibot's own wording starts like this and goes on to quote what was received. */
const quotesInput = /^Invalid [^:]*: /

/** Rules with a number in them. */
const numbered: Readonly<Record<string, (limit: string) => string>> = {
  min_value: (limit) => `must be at least ${limit}`,
  max_value: (limit) => `must be at most ${limit}`,
  min_length: (limit) => `must have a length of at least ${limit}`,
  max_length: (limit) => `must have a length of at most ${limit}`,
  length: (limit) => `must have a length of exactly ${limit}`,
  min_bytes: (limit) => `must have at least ${limit} UTF-8 bytes`,
  max_bytes: (limit) => `must have at most ${limit} UTF-8 bytes`,
  bytes: (limit) => `must have exactly ${limit} UTF-8 bytes`,
  min_entries: (limit) => `must have at least ${limit} fields`,
  max_entries: (limit) => `must have at most ${limit} fields`,
}

/** Rules without. */
const worded: Readonly<Record<string, string>> = {
  boolean: 'must be true or false',
  non_empty: 'must not be empty',
  regex: 'does not have the required form',
  integer: 'must be an integer',
  safe_integer: 'must be an integer that a double holds exactly',
  finite: 'must be a finite number',
  union: 'has none of the permitted forms',
  variant: 'has none of the permitted forms',
  check: 'breaks a rule of this field',
  raw_check: 'breaks a rule of this field',
  custom: 'breaks a rule of this field',
}

/** Types whose `expected` text holds only words of the schema. */
const expectedIsSafe = new Set([
  'array', 'boolean', 'enum', 'literal', 'loose_object', 'null', 'number', 'object', 'picklist',
  'record', 'strict_object', 'string', 'tuple', 'strict_tuple',
])

interface Rule {
  readonly rule: string
  readonly text: string
  readonly limit: number | null
}

/** What rule was broken, without the value that broke it. */
const ruleOf = (issue: v.BaseIssue<unknown>, known: readonly string[]): Rule => {
  const limit = typeof issue.requirement === 'number' ? issue.requirement : null
  const of = (rule: string, text: string): Rule => ({ rule, text, limit })
  const isKeyIssue = issue.type.endsWith('object') && issue.message.startsWith('Invalid key: ')
  if (isKeyIssue && issue.expected === 'never') {
    return of('unknown_field', `is not a known field (known: ${known.join(', ') || 'none'})`)
  }
  if (isKeyIssue) return of('missing_field', 'is required')
  if (!quotesInput.test(issue.message) && issue.message !== '') return of(issue.type, issue.message)
  const withLimit = numbered[issue.type]
  if (withLimit !== undefined && limit !== null) return of(issue.type, withLimit(String(limit)))
  const text = worded[issue.type]
  if (text !== undefined) return of(issue.type, text)
  if (expectedIsSafe.has(issue.type) && issue.expected !== null) {
    return of(issue.type, `must be ${issue.expected}`)
  }
  return of(issue.type, `breaks the rule ${issue.type}`)
}

/** The error for the first broken rule. */
const rejection = (
  schema: unknown,
  issue: v.BaseIssue<unknown>,
  about: ClosedShapeName,
): SallyportError => {
  const { field, known } = locate(schema, issue.path ?? [])
  const { rule, text, limit } = ruleOf(issue, known)
  const subject = field === '' ? about.what : `${about.what}, field ${field},`
  const sentence = `${subject.charAt(0).toUpperCase()}${subject.slice(1)} ${text}.`
  return fail.rejected(about.code, sentence, {
    details: { field: field === '' ? null : field, rule, ...(limit === null ? {} : { limit }) },
  })
}

/**
 * Checks a value against a closed shape and returns it typed.
 *
 * Throws `fail.rejected(about.code, …)` that names the path of the first field at fault and the
 * rule or limit it breaks, in text and in `details` {field, rule, limit}. It never holds the
 * received value, nor a field name that only the value brought in. Messages that a schema carries
 * itself are shown as they are, so they must be constant texts.
 */
export const parseClosed = <S extends v.GenericSchema>(
  schema: S,
  value: unknown,
  about: ClosedShapeName,
): v.InferOutput<S> => {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  throw rejection(schema, result.issues[0], about)
}
