/**
 * Saving a connection, in the caller's record: a new one, another credential, another repository,
 * or a finite consent. Every save is a compare-and-set on the revision and produces the next one; a
 * consent is written by none but the save that issues it (C-002, C-033).
 */
import { isoFromMs, msFromIso } from '../../base/clock.js'
import { fail } from '../../base/errors.js'
import { newId } from '../../base/ids.js'
import type { Tx } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import { policyHead } from '../policy/head.js'
import { requireDefaultPrincipal } from '../principals.js'
import { noteNamed } from '../session/named.js'
import type { Session } from '../context.js'
import { putCredential, removeCredential, vaultDigest, type SealedCredential } from '../vault.js'
import { bindingOf, grantMsMax } from './grant.js'
import { endGrant } from './end-consent.js'
import { requireFree, requireOwnConnection, requireRevision } from './find-connection.js'
import {
  connectionCollection, type Author, type Connection, type ConnectionMode, type Grant,
} from './connection-rows.js'

const by = ({ principal, root }: Session) =>
  ({ principal: principal.principal_id, root: root.root_id })

/** What somebody saved, and the stored name of a credential that it replaced. */
export interface SavedConnection {
  readonly connection: Connection
  readonly replaced: string | null
}

/** A new connection. Its credential is sealed by then, under `credentialRefOf(connectionId)`. */
interface NewConnection {
  readonly connectionId: string
  readonly repository: string
  readonly mode: Exclude<ConnectionMode, 'active'>
  readonly credential: SealedCredential
}

/** Vault name of a connection's credential. */
export const credentialRefOf = (connectionId: string): string =>
  `vault:connection_${connectionId.replace(/^cnn_/, '').replaceAll('-', '_')}`

/** Writes a new connection without any consent (C-005). */
export const addConnection = (
  tx: Tx, now: string, session: Session, made: NewConnection,
): SavedConnection => {
  const { connectionId, repository, mode, credential } = made
  const owner = session.principal.principal_id
  const connection: Connection = {
    connection_id: connectionId, owner, repository, repository_id: null, revision: 1, mode,
    credential_ref: credential.credential_ref, consent: null, consent_fence: 0,
    active_job_id: null, active_fence: 0, created_at: now, updated_at: now,
  }
  const replaced = putCredential(tx, now, credential, { owner, name: repository })
  tx.put(connectionCollection, connectionId, connection)
  appendAudit(tx, now, {
    what: 'connection.added', ...by(session), subject: connectionId, facts: { repository, mode },
  })
  return { connection, replaced }
}

interface ConnectionChange {
  readonly connectionId: string
  readonly expectedRevision: number
  /** `OWNER/NAME`; left out: as it is. */
  readonly repository?: string | undefined
  readonly credential?: SealedCredential | undefined
  readonly mode?: Exclude<ConnectionMode, 'active'> | undefined
}

/**
 * Saves another credential, repository or mode. Whatever consent there was has ended with it, for a
 * credential never extends or transfers one (C-045); another repository waits until no job occupies
 * the connection, another credential does not. The record is marked by the stop that it spends.
 * Throws `not_found`, `conflict` (`stale_connection_revision`, `capacity_reserved`).
 */
export const changeConnection = (
  tx: Tx, now: string, session: Session, change: ConnectionChange,
): SavedConnection => {
  const before = requireOwnConnection(tx, session, change.connectionId)
  requireRevision(before, change.expectedRevision)
  const { repository = before.repository, credential, mode } = change
  if (repository !== before.repository) requireFree(before)
  const narrower = before.mode === 'active' ? 'disabled' : before.mode
  const connection: Connection = {
    ...endGrant(before, now, 'stopped'),
    repository, repository_id: repository === before.repository ? before.repository_id : null,
    mode: mode ?? narrower, revision: before.revision + 1, updated_at: now,
  }
  const replaced = credential === undefined
    ? null : putCredential(tx, now, credential, { owner: before.owner, name: repository })
  tx.put(connectionCollection, before.connection_id, connection)
  appendAudit(tx, now, {
    what: 'connection.changed', ...by(session), subject: before.connection_id,
    facts: { revision: connection.revision, credential: credential !== undefined, repository },
  })
  return { connection, replaced }
}

/**
 * Takes the token out of the vault and leaves the row, without a consent and without the number of
 * its repository: whoever connects again has another token, and the host is asked anew. Throws
 * `not_found`, `conflict` `capacity_reserved`.
 */
export const disconnectConnection = (
  tx: Tx, now: string, session: Session, connectionId: string,
): SavedConnection => {
  const before = requireOwnConnection(tx, session, connectionId)
  requireFree(before)
  const replaced = removeCredential(tx, before.credential_ref)
  if (replaced === null) return { connection: before, replaced }
  const connection: Connection = {
    ...endGrant(before, now, 'stopped'), repository_id: null, mode: 'disabled',
    revision: before.revision + 1, updated_at: now,
  }
  tx.mark()
  tx.put(connectionCollection, connectionId, connection)
  appendAudit(tx, now, {
    what: 'connection.disconnected', ...by(session), subject: connectionId,
    facts: { revision: connection.revision },
  })
  return { connection, replaced }
}

/** A consent as a person asks for it, and what the host said while they did. */
interface GrantRequest {
  readonly connectionId: string
  readonly expectedRevision: number
  /** Checked by the capability: known, each once, at least one. */
  readonly actions: readonly string[]
  readonly durationMs: number
  readonly statementSha256: string
  /** What the host was asked with: another credential by now is not what was shown. */
  readonly vaultDigest: string
  /** The number that the host gives the repository. */
  readonly repositoryId: number
  /** Whose the credential is; null where the host does not tell. */
  readonly author: Author | null
  /** Fence of the policy when it was asked for: a revoke of every route since then ends it, too. */
  readonly policyFence: number
}

const requireUnchanged = (tx: Tx, connection: Connection, request: GrantRequest): void => {
  if (policyHead(tx).fence !== request.policyFence) {
    throw fail.unauthorized('policy_revoked', 'Every route was revoked while this was asked for.', {
      reason: 'policy_revoked', next: 'Nothing was granted. Run it again if it is still meant.',
    })
  }
  if (vaultDigest(tx, connection.credential_ref) !== request.vaultDigest) {
    throw fail.conflict(
      'credential_changed', 'The connection has another credential than the host was asked with.',
      { next: 'Nothing was granted. Run it again.' },
    )
  }
  const { repository_id: known } = connection
  if (known === null || known === request.repositoryId) return
  throw fail.blocked(
    'repository_replaced', 'Another repository has taken the place of the one of this connection.',
    {
      next: 'If it is meant, save it anew: `sallyport codehost connect --repo '
        + `${connection.repository} --token-file F\`.`,
      details: { repository_id: known },
    },
  )
}

/**
 * Issues a consent and makes the connection active, in one save. It ends at the latest with the
 * session that gave it. Throws `unauthorized`, `not_found`, `conflict`, `blocked`.
 */
export const issueGrant = (
  tx: Tx, now: string, session: Session, request: GrantRequest,
): Connection => {
  requireDefaultPrincipal(tx, session)
  const before = requireOwnConnection(tx, session, request.connectionId)
  requireRevision(before, request.expectedRevision)
  requireFree(before)
  requireUnchanged(tx, before, request)
  const nowMs = msFromIso(now)
  const lifeMs = Math.min(request.durationMs, grantMsMax)
  const ends = Math.min(nowMs + lifeMs, msFromIso(session.root.expires_at))
  const revision = before.revision + 1
  const unbound: Omit<Grant, 'binding_sha256' | 'ended'> = {
    consent_id: newId('con'), owner: session.principal.principal_id, root: session.root.root_id,
    repository: before.repository, repository_id: request.repositoryId,
    actions: [...request.actions], issued_at: now, expires_at: isoFromMs(ends), revision,
    policy_fence: policyHead(tx).fence, author: request.author,
    statement_sha256: request.statementSha256,
  }
  const connection: Connection = {
    ...endGrant(before, now, 'stopped'),
    repository_id: request.repositoryId, mode: 'active', revision, updated_at: now,
    consent: { ...unbound, binding_sha256: bindingOf(before.connection_id, unbound), ended: null },
  }
  tx.mark()
  noteNamed(tx, unbound.root)
  tx.put(connectionCollection, before.connection_id, connection)
  appendAudit(tx, now, {
    what: 'connection.consent_issued', ...by(session), subject: before.connection_id,
    facts: {
      consent: unbound.consent_id, actions: unbound.actions.join(' '), revision,
      expires_at: unbound.expires_at,
    },
  })
  return connection
}
