/**
 * What takes a consent back: revoking it, leaving the mode `active`, a save of the connection. Each
 * raises the fence of the consent, so that work which holds an older one is refused at its next
 * boundary, and none touches what was contacted: reservation and liabilities stay (C-016, C-017).
 */
import type { Connection, ConnectionMode } from './connection-rows.js'

/** The connection without a consent that authorizes; its row keeps what was given, and its end. */
export const endGrant = (
  connection: Connection, now: string, as: 'revoked' | 'stopped',
): Connection => {
  const { consent } = connection
  if (consent === null || consent.ended !== null) return connection
  return {
    ...connection, consent: { ...consent, ended: { at: now, as } },
    consent_fence: connection.consent_fence + 1,
  }
}

const saved = (before: Connection, after: Connection, now: string): Connection =>
  (after === before ? before : { ...after, revision: before.revision + 1, updated_at: now })

/** Revokes; the same row where nothing authorizes (C-015, C-048). */
export const revokedConnection = (connection: Connection, now: string): Connection =>
  saved(connection, endGrant(connection, now, 'revoked'), now)

/** A mode that allows less than `active`; the same row where it is in that mode already. */
export const restrictedConnection = (
  connection: Connection, now: string, mode: Exclude<ConnectionMode, 'active'>,
): Connection => {
  if (connection.mode === mode) return connection
  return saved(connection, { ...endGrant(connection, now, 'stopped'), mode }, now)
}
