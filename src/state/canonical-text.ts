/**
 * Canonical JSON for the hot path of a commit. Objects are copied with sorted keys and given to the
 * engine's own serializer, several times faster than walking the text in JavaScript. Whatever the
 * copy cannot carry faithfully goes to the library; a property test compares the two.
 */
import { canonicalJson } from '../base/canonical.js'

/** Thrown inside to leave the fast path. */
const leave = Symbol('leave')

/** Keys that an object reorders by itself, or that would change the copy's prototype. */
const unsafeKey = /^(?:\d+|__proto__)$/

const isSorted = (keys: readonly string[]): boolean => {
  for (let i = 1; i < keys.length; i += 1) {
    if ((keys[i - 1] ?? '') > (keys[i] ?? '')) return false
  }
  return true
}

const sortedCopy = (value: unknown): unknown => {
  if (typeof value === 'number' && !Number.isFinite(value)) throw leave
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(sortedCopy)
  if ('toJSON' in value) throw leave
  const keys = Object.keys(value)
  if (!isSorted(keys)) keys.sort()
  const copy: Record<string, unknown> = {}
  for (const key of keys) {
    if (unsafeKey.test(key)) throw leave
    copy[key] = sortedCopy((value as Record<string, unknown>)[key])
  }
  return copy
}

/** A lone surrogate leaves the serializer as an escape; a literal backslash may look like one. */
const maybeLone = /\\ud[89a-f]/

/** RFC 8785 text of a plain value; equal to `canonicalJson`, faster for ordinary documents. */
export const canonicalText = (value: unknown): string => {
  try {
    const text = JSON.stringify(sortedCopy(value))
    if (text !== undefined && !maybeLone.test(text)) return text
  } catch (error) {
    if (error !== leave) throw error
  }
  return canonicalJson(value)
}
