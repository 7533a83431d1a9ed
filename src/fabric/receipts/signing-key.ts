/**
 * The key that receipts are signed with. It is derived from the key of the store and lies nowhere:
 * whoever has state and key file signs with the same one, on any copy of them, and it is lost only
 * with them. docs/decisions/receipts-for-others.md says why.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto'
import { canonicalJson } from '../../base/canonical.js'
import type { Store } from '../../state/types.js'
import type { KeyedDigest } from './statement.js'

/** PKCS #8 of an Ed25519 key up to its 32 bytes (RFC 8410, section 7). */
const pkcs8Head = Buffer.from('302e020100300506032b657004220420', 'hex')

const label = { key: 'receipt.ed25519.v1', content: 'receipt.content.v1' } as const

/** The private key of a store. Throws `blocked` `key_missing` without the key file. */
export const signingKey = (store: Pick<Store, 'keyedDigest'>): KeyObject => {
  const seed = Buffer.from(store.keyedDigest(label.key, Buffer.alloc(0)), 'hex')
  return createPrivateKey({ key: Buffer.concat([pkcs8Head, seed]), format: 'der', type: 'pkcs8' })
}

/** Keyed digests of content under a key of a store. */
export const keyedBy = (store: Pick<Store, 'keyedDigest'>): KeyedDigest => (id, name, sha256) =>
  store.keyedDigest(label.content, Buffer.from(canonicalJson([id, name, sha256])))
