/**
 * Canonical JSON for the hot path of a commit. Objects are copied with sorted keys and given to the
 * engine's own serializer, several times faster than walking the text in JavaScript. Whatever the
 * copy cannot carry faithfully goes to the library; a property test compares the two.
 */
import { canonicalJson } from '../base/canonical.js'

/** Thrown inside to leave the fast path; one object, so that it costs no stack. */
const leave = new Error('left to the library')

/** Keys that an object reorders by itself, or that would change the copy's prototype. */
const unsafeKey = /^(?:\d+|__proto__)$/

const isSorted = (keys: readonly string[]): boolean => {
  for (let i = 1; i < keys.length; i += 1) {
    if ((keys[i - 1] ?? '') > (keys[i] ?? '')) return false
  }
  return true
}

const sameKeys = (a: readonly string[], b: readonly string[]): boolean => {
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false
  return true
}

interface Order {
  readonly keys: readonly string[]
  readonly sorted: readonly string[]
}

/** Orders seen lately, by number of keys: documents of one collection share theirs. */
const known: Order[][] = []
const knownMost = 8
const keysMost = 64

const sortedKeys = (keys: readonly string[]): readonly string[] => {
  const list = (known[keys.length] ??= [])
  for (const order of list) if (sameKeys(order.keys, keys)) return order.sorted
  for (const key of keys) if (unsafeKey.test(key)) throw leave
  const sorted = isSorted(keys) ? keys : [...keys].sort()
  if (keys.length <= keysMost) {
    list.unshift({ keys, sorted })
    if (list.length > knownMost) list.pop()
  }
  return sorted
}

const sortedCopy = (value: object): unknown => {
  if (Array.isArray(value)) return value.map(sortedMember)
  if ('toJSON' in value) throw leave
  const source = value as Record<string, unknown>
  const copy: Record<string, unknown> = {}
  for (const key of sortedKeys(Object.keys(source))) copy[key] = sortedMember(source[key])
  return copy
}

const sortedMember = (value: unknown): unknown => {
  if (typeof value === 'object' && value !== null) return sortedCopy(value)
  if (typeof value === 'number' && !Number.isFinite(value)) throw leave
  return value
}

/** A lone surrogate leaves the serializer as an escape; other text may hold the same letters. */
const maybeLone = '\\ud'

/** RFC 8785 text of a plain value; equal to `canonicalJson`, faster for ordinary documents. */
export const canonicalText = (value: unknown): string => {
  try {
    const text = JSON.stringify(sortedMember(value))
    if (text !== undefined && !text.includes(maybeLone)) return text
  } catch (error) {
    if (error !== leave) throw error
  }
  return canonicalJson(value)
}
