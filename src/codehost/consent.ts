/**
 * Issuing a finite consent: the repository is read first, so that what is consented to is the one
 * that the host has there now, by its number; then the exact words are acknowledged; then one save
 * writes it (C-030, C-046, C-162, C-163).
 */
import { sha256Hex } from '../base/canonical.js'
import { durationText } from '../base/duration.js'
import { fail } from '../base/errors.js'
import {
  requireFree, requireOwnConnection, requireRevision, standingConnection, type StandingConnection,
} from '../governance/connections/read.js'
import { issueGrant } from '../governance/connections/save.js'
import { nowIso } from '../governance/context.js'
import { requireDefaultPrincipal } from '../governance/principals.js'
import { liveSession } from '../governance/session/live.js'
import type { Session } from '../governance/session/types.js'
import { requireActions } from './actions.js'
import { lookAtRepository, type Look } from './adapter/look.js'
import { afterRead } from './after-read.js'
import { actionTexts, codehostLimits, type CodehostAction } from './constants.js'
import type { CodehostContext } from './context.js'

/** Version of the wording; a change of one word is a new version. */
const codehostConsentVersion = 'codehost.finite-writes.v1'

/** The text with the digest that the consent's row keeps: SHA-256 of its UTF-8 bytes. */
interface CodehostStatement {
  readonly version: string
  readonly text: string
  readonly sha256: string
}

/** What the statement is about. */
interface StatementFacts {
  readonly host: string
  readonly repository: string
  readonly repositoryId: number
  readonly actions: readonly CodehostAction[]
  readonly durationMs: number
}

/** The exact text that is shown before the acknowledgment. */
const codehostStatement = (facts: StatementFacts): CodehostStatement => {
  const { host, repository, repositoryId, actions, durationMs } = facts
  const text = [
    `Consent to writes on ${host} (${codehostConsentVersion})`,
    '',
    `1. For ${durationText(durationMs)}, and never longer than this session, programs of this`,
    `   state may do this in ${repository} (number ${repositoryId}), and nothing else:`,
    ...actions.map((action) => `   - ${action}: ${actionTexts[action]}`),
    '2. Each job still needs its own approval of the exact effects that it names.',
    '3. What was written cannot be taken back from here. What may have been sent is never sent',
    '   again; where nobody knows, the connection stays occupied until that is settled.',
    '4. The host sees everything that is published. A new branch may start its automation.',
    '5. It ends at once with `sallyport codehost revoke`, with `sallyport policy revoke` and with',
    '   the session that gives it; a new session needs a new consent.',
    '',
  ].join('\n')
  return { version: codehostConsentVersion, text, sha256: sha256Hex(text) }
}

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
