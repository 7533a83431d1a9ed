import { v5 } from 'uuid'
import { alphaLimits } from './constants.js'

/**
 * Which name a charge is looked up under. The provider names its reply in the body; the billing
 * UUID is computed from that name, and a header that disagrees makes both worthless.
 */

const uuidText = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** UTF-8 length of a text in bytes. */
export const utf8Bytes = (text: string): number => Buffer.byteLength(text, 'utf8')

/**
 * The lowercase form of a UUID written 8-4-4-4-12 with hyphens, or null for every other spelling:
 * white space, braces, `urn:uuid:`, compact, another length.
 */
export const parseUuidText = (text: unknown): string | null =>
  typeof text === 'string' && uuidText.test(text) ? text.toLowerCase() : null

/** The reply's own id when it may name a charge: 1 to 256 UTF-8 bytes of valid text. */
export const parseBodyId = (id: unknown): string | null => {
  if (typeof id !== 'string' || id === '') return null
  // A lone surrogate would be hashed as U+FFFD: another name than the provider's.
  if (/\p{Surrogate}/u.test(id)) return null
  return utf8Bytes(id) <= alphaLimits.bodyIdBytesMax ? id : null
}

/** Billing UUID: version 5, DNS namespace, over the UTF-8 bytes of the body id. */
export const billingUuidOf = (bodyId: string): string => v5(bodyId, v5.DNS).toLowerCase()

/**
 * Whether the `inference-id` header lets the computed UUID stand. Absent does; present it must be
 * one strict UUID equal to it. Present but empty, or repeated, is malformed.
 */
export const inferenceHeaderAgrees = (
  values: readonly string[] | undefined,
  computed: string,
): boolean => {
  if (values === undefined) return true
  return values.length === 1 && parseUuidText(values[0]) === computed
}

/** Whether an operation id is short enough to be bound to a charge: 1 to 256 bytes. */
export const isOperationId = (id: string): boolean =>
  id !== '' && utf8Bytes(id) <= alphaLimits.operationIdBytesMax
