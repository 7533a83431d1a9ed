/**
 * The vault. A secret is sealed into an artifact, so that not even its sealed bytes are in the log;
 * rows keep a fingerprint. A new secret is first staged beside the adopted one and replaces it only
 * by `adoptStaged`, so a save that fails leaves the old key in use.
 */
import { canonicalJson, sha256Hex } from '../base/canonical.js'
import { fail, SallyportError } from '../base/errors.js'
import { ofRows } from '../state/row-memo.js'
import type { Store, Tx, View } from '../state/types.js'
import type { Gov } from './context.js'
import { collections, type Credential } from './rows.js'

/** Longest secret, bytes. */
const secretBytesMax = 4096

const sealLabel = 'vault.credential.v1'
const fingerprintLabel = 'vault.fingerprint.v1'
const secretLabel = 'vault.secret.v1'
const fingerprintChars = 16
const refForm = /^vault:[a-z0-9_]{1,64}$/

/** A secret that lies sealed in the store and that no row names yet. */
export type SealedCredential = Pick<Credential, 'credential_ref' | 'fingerprint' | 'artifact'>

/** What the world sees of a credential. */
interface CredentialPresence {
  readonly present: boolean
  readonly fingerprint: string | null
  readonly saved_at: string | null
  /** Whether another one waits to be adopted. */
  readonly staged: boolean
}

const stagedId = (ref: string): string => `${ref}+staged`

const requireRef = (ref: string): void => {
  if (!refForm.test(ref)) throw new TypeError('a credential reference is vault:<name>')
}

const requireSecret = (secret: Uint8Array): void => {
  if (secret.length < 1 || secret.length > secretBytesMax) {
    throw fail.rejected('secret_length', 'A key has 1 to 4096 bytes.', {
      details: { bytes_max: secretBytesMax },
    })
  }
  // It goes out in a header: anything else there could end the line or be altered on the way.
  if (!secret.every((byte) => byte >= 0x21 && byte <= 0x7e)) {
    throw fail.rejected('secret_characters', 'A key has printable ASCII without spaces only.')
  }
}

/**
 * What is shown of a secret: 16 hex digits of a keyed digest over its name and bytes. Without the
 * store's key it tells nothing about the secret; it changes exactly when the secret does.
 */
export const fingerprintOf = (store: Store, ref: string, secret: Uint8Array): string =>
  store
    .keyedDigest(fingerprintLabel, Buffer.concat([Buffer.from(`${ref}\0`), secret]))
    .slice(0, fingerprintChars)

/** Seals a secret; durable when it returns, named by no row yet. Throws `rejected`. */
export const sealCredential = (
  store: Store,
  { ref, secret }: { readonly ref: string; readonly secret: Uint8Array },
): SealedCredential => {
  requireRef(ref)
  requireSecret(secret)
  const artifact = store.artifacts.write(sealLabel, secret)
  return { credential_ref: ref, fingerprint: fingerprintOf(store, ref, secret), artifact }
}

/**
 * Stages a sealed secret beside the adopted one. Returns the stored name of a staged secret that it
 * displaces, to be removed once the transaction is durable.
 */
export const stageSealed = (tx: Tx, now: string, sealed: SealedCredential): string | null => {
  const id = stagedId(sealed.credential_ref)
  const before = tx.get(collections.credentials, id)
  const updates = updatesOf(tx, sealed.credential_ref) + 1
  const name = sealed.credential_ref.replace(/^vault:/, '')
  tx.put(collections.credentials, id, {
    ...sealed, owner: null, name, updates, staged: true, saved_at: now,
  })
  return before?.artifact.stored_sha256 ?? null
}

/** How many secrets were stored under a reference so far. */
const updatesOf = (view: View, ref: string): number =>
  view.get(collections.credentials, ref)?.updates ?? 0

/**
 * Stores a sealed secret of one owner, or of the deployment, at once, in the caller's record.
 * Returns the stored name of the one it replaces, to be removed once the transaction is durable.
 * The same secret again is a change too: its sealed bytes and its count are others.
 */
export const putCredential = (
  tx: Tx, now: string, sealed: SealedCredential,
  { owner, name }: { readonly owner: string | null; readonly name: string },
): string | null => {
  const ref = sealed.credential_ref
  const before = tx.get(collections.credentials, ref)
  tx.put(collections.credentials, ref, {
    ...sealed, owner, name, updates: updatesOf(tx, ref) + 1, staged: false, saved_at: now,
  })
  return before?.artifact.stored_sha256 ?? null
}

/**
 * What tells one stored secret from every other: id, owner, name, count of its updates and digest
 * of its sealed bytes (C-039). Null where none is stored.
 */
interface VaultIdentity {
  readonly id: string
  readonly owner: string | null
  readonly name: string
  readonly updates: number
  readonly sealed_sha256: string
}

/** The identity of the secret in use under a reference; reads rows only, opens nothing. */
export const vaultIdentity = (view: View, ref: string): VaultIdentity | null => {
  const row = view.get(collections.credentials, ref)
  if (row === undefined) return null
  const { owner, name, updates, artifact } = row
  return { id: ref, owner, name, updates, sealed_sha256: artifact.stored_sha256 }
}

/** Digest of that identity; null where no secret is stored. */
export const vaultDigest: (view: View, ref: string) => string | null = ofRows((view, ref) => {
  const identity = vaultIdentity(view, ref)
  return identity === null ? null : sha256Hex(canonicalJson(identity))
})

/**
 * Makes the staged secret the one in use. Returns the stored name of the one it replaces, to be
 * removed once the transaction is durable. Throws `conflict`/`credential_not_staged`.
 */
export const adoptStaged = (tx: Tx, now: string, ref: string): string | null => {
  const staged = tx.get(collections.credentials, stagedId(ref))
  if (staged === undefined) {
    throw fail.conflict('credential_not_staged', 'No new key waits to be adopted.')
  }
  const before = tx.get(collections.credentials, ref)
  tx.put(collections.credentials, ref, { ...staged, staged: false, saved_at: now })
  tx.remove(collections.credentials, stagedId(ref))
  return before?.artifact.stored_sha256 ?? null
}

/** Drops the staged secret, if any. Returns its stored name, to be removed after the commit. */
export const dropStaged = (tx: Tx, ref: string): string | null => {
  const staged = tx.get(collections.credentials, stagedId(ref))
  if (staged === undefined) return null
  tx.remove(collections.credentials, stagedId(ref))
  return staged.artifact.stored_sha256
}

/**
 * Takes the secret in use out of the vault. Returns its stored name, to be removed once the
 * transaction is durable; null where none is stored.
 */
export const removeCredential = (tx: Tx, ref: string): string | null => {
  const before = tx.get(collections.credentials, ref)
  if (before === undefined) return null
  tx.remove(collections.credentials, ref)
  return before.artifact.stored_sha256
}

/** `rejected` `no_key_stored`: a route that was never set up has no key that could go. */
export const noKeyStored = (): SallyportError =>
  fail.rejected('no_key_stored', 'This route was never set up: no key of it is stored.', {
    next: 'See what is stored: `sallyport alpha show`, or `sallyport gateway show`.',
  })

/** What may be shown of a credential: presence and fingerprint. */
export const presence = (view: View, ref: string): CredentialPresence => {
  const row = view.get(collections.credentials, ref)
  return {
    present: row !== undefined,
    fingerprint: row?.fingerprint ?? null,
    saved_at: row?.saved_at ?? null,
    staged: view.get(collections.credentials, stagedId(ref)) !== undefined,
  }
}

/** What a route rests on of its key. */
export interface KeyFacts {
  readonly present: boolean
  readonly fingerprint: string | null
  /** Opens the stored key and forgets it again: a row alone sends nothing. */
  opens(): boolean
}

export const keyFacts = (store: Store, view: View, ref: string): KeyFacts => {
  const { present, fingerprint } = presence(view, ref)
  return {
    present, fingerprint,
    opens: () => {
      try {
        openCredential({ store }, ref, view).fill(0)
        return true
      } catch (error) {
        if (error instanceof SallyportError) return false
        throw error
      }
    },
  }
}

/** Fingerprint of the stored key that a save compares with; null where it cannot be opened. */
export const usableFingerprint = (key: KeyFacts): string | null =>
  (key.present && key.opens() ? key.fingerprint : null)

/** The secret of a row, staged or not, compared with it. Throws `damaged`. */
const openRow = (store: Store, row: Credential): Buffer => {
  const secret = store.artifacts.read(sealLabel, row.artifact)
  const intact = sha256Hex(secret) === row.artifact.sha256
  if (intact && fingerprintOf(store, row.credential_ref, secret) === row.fingerprint) return secret
  secret.fill(0)
  throw fail.damaged('credential_altered', 'The stored key does not match its fingerprint.', {
    next: 'Run `sallyport state check`, then store the key again.',
  })
}

/** Opens a vault row and forgets it again: throws what opening it for use would throw. */
export const requireIntact = (store: Store, row: Credential): void =>
  void openRow(store, row).fill(0)

/**
 * The adopted secret's bytes, for a request header and nothing else. Throws
 * `blocked`/`credential_missing`; `damaged` when the stored secret does not match its row.
 */
export const openCredential = (gov: Pick<Gov, 'store'>, ref: string, view?: View): Buffer => {
  requireRef(ref)
  const row = (view ?? gov.store.read()).get(collections.credentials, ref)
  if (row === undefined || row.staged) {
    throw fail.blocked('credential_missing', 'No key is stored for this route.', {
      next: 'Store one with the setup verb of the route (--api-key-file F).',
    })
  }
  return openRow(gov.store, { ...row, credential_ref: ref })
}

/**
 * What tells one secret from another whatever it is stored under: 16 hex digits of a keyed digest
 * over its bytes, for what somebody counts by the secret itself. Throws as `openCredential` does.
 */
export const secretFingerprint = (store: Store, view: View, ref: string): string => {
  const secret = openCredential({ store }, ref, view)
  try {
    return store.keyedDigest(secretLabel, secret).slice(0, fingerprintChars)
  } finally {
    secret.fill(0)
  }
}
