/**
 * How a finite consent stands, by one rule for settings, listings and every boundary at which
 * something may be written. Pure over rows of one moment (C-011, C-086).
 */
import { canonicalJson, sha256Hex } from '../../base/canonical.js'
import { msFromIso } from '../../base/clock.js'
import type { Connection, Grant } from './connection-rows.js'

/** Longest life of a consent, milliseconds (C-043). */
export const grantMsMax = 3_600_000

/**
 * `issued`: it authorizes; `expired`: by the clock alone; `revoked`: by an act that meant it, or
 * every route; `stopped`: its session ended, or the connection was saved anew or left `active`.
 */
export type GrantState = 'issued' | 'expired' | 'revoked' | 'stopped'

/** What a consent is judged on besides its row. */
export interface GrantMoment {
  readonly nowMs: number
  /** The newest policy revision that revoked every route. */
  readonly policyFence: number
  /** Whether a session is live now, idleness included. */
  readonly isLive: (rootId: string) => boolean
  /** Whether a stop is in force that covers what is written through the connection. */
  readonly isStopped: boolean
}

type Unbound = Omit<Grant, 'binding_sha256' | 'ended'>

/** Digest that ties every value of a consent to its connection. */
export const bindingOf = (connectionId: string, grant: Unbound): string => {
  const { consent_id, owner, root, repository, repository_id, actions } = grant
  const { issued_at, expires_at, revision, policy_fence, author, statement_sha256 } = grant
  return sha256Hex(canonicalJson({
    connection_id: connectionId, consent_id, owner, root, repository, repository_id, actions,
    issued_at, expires_at, revision, policy_fence, statement_sha256,
    ...(author === undefined ? {} : { author }),
  }))
}

/** Whether the consent is of the connection as it is: nothing of either was saved since. */
const isOfThis = (connection: Connection, grant: Grant): boolean =>
  connection.mode === 'active' && connection.revision === grant.revision
  && connection.repository === grant.repository
  && connection.repository_id === grant.repository_id
  && grant.binding_sha256 === bindingOf(connection.connection_id, grant)

/** How the consent of a connection stands; null where there never was one. */
export const grantState = (
  connection: Connection, { nowMs, policyFence, isLive, isStopped }: GrantMoment,
): GrantState | null => {
  const grant = connection.consent
  if (grant === null) return null
  if (grant.ended?.as === 'revoked' || policyFence > grant.policy_fence) return 'revoked'
  if (grant.ended === null && isStopped) return 'revoked'
  if (grant.ended !== null) return 'stopped'
  if (nowMs >= msFromIso(grant.expires_at)) return 'expired'
  return isOfThis(connection, grant) && isLive(grant.root) ? 'issued' : 'stopped'
}
