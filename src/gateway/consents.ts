import type { Moment } from '../governance/judge/moment.js'
import { consentLapse, latestConsent, type ConsentLapse } from '../governance/policy/consents.js'
import type { Consent } from '../governance/rows.js'
import { egressStatement, purposeStatement } from './consent-text.js'
import { egressPurpose, gatewayRouteName, slotOfPurpose, type GatewayPurpose } from './constants.js'
import type { GatewayRoute } from './setup.js'

/** The newest consent of a purpose, and why it authorizes nothing now; null while it does. */
export interface StandingConsent {
  readonly newest: Consent | undefined
  readonly lapse: ConsentLapse | null
}

/** Answers how purposes are consented to at one moment. */
interface ConsentReader {
  /** The acknowledgment of cloud egress, to the very text of this route. */
  egress(): StandingConsent
  /** The consent to a purpose, to the very text of its slot as it is set up now. */
  purpose(purpose: GatewayPurpose): StandingConsent
}

/**
 * Consents of the route at one moment. A consent counts only while governance calls it current
 * (granted, unexpired, bound to the active witnessed revision) and it was given to exactly the
 * words that the stored route would show today.
 */
export const gatewayConsents = (
  { view, nowMs, policy }: Moment, route: GatewayRoute | null,
): ConsentReader => {
  const standing = (purpose: string, sha256: string | null): StandingConsent => {
    const newest = latestConsent(view, purpose)
    const isToThisText = newest?.route === gatewayRouteName && newest.statement_sha256 === sha256
    const lapse = isToThisText ? consentLapse(view, policy, newest, nowMs) : 'not_current'
    return { newest, lapse: lapse === null && !policy.usable ? 'not_current' : lapse }
  }
  return {
    egress: () =>
      standing(egressPurpose, route === null ? null : egressStatement(route).sha256),
    purpose: (purpose) => {
      const slot = route?.slots[slotOfPurpose[purpose]] ?? null
      return standing(purpose, slot === null ? null : purposeStatement(purpose, slot).sha256)
    },
  }
}
