/**
 * Canonical JSON for the hot path of a commit: a copy whose objects have their keys in order, of
 * which `JSON.stringify` makes canonical text in one go. The order of an object's keys is
 * remembered per shape. Whatever is out of the ordinary goes to the library; a property test
 * compares the two.
 */
import { canonicalJson } from '../../base/canonical.js'
import { isWellFormed } from '../../base/well-formed.js'

/** Thrown inside to leave the fast path; one object, so that it costs no stack. */
const leave = new Error('left to the library')

/** Keys that an object reorders by itself, or that mean something to it or to `JSON`. */
const unsafeKey = /^(?:\d+|__proto__|toJSON)$/

/** A shape: its keys as they came, and sorted. */
interface Shape {
  readonly keys: readonly string[]
  readonly sorted: readonly string[]
}

/** Shapes seen lately, by number of keys: documents of one collection share theirs. */
const known: Shape[][] = []
const knownMost = 8
const keysMost = 64

const sameKeys = (a: readonly string[], b: readonly string[]): boolean => {
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false
  return true
}

const sortedKeys = (keys: readonly string[]): readonly string[] => {
  const list = (known[keys.length] ??= [])
  for (const shape of list) if (sameKeys(shape.keys, keys)) return shape.sorted
  for (const key of keys) if (unsafeKey.test(key) || !isWellFormed(key)) throw leave
  const sorted = [...keys].sort()
  if (keys.length <= keysMost) {
    list.unshift({ keys, sorted })
    if (list.length > knownMost) list.pop()
  }
  return sorted
}

const copyOfArray = (values: readonly unknown[]): unknown[] => {
  const copy: unknown[] = []
  for (let i = 0; i < values.length; i += 1) copy.push(copyOfMember(values[i]))
  return copy
}

const copyOfObject = (value: object): unknown => {
  if (Array.isArray(value)) return copyOfArray(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw leave
  const source = value as Record<string, unknown>
  const sorted = sortedKeys(Object.keys(source))
  const copy: Record<string, unknown> = {}
  for (let i = 0; i < sorted.length; i += 1) {
    const key = sorted[i] as string
    copy[key] = copyOfMember(source[key])
  }
  return copy
}

const copyOfMember = (value: unknown): unknown => {
  if (typeof value === 'string') {
    if (isWellFormed(value)) return value
  } else if (typeof value === 'number') {
    // As JSON has it: there is no other zero.
    if (Number.isFinite(value)) return value === 0 ? 0 : value
  } else if (typeof value === 'boolean' || value === null) return value
  else if (typeof value === 'object') return copyOfObject(value)
  throw leave
}

/**
 * A copy that `JSON.stringify` turns into canonical JSON, wherever it stands in a larger value;
 * undefined for a value that only the library serializes.
 */
export const canonicalCopy = (value: unknown): unknown => {
  try {
    return copyOfMember(value)
  } catch (error) {
    if (error !== leave) throw error
    return undefined
  }
}

/** RFC 8785 text of a plain value; equal to `canonicalJson`, faster for ordinary documents. */
export const canonicalText = (value: unknown): string => {
  const copy = canonicalCopy(value)
  return copy === undefined ? canonicalJson(value) : JSON.stringify(copy)
}

/** What a string must not hold to stand between quotes as it is. */
const needsEscape = /["\\\u0000-\u001f\ud800-\udfff]/

/** Canonical JSON of a string. */
export const stringJson = (text: string): string =>
  needsEscape.test(text) ? canonicalText(text) : `"${text}"`
