import * as v from 'valibot'
import { collections, type PolicyRevision } from '../../../governance/rows.js'
import type { View } from '../../../state/types.js'

/** A published policy revision in JSON output. */
export const policyFactsShape = v.strictObject({
  revision: v.number(),
  state: v.picklist(['active', 'revoked']),
  reason: v.string(),
  epoch: v.number(),
  fence: v.number(),
  published_at: v.string(),
  principal: v.nullable(v.string()),
  consents: v.array(v.strictObject({ consent_id: v.string(), purpose: v.string() })),
})
/** A published policy revision. */
export type PolicyFacts = v.InferOutput<typeof policyFactsShape>

/** A revision as scripts see it. */
export const policyFacts = (policy: PolicyRevision): PolicyFacts => ({
  revision: policy.revision,
  state: policy.state,
  reason: policy.reason,
  epoch: policy.epoch,
  fence: policy.fence,
  published_at: policy.published_at,
  principal: policy.principal,
  consents: policy.consents,
})

/** Every published revision, newest first. */
export const policyHistory = (view: View): PolicyFacts[] =>
  view.all(collections.policy).map(({ doc }) => policyFacts(doc)).reverse()
