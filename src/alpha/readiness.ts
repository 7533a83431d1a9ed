/**
 * Whether the route may be used now: the facts of one view, the reasons in their order, and the
 * demand that a use case makes of them. Nothing is asked of the provider.
 */
import { fail, type SallyportError } from '../base/errors.js'
import type { Gov } from '../governance/context.js'
import { ledgerFacts, type LedgerFacts } from '../governance/ledger/facts.js'
import { ledgerReasons } from '../governance/ledger/reasons.js'
import { currentConsent } from '../governance/policy/consents.js'
import { policyStanding, type PolicyBlock } from '../governance/policy/standing.js'
import { presence } from '../governance/vault.js'
import type { View } from '../state/types.js'
import { alphaCredentialRef, alphaPurpose, type AlphaProvider } from './constants.js'
import type { AlphaContext } from './context.js'
import { alphaSetupCollection, type AlphaTextSetup } from './setup.js'

/**
 * Reasons, most telling first: the first that holds is shown. Each has its status and a sentence
 * with what to do. The list is closed; scripts match the names.
 */
export const alphaReasons = {
  route_disabled: {
    status: 'disabled',
    text: 'The route is disabled. Enable it with `sallyport alpha setup --enable`.',
  },
  key_missing: {
    status: 'configuration_required',
    text: 'No provider key is stored. Store one with `sallyport alpha setup --api-key-file F`.',
  },
  store_behind_anchor: {
    status: 'blocked',
    text: 'The state directory is not the newest of its kind. See `sallyport state check`.',
  },
  witness_mismatch: {
    status: 'blocked',
    text: 'The policy and its witness disagree. See `sallyport state check`.',
  },
  fixed_route_mismatch: {
    status: 'blocked',
    text: 'The stored provider or model is not the sealed one. Save the setup anew.',
  },
  credential_mismatch: {
    status: 'blocked',
    text: 'The stored key is not the one that was saved with this setup. Save the key anew.',
  },
  save_in_progress: {
    status: 'blocked',
    text: 'A save of the model configuration is under way. Look again when it has ended.',
  },
  save_interrupted: {
    status: 'blocked',
    text: 'A save was interrupted and rolled back. Save the setup anew to activate it.',
  },
  policy_revoked: {
    status: 'blocked',
    text: 'The policy is revoked for every route. Grant anew with `sallyport alpha setup --enable'
      + ' --acknowledge-plaintext-egress`.',
  },
  consent_not_current: {
    status: 'blocked',
    text: 'The consent is not current. Grant anew with `sallyport alpha setup --enable'
      + ' --acknowledge-plaintext-egress`.',
  },
  ...ledgerReasons('setup'),
} as const

/** Name of a reason why the route is not `configured`. */
export type AlphaReasonCode = keyof typeof alphaReasons

/** The four statuses there are. */
export const alphaStatuses = [
  'disabled', 'configuration_required', 'blocked', 'configured',
] as const
export type AlphaStatus = (typeof alphaStatuses)[number]

/** Facts of one consistent view; nothing here is asked of the provider. */
export interface AlphaFacts {
  readonly setup: AlphaTextSetup | null
  /** Sealed provider of the deployment profile. */
  readonly provider: AlphaProvider
  /** The vault's own answer under the capability's credential name. */
  readonly key: { readonly present: boolean; readonly fingerprint: string | null }
  /** Head of the policy, and why it forbids contact as judged with witness and anchor. */
  readonly policy: { readonly revision: number; readonly block: PolicyBlock }
  /** The purpose consent is granted, unexpired and bound to the head revision. */
  readonly consentCurrent: boolean
  readonly account: LedgerFacts
}

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

/** Whether the consent is bound to the active, witnessed policy of a current store. */
export const isConsentCurrent = (facts: AlphaFacts): boolean =>
  facts.consentCurrent && facts.policy.block === null

/**
 * The first reason why the route may not contact its provider, or null when key, consent and
 * accounting are ready; null promises nothing about the provider.
 */
export const alphaReasonOf = (facts: AlphaFacts, setup: AlphaTextSetup): AlphaReasonCode | null => {
  if (!setup.enabled) return 'route_disabled'
  if (!facts.key.present) return 'key_missing'
  const { block } = facts.policy
  if (block === 'store_behind_anchor' || block === 'witness_mismatch') return block
  const { provider } = facts
  if (setup.model_id !== provider.model_id || setup.api_base !== provider.base_url) {
    return 'fixed_route_mismatch'
  }
  if (setup.credential_fingerprint !== facts.key.fingerprint) return 'credential_mismatch'
  if (block !== null) return block
  if (!facts.consentCurrent) return 'consent_not_current'
  return ledgerReason(facts.account, setup)
}

const ledgerReason = (account: LedgerFacts, setup: AlphaTextSetup): AlphaReasonCode | null => {
  if (!account.ok) return account.problem
  if (account.ceilingMicrousd < 1) return 'ceiling_not_positive'
  if (account.ceilingMicrousd !== setup.spend_ceiling_microusd) return 'ceiling_mismatch'
  const above = setup.request_cost_bound_microusd > account.ceilingMicrousd
  return above ? 'request_bound_above_ceiling' : null
}

/** Reasons that the operator's own consent or switch can mend: exit 4, the others need a look. */
const consentReasons = new Set<AlphaReasonCode>([
  'route_disabled', 'policy_revoked', 'save_interrupted', 'save_in_progress',
  'consent_not_current',
])

const refusal = (reason: AlphaReasonCode): SallyportError => {
  const make = consentReasons.has(reason) ? fail.unauthorized : fail.blocked
  return make('alpha_not_configured', 'The text capability may not be used now.', {
    reason, next: alphaReasons[reason].text,
  })
}

/** The setup, if the route's status is `configured`; else throws with the read's reason. */
export const requireConfigured = (ctx: AlphaContext, view: View): AlphaTextSetup => {
  const facts = alphaFacts(ctx.gov, view, ctx.provider)
  if (facts.setup === null) {
    throw fail.unauthorized('alpha_not_set_up', 'The text capability is not set up.', {
      reason: 'not_set_up', next: 'Run: sallyport alpha setup',
    })
  }
  const reason = alphaReasonOf(facts, facts.setup)
  if (reason !== null) throw refusal(reason)
  return facts.setup
}
