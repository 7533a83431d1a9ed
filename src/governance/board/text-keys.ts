/**
 * Idempotency keys that are made of words: what a CI system calls a run is no UUID, and a key that
 * is made anew with each start protects against nothing. The same words are the same key for one
 * owner, one use and one store, wherever a copy of the store lies; for anybody else another one.
 */
import { v5 } from 'uuid'
import { canonicalJson } from '../../base/canonical.js'
import { fail } from '../../base/errors.js'
import { isWellFormed } from '../../base/well-formed.js'
import type { Store } from '../../state/types.js'
import type { Session } from '../context.js'

/** Longest text, bytes of UTF-8. */
export const keyTextBytesMax = 200

/** What is made under a key: `ask` and `job` of the same words are two keys. */
export type KeyUse = 'ask' | 'job'

const controls = /\p{Cc}/u

/**
 * The key of some words: a UUID of version 5 in the namespace of the store (RFC 9562). Throws
 * `rejected` `idempotency_text`.
 */
export const keyOfText = (
  { storeId }: Pick<Store, 'storeId'>, { principal }: Session, use: KeyUse, text: string,
): string => {
  const bytes = Buffer.byteLength(text)
  if (bytes >= 1 && bytes <= keyTextBytesMax && isWellFormed(text) && !controls.test(text)) {
    return v5(canonicalJson([use, principal.principal_id, text]), storeId)
  }
  throw fail.rejected(
    'idempotency_text', 'An idempotency text is one line of 1 to 200 bytes of UTF-8.', {
      next: 'Give what your CI system calls this run, for example "$GITHUB_RUN_ID-3".',
      details: { bytes_max: keyTextBytesMax },
    },
  )
}
