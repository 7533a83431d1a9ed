/**
 * The one line that a person carries from the service to a device: where the service is, which key
 * it has, and a code that works once. So the very first connection is pinned.
 */
import * as v from 'valibot'
import { fail, type SallyportError } from '../../base/errors.js'
import { closedObject, parseClosed } from '../../base/schema.js'
import { parseStrictJson } from '../../base/strict-json.js'

const prefix = 'sallyport-pair-v1.'
/** Most characters of the line. */
export const pairingStringMax = 2_048

const shape = closedObject({
  origin: v.string(),
  pin: v.string(),
  /** 128 bits as base64url. */
  code: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{22}$/)),
})
export type PairingString = v.InferOutput<typeof shape>

const malformed = (): SallyportError =>
  fail.rejected('pairing_string_invalid', 'This is no pairing string.', {
    next: 'Run `sallyport edge pair` on the side of the service and take its whole line.',
  })

/** Reads a pairing string. Throws `rejected` `pairing_string_invalid`; never quotes it. */
export const readPairingString = (text: string): PairingString => {
  const coded = text.startsWith(prefix) ? text.slice(prefix.length) : ''
  const bytes = Buffer.from(coded, 'base64url')
  if (text.length > pairingStringMax || coded === '' || bytes.toString('base64url') !== coded) {
    throw malformed()
  }
  try {
    const value = parseStrictJson(bytes, { bytesMax: pairingStringMax, depthMax: 1 })
    return parseClosed(shape, value, { code: 'pairing_string_invalid', what: 'the string' })
  } catch {
    throw malformed()
  }
}
