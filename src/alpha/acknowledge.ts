/**
 * An owner's own acknowledgment of the consent that another one gave. It lets that owner ask, and
 * nobody else; it publishes nothing and moves no binding.
 */
import { fail } from '../base/errors.js'
import { appendAudit } from '../governance/audit.js'
import { nowIso, type Gov, type Session } from '../governance/context.js'
import { momentOf } from '../governance/judge/moment.js'
import { acknowledgeConsent, latestConsent } from '../governance/policy/consents.js'
import { liveRoot } from '../governance/session/live.js'
import type { View } from '../state/types.js'
import { alphaConsentStatement } from './consent-text.js'
import { alphaPurpose, type AlphaProvider } from './constants.js'
import { projectAlpha, type AlphaShow } from './projection.js'
import { alphaFacts, alphaFactsAt, alphaWordsOf } from './readiness.js'

/** What an owner was shown before they acknowledged. */
interface Acknowledging {
  /** The consent that was current then; another one by now is not what was acknowledged. */
  readonly consentId: string | null
  /** Whether they did. */
  readonly acknowledged: boolean
}

/** The consent that could be acknowledged now; null without one. */
export const consentToAcknowledge = (view: View): string | null =>
  latestConsent(view, alphaPurpose)?.consent_id ?? null

const notCurrent = (next: string) =>
  fail.unauthorized('consent_not_current', 'There is no current consent to acknowledge.', {
    reason: 'consent_not_current', next,
  })

/**
 * Acknowledges the current consent for the owner of the session, in the words of today; a second
 * time changes nothing. Throws `rejected` `acknowledgment_required`, `unauthorized`
 * `consent_not_current`, `conflict` `consent_changed`.
 */
export const acknowledgeAlpha = async (
  gov: Gov, session: Session, provider: AlphaProvider, { consentId, acknowledged }: Acknowledging,
): Promise<AlphaShow> => {
  if (!acknowledged) {
    throw fail.rejected(
      'acknowledgment_required', 'Asking needs the acknowledgment of plaintext egress.',
      { next: 'Read the text, then repeat with --acknowledge.' },
    )
  }
  const owner = session.principal.principal_id
  const { sha256 } = alphaConsentStatement(provider)
  await gov.store.transact('alpha acknowledge', (tx) => {
    const now = nowIso(gov)
    liveRoot(tx, gov, session.root.root_id)
    const facts = alphaFactsAt(momentOf(gov, tx), provider, owner)
    const consent = latestConsent(tx, alphaPurpose)
    if (facts.lapse !== null || consent === undefined) {
      const lapsed = facts.lapse === 'giver_disabled' || facts.lapse === 'giver_missing'
      throw notCurrent(alphaWordsOf(
        lapsed ? `consent_${facts.lapse}` : 'consent_not_current', facts,
      ).text)
    }
    if (consent.consent_id !== consentId) {
      throw fail.conflict(
        'consent_changed', 'Another consent has taken the place of the one that was shown.',
        { next: 'Nothing was acknowledged. Read the text again and repeat.' },
      )
    }
    if (facts.acknowledged === true) return
    acknowledgeConsent(tx, now, consent, { owner, statementSha256: sha256 })
    appendAudit(tx, now, {
      what: 'alpha.acknowledged', principal: owner, root: session.root.root_id,
      subject: consent.consent_id, facts: { statement_sha256: sha256 },
    })
  })
  return projectAlpha(alphaFacts(gov, gov.store.read(), provider, owner))
}
