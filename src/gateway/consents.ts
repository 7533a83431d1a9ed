import type { Moment } from '../governance/judge/moment.js'
import { currentConsent } from '../governance/policy/consents.js'
import type { Consent } from '../governance/rows.js'
import { egressStatement, purposeStatement } from './consent-text.js'
import { egressPurpose, slotOfPurpose, type GatewayPurpose } from './constants.js'
import type { GatewayRoute } from './setup.js'

/** Answers whether purposes are consented to at one moment. */
export interface ConsentReader {
  /** The current acknowledgment of cloud egress, to the very text of this route. */
  egress(): Consent | undefined
  /** The current consent to a purpose, to the very text of its slot as it is set up now. */
  purpose(purpose: GatewayPurpose): Consent | undefined
}

const toThisText = (consent: Consent | undefined, sha256: string): Consent | undefined =>
  consent?.route === 'gateway' && consent.statement_sha256 === sha256 ? consent : undefined

/**
 * Consents of the route at one moment. A consent counts only while governance calls it current
 * (granted, unexpired, bound to the active witnessed revision) and it was given to exactly the
 * words that the stored route would show today.
 */
export const gatewayConsents = (
  { view, nowMs, policy }: Moment, route: GatewayRoute,
): ConsentReader => {
  return {
    egress: () => toThisText(
      currentConsent(view, policy, egressPurpose, nowMs), egressStatement(route).sha256,
    ),
    purpose: (purpose) => {
      const slot = route.slots[slotOfPurpose[purpose]]
      if (slot === null) return undefined
      return toThisText(
        currentConsent(view, policy, purpose, nowMs), purposeStatement(purpose, slot).sha256,
      )
    },
  }
}
