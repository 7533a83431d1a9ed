import * as v from 'valibot'
import type { LedgerFacts } from '../governance/ledger/facts.js'
import { ledgerReasons } from '../governance/ledger/reasons.js'
import {
  alphaCapability, alphaCredentialRef, alphaProfile, alphaRuntime, type AlphaProvider,
} from './constants.js'
import { plaintextStatement } from './consent-text.js'
import type { PolicyBlock } from '../governance/policy/standing.js'
import type { AlphaTextSetup } from './setup.js'

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

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** The `alpha_text` member of a configuration read: closed, fields are only ever added. */
export const alphaProjectionShape = v.strictObject({
  capability: v.literal(alphaCapability),
  enabled: v.boolean(),
  profile_id: v.literal(alphaProfile),
  model_id: v.string(),
  api_base: v.string(),
  runtime: v.literal(alphaRuntime),
  max_output_tokens: count,
  timeout_seconds: v.pipe(v.number(), v.finite()),
  request_cost_bound_microusd: count,
  spend_ceiling_microusd: count,
  /** Ceiling of the one deployment ledger; null when there is not exactly one. */
  shared_ceiling_microusd: v.nullable(count),
  credential_ref: v.literal(alphaCredentialRef),
  key_present: v.boolean(),
  credential_fingerprint: v.nullable(v.string()),
  plaintext_egress_consent_revision: v.nullable(count),
  consent_current: v.boolean(),
  status: v.picklist(alphaStatuses),
  reason_code: v.nullable(v.picklist(Object.keys(alphaReasons) as AlphaReasonCode[])),
  reason: v.nullable(v.string()),
  tls_transport: v.literal(true),
  tee_verified: v.literal(false),
  e2ee: v.literal(false),
  provider_sees_plaintext: v.literal(true),
  plaintext_statement: v.literal(plaintextStatement),
})

/** What `alpha show --json` prints. */
export const alphaShowShape = v.strictObject({
  alpha_text: v.nullable(alphaProjectionShape),
  policy_revision: count,
})
export type AlphaShow = v.InferOutput<typeof alphaShowShape>

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

/** The configuration read. Without a setup it is null. */
export const projectAlpha = (facts: AlphaFacts): AlphaShow => {
  const { setup } = facts
  if (setup === null) return { alpha_text: null, policy_revision: facts.policy.revision }
  const code = alphaReasonOf(facts, setup)
  return {
    alpha_text: {
      capability: alphaCapability,
      enabled: setup.enabled,
      profile_id: alphaProfile,
      model_id: facts.provider.model_id,
      api_base: facts.provider.base_url,
      runtime: alphaRuntime,
      max_output_tokens: setup.max_output_tokens,
      timeout_seconds: setup.timeout_seconds,
      request_cost_bound_microusd: setup.request_cost_bound_microusd,
      spend_ceiling_microusd: setup.spend_ceiling_microusd,
      shared_ceiling_microusd: facts.account.ok ? facts.account.ceilingMicrousd : null,
      credential_ref: alphaCredentialRef,
      key_present: facts.key.present,
      credential_fingerprint: facts.key.fingerprint,
      plaintext_egress_consent_revision: setup.plaintext_egress_consent_revision,
      consent_current: isConsentCurrent(facts),
      status: code === null ? 'configured' : alphaReasons[code].status,
      reason_code: code,
      reason: code === null ? null : alphaReasons[code].text,
      tls_transport: true,
      tee_verified: false,
      e2ee: false,
      provider_sees_plaintext: true,
      plaintext_statement: plaintextStatement,
    },
    policy_revision: facts.policy.revision,
  }
}
