/**
 * Saved connections to accounts elsewhere. A connection identifies an account by its credential,
 * and by that alone authorizes nothing; what may be written through it says the finite consent in
 * the same row, which is the only place where such a consent lies (C-001, C-003, C-030).
 */
import * as v from 'valibot'
import { count, counted, iso, sha256, text } from '../../base/schema.js'
import type { CollectionSpec, Index } from '../../state/types.js'
import { byTail } from '../by-tail.js'

/** What a connection is good for: writes on consent, nothing, or reads that settle what was. */
export const connectionModes = ['active', 'disabled', 'reconcile_only'] as const
export type ConnectionMode = (typeof connectionModes)[number]

/**
 * Whose the credential is, as the other side tells it: the number of the account, and whether an
 * app acts for it.
 */
export const authorShape = v.strictObject({ id: counted, via_app: v.boolean() })
export type Author = v.InferOutput<typeof authorShape>

const grantShape = v.strictObject({
  /** Made here, never taken from a caller (C-031). */
  consent_id: text,
  /** Principal id of the giver: the default principal, in their session `root` (C-162). */
  owner: text,
  root: text,
  /** `OWNER/NAME` as it was saved, and the number that the host gave it (C-032). */
  repository: text,
  repository_id: counted,
  /** In the order of the capability's list; never empty (C-040). */
  actions: v.pipe(v.array(text), v.minLength(1)),
  issued_at: iso,
  expires_at: iso,
  /** Revision of the connection that its own save produced; it holds for no other (C-033). */
  revision: counted,
  /** Global revocations up to this revision of the policy came before it. */
  policy_fence: count,
  /** Null where the other side does not tell; left out of consents of before it was asked. */
  author: v.optional(v.nullable(authorShape)),
  /** SHA-256 of the statement that was acknowledged. */
  statement_sha256: sha256,
  /** SHA-256 of the canonical text of all of the above with the id of its connection. */
  binding_sha256: sha256,
  /** Ended by an act: revoked, or stopped by another mode or another save. */
  ended: v.nullable(v.strictObject({ at: iso, as: v.picklist(['revoked', 'stopped']) })),
})
/** Finite consent to named writes to one repository. */
export type Grant = v.InferOutput<typeof grantShape>

const connectionShape = v.strictObject({
  connection_id: text,
  owner: text,
  /** `OWNER/NAME`. */
  repository: text,
  /** The number that the host gives it; null until a consent has read it. */
  repository_id: v.nullable(counted),
  /** Raised by every save, never by work: also the revision that reads are asked for with. */
  revision: counted,
  mode: v.picklist(connectionModes),
  /** Name of its credential in the vault. */
  credential_ref: text,
  consent: v.nullable(grantShape),
  /** Raised by each revocation: what holds an older number is refused at its next boundary. */
  consent_fence: count,
  /** The job that occupies its capacity; null when it is free (C-036). */
  active_job_id: v.nullable(text),
  /** Raised by each reservation, kept by everything else. */
  active_fence: count,
  created_at: iso,
  updated_at: iso,
})
export type Connection = v.InferOutput<typeof connectionShape>
export const connectionsByOwner: Index<Connection> = {
  name: 'owner', parts: 1, keysOf: ({ owner }) => [[owner]],
}
/** Connections by the end of their ids. */
export const connectionsByTail = byTail<Connection>(({ connection_id: id }) => id)

/** Connections by id. People make them one by one: a few, never a history. */
export const connectionCollection: CollectionSpec<Connection> = {
  name: 'connections', schema: connectionShape, partition: 'one',
  indexes: [connectionsByOwner, connectionsByTail],
}
