/**
 * Issuing a finite consent: the repository is read first, so that what is consented to is the one
 * that the host has there now, by its number; then the exact words are acknowledged; then one save
 * writes it (C-030, C-046, C-162, C-163).
 */
import { fail } from '../base/errors.js'
import {
  requireFree, requireOwnConnection, requireRevision, standingConnection, type StandingConnection,
} from '../governance/connections/find-connection.js'
import { issueGrant } from '../governance/connections/save.js'
import { requireDefaultPrincipal } from '../governance/principals.js'
import { nowIso, type Session } from '../governance/context.js'
import { liveSession } from '../governance/session/live.js'
import { afterRead } from './after-read.js'
import { requireActions } from './actions.js'
import { lookAtRepository, type Look } from './adapter/look.js'
import { codehostStatement, type CodehostStatement } from './consent-text.js'
import { codehostLimits, type CodehostAction } from './constants.js'
import type { CodehostContext } from './context.js'

/** What somebody wants to allow. */
interface ConsentWish {
  readonly connectionId: string
  readonly expectedRevision: number
  readonly actions: readonly string[]
  readonly durationMs: number
  /** Whether the words are acknowledged already, or somebody is there who can do so. */
  readonly canAcknowledge: boolean
}

/** A consent that was prepared: nothing is allowed before it is issued. */
export interface PreparedConsent {
  readonly wish: Omit<ConsentWish, 'actions'> & { readonly actions: readonly CodehostAction[] }
  readonly look: Look
  readonly statement: CodehostStatement
}

const requireAcknowledged = (acknowledged: boolean): void => {
  if (acknowledged) return
  throw fail.rejected('acknowledgment_required', 'Writes need the acknowledgment of their text.', {
    next: 'Read docs/codehost.md, then repeat with --acknowledge.',
  })
}

const requireDuration = (durationMs: number): void => {
  const { grantMsMin, grantMsMax } = codehostLimits
  if (durationMs >= grantMsMin && durationMs <= grantMsMax) return
  throw fail.rejected('consent_duration', 'A consent lasts 1 minute to 1 hour.', {
    details: { ms_min: grantMsMin, ms_max: grantMsMax },
  })
}

/**
 * Checks the wish, then asks the host what it would be about. Throws `rejected`, `unauthorized`
 * `not_default_principal`, `not_found`, `conflict`, and what the read throws.
 */
export const prepareConsent = async (
  ctx: CodehostContext, session: Session, wish: ConsentWish,
): Promise<PreparedConsent> => {
  const actions = requireActions(wish.actions)
  requireDuration(wish.durationMs)
  requireAcknowledged(wish.canAcknowledge)
  const view = ctx.gov.store.read()
  requireDefaultPrincipal(view, session)
  const connection = requireOwnConnection(view, session, wish.connectionId)
  requireRevision(connection, wish.expectedRevision)
  requireFree(connection)
  const look = await lookAtRepository(ctx, session, wish.connectionId)
  const statement = codehostStatement({
    host: ctx.baseUrl, repository: connection.repository, repositoryId: look.repository.id,
    actions, durationMs: wish.durationMs,
  })
  return { wish: { ...wish, actions }, look, statement }
}

/**
 * Issues the consent that was prepared. Throws `rejected` `acknowledgment_required`, and where
 * anything changed since it was prepared `blocked` or `unauthorized`.
 */
export const issueConsent = async (
  { gov }: CodehostContext, session: Session, prepared: PreparedConsent, acknowledged: boolean,
): Promise<StandingConnection> => {
  requireAcknowledged(acknowledged)
  const { wish, look, statement } = prepared
  try {
    await gov.store.transact('codehost consent', (tx) => {
      const current = liveSession(tx, gov, session.root.root_id)
      issueGrant(tx, nowIso(gov), current, {
        connectionId: wish.connectionId, expectedRevision: wish.expectedRevision,
        actions: wish.actions, durationMs: wish.durationMs, statementSha256: statement.sha256,
        vaultDigest: look.bound.vaultDigest, repositoryId: look.repository.id,
        policyFence: look.policyFence, author: look.author,
      })
    })
  } catch (error) {
    throw afterRead(error)
  }
  return standingConnection(gov, session, wish.connectionId)
}
