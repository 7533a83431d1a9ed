import { collections } from '../rows.js'
import type { Gov } from '../context.js'
import { currentConsent } from './consents.js'
import type { PolicyShow } from './policy-contract.js'
import { policyStatus } from './policy-status.js'

/** Reads how the policy stands, and of every consent whether it is current. Changes nothing. */
export const showPolicy = (gov: Gov): PolicyShow => {
  const view = gov.store.read()
  const standing = policyStatus(gov.store, view)
  const now = gov.clock.wallMs()
  return {
    standing,
    consents: view.all(collections.consents).map(({ doc: consent }) => ({
      consent,
      current: currentConsent(view, standing, consent.purpose, now)?.consent_id
        === consent.consent_id,
    })),
  }
}
