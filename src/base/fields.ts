/** Fields that rows and documents are made of. What comes from outside is read by `schema.ts`. */
import * as v from 'valibot'

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
