import type { Gov } from '../governance/context.js'
import { ledgerFacts } from '../governance/ledger/facts.js'
import { currentConsent } from '../governance/policy/consents.js'
import { policyStanding } from '../governance/policy/standing.js'
import { presence } from '../governance/vault.js'
import type { View } from '../state/types.js'
import { alphaCredentialRef, alphaPurpose, type AlphaProvider } from './constants.js'
import type { AlphaFacts } from './projection.js'
import { alphaSetupCollection } from './setup.js'

/** Everything that the status of the route depends on, out of one view; contacts nobody. */
export const alphaFacts = (gov: Gov, view: View, provider: AlphaProvider): AlphaFacts => {
  const setup = view.get(alphaSetupCollection, 'the') ?? null
  const standing = policyStanding(gov.store, view)
  const consent = currentConsent(view, standing, alphaPurpose, gov.clock.wallMs())
  const bound = setup?.plaintext_egress_consent_revision ?? null
  return {
    setup,
    provider,
    key: presence(view, alphaCredentialRef),
    policy: { revision: standing.head.revision, block: standing.block },
    consentCurrent: consent !== undefined && consent.granted_revision === bound,
    account: ledgerFacts(view),
  }
}
