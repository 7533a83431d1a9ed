/**
 * Canonical JSON for the hot path of a commit: the order of an object's keys and the text around
 * them are remembered per shape, and strings that need no escape are taken as they are. Several
 * times faster than a general serializer. Whatever is out of the ordinary goes to the library; a
 * property test compares the two.
 */
import { canonicalJson } from '../../base/canonical.js'

/** Thrown inside to leave the fast path; one object, so that it costs no stack. */
const leave = new Error('left to the library')

/** Keys that an object reorders by itself, or that mean its prototype. */
const unsafeKey = /^(?:\d+|__proto__)$/

/** What a string must not hold to stand between quotes as it is. */
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

/** A shape: its keys as they came, sorted, and the text before each member. */
interface Shape {
  readonly keys: readonly string[]
  readonly sorted: readonly string[]
  readonly before: readonly string[]
}

/** Shapes seen lately, by number of keys: documents of one collection share theirs. */
const known: Shape[][] = []
const knownMost = 8
const keysMost = 64

const sameKeys = (a: readonly string[], b: readonly string[]): boolean => {
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false
  return true
}

const shapeOf = (keys: readonly string[]): Shape => {
  const list = (known[keys.length] ??= [])
  for (const shape of list) if (sameKeys(shape.keys, keys)) return shape
  for (const key of keys) if (unsafeKey.test(key)) throw leave
  const sorted = [...keys].sort()
  const before = sorted.map((key, i) => `${i === 0 ? '{' : ','}${stringText(key)}:`)
  const shape: Shape = { keys, sorted, before }
  if (keys.length <= keysMost) {
    list.unshift(shape)
    if (list.length > knownMost) list.pop()
  }
  return shape
}

const stringText = (text: string): string => {
  if (!needsEscape.test(text)) return `"${text}"`
  const escaped = JSON.stringify(text)
  // A lone surrogate comes out as an escape; other text may hold the same letters.
  if (escaped.includes('\\ud')) throw leave
  return escaped
}

const objectText = (value: object): string => {
  if (Array.isArray(value)) return arrayText(value)
  if ('toJSON' in value) throw leave
  const source = value as Record<string, unknown>
  const { sorted, before } = shapeOf(Object.keys(source))
  if (sorted.length === 0) return '{}'
  let text = ''
  for (let i = 0; i < sorted.length; i += 1) {
    text += (before[i] ?? '') + memberText(source[sorted[i] ?? ''])
  }
  return `${text}}`
}

const arrayText = (values: readonly unknown[]): string => {
  let text = ''
  for (let i = 0; i < values.length; i += 1) text += (i === 0 ? '' : ',') + memberText(values[i])
  return `[${text}]`
}

const memberText = (value: unknown): string => {
  if (typeof value === 'string') return stringText(value)
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  if (typeof value === 'boolean') return value ? 'true' : 'false'
  if (value === null) return 'null'
  if (typeof value === 'object') return objectText(value)
  throw leave
}

/** RFC 8785 text of a plain value; equal to `canonicalJson`, faster for ordinary documents. */
export const canonicalText = (value: unknown): string => {
  try {
    return memberText(value)
  } catch (error) {
    if (error !== leave) throw error
    return canonicalJson(value)
  }
}

/** Canonical JSON of a string. */
export const stringJson = (text: string): string =>
  needsEscape.test(text) ? canonicalText(text) : `"${text}"`
