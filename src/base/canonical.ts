import { createHash } from 'node:crypto'
import canonicalize from 'canonicalize'

/** RFC 8785 canonical JSON text of a plain value; `undefined` members are left out. */
export const canonicalJson = (value: unknown): string => {
  const text = canonicalize(value)
  if (text === undefined) throw new TypeError('value has no canonical JSON form')
  return text
}

/** Lowercase hex SHA-256 of bytes or of UTF-8 text. */
export const sha256Hex = (data: Uint8Array | string): string =>
  createHash('sha256').update(data).digest('hex')

/** Lowercase hex SHA-256 of a value's canonical JSON. */
export const digestOf = (value: unknown): string => sha256Hex(canonicalJson(value))

/** Bytes of a small file that checks itself: canonical JSON, a space, its SHA-256, a newline. */
export const encodeChecked = (value: unknown): Buffer => {
  const text = canonicalJson(value)
  return Buffer.from(`${text} ${sha256Hex(text)}\n`)
}

/** What such bytes hold; undefined when one of them is untrue. */
export const decodeChecked = (bytes: Buffer): unknown => {
  const text = bytes.toString('utf8', 0, Math.max(0, bytes.length - 66))
  return Buffer.from(`${text} ${sha256Hex(text)}\n`).equals(bytes) ? JSON.parse(text) : undefined
}
