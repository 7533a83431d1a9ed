import * as v from 'valibot'
import { count } from '../base/schema.js'
import { nullableSentence } from '../base/told.js'
import { requestsShape } from '../governance/stops/requests.js'
import { alphaCapability, alphaCredentialRef, alphaProfile, alphaRuntime } from './constants.js'
import { plaintextStatement } from './consent-text.js'
import {
  alphaReasonOf, alphaReasons, alphaStatuses, alphaWordsOf, isConsentCurrent, type AlphaFacts,
  type AlphaReasonCode,
} from './readiness.js'

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
  /** Who gave the newest consent; null without one. */
  consent_giver: v.nullable(v.strictObject({
    principal_id: v.string(), name: v.nullable(v.string()), disabled: v.boolean(),
  })),
  /** Whether the owner who reads this has acknowledged that consent; null where nobody reads. */
  acknowledged: v.nullable(v.boolean()),
  status: v.picklist(alphaStatuses),
  reason_code: v.nullable(v.picklist(Object.keys(alphaReasons) as AlphaReasonCode[])),
  reason: nullableSentence,
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
  /** After a save: what had left before of what it closed. */
  requests: v.optional(requestsShape),
})
export type AlphaShow = v.InferOutput<typeof alphaShowShape>

/** The configuration read. Without a setup it is null. */
export const projectAlpha = (facts: AlphaFacts): AlphaShow => {
  const { setup } = facts
  if (setup === null) return { alpha_text: null, policy_revision: facts.policy.revision }
  const code = alphaReasonOf(facts, setup)
  const words = code === null ? null : alphaWordsOf(code, facts)
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
      consent_giver: facts.giver,
      acknowledged: facts.acknowledged,
      status: words?.status ?? 'configured',
      reason_code: code,
      reason: words?.text ?? null,
      tls_transport: true,
      tee_verified: false,
      e2ee: false,
      provider_sees_plaintext: true,
      plaintext_statement: plaintextStatement,
    },
    policy_revision: facts.policy.revision,
  }
}
