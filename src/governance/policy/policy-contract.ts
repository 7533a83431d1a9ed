/** What goes in and comes out of the operations on the one policy. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject, strictInteger } from '../../base/schema.js'
import type { Consent, PolicyRevision } from '../rows.js'
import { underWayError } from '../stops/act.js'
import { requestsDocument, requestsShape } from '../stops/requests.js'
import type { Revoked } from './revoke.js'
import type { PolicyStatus } from './policy-status.js'

const policyShape = v.strictObject({
  revision: v.number(),
  state: v.picklist(['active', 'revoked']),
  reason: v.string(),
  epoch: v.number(),
  fence: v.number(),
  published_at: v.string(),
  principal: v.nullable(v.string()),
  consents: v.array(v.strictObject({ consent_id: v.string(), purpose: v.string() })),
})
type PolicyDocument = v.InferOutput<typeof policyShape>

const policyDocument = (policy: PolicyRevision): PolicyDocument => ({
  revision: policy.revision,
  state: policy.state,
  reason: policy.reason,
  epoch: policy.epoch,
  fence: policy.fence,
  published_at: policy.published_at,
  principal: policy.principal,
  consents: policy.consents,
})

const standingShape = v.strictObject({
  policy: policyShape,
  usable: v.boolean(),
  block: v.nullable(v.string()),
  witness: v.string(),
  consents: v.array(v.strictObject({
    consent_id: v.string(), route: v.string(), purpose: v.string(), state: v.string(),
    granted_revision: v.number(), bound_revision: v.number(), current: v.boolean(),
    granted_at: v.string(), expires_at: v.nullable(v.string()),
  })),
})
/** A consent and whether it is the current one of its purpose. */
interface StandingConsent {
  readonly consent: Consent
  readonly current: boolean
}

/** How the policy stands, with every consent. */
export interface PolicyShow {
  readonly standing: PolicyStatus
  readonly consents: readonly StandingConsent[]
}

export const policyShow = contract({
  name: 'policy.show',
  output: standingShape,
  toDocument: ({ standing, consents }: PolicyShow) => ({
    policy: policyDocument(standing.head),
    usable: standing.usable,
    block: standing.block,
    witness: standing.witness,
    consents: consents.map(({ consent, current }) => ({
      consent_id: consent.consent_id,
      route: consent.route,
      purpose: consent.purpose,
      state: consent.state,
      granted_revision: consent.granted_revision,
      bound_revision: consent.bound_revision,
      current,
      granted_at: consent.granted_at,
      expires_at: consent.expires_at,
    })),
  }),
})

const revokedShape = v.strictObject({
  state: v.literal('revoked'),
  stop_id: v.string(),
  /** False where the state takes no record now: in force all the same, recorded by who can. */
  recorded: v.boolean(),
  /** Code of what keeps it from being recorded. */
  waits_for: v.nullable(v.string()),
  revision: v.nullable(v.number()),
  epoch: v.nullable(v.number()),
  fence: v.nullable(v.number()),
  /** Requests of which something had left before; no more of them leaves. */
  requests: requestsShape,
  /** Processes that did not answer and may still send when they wake. */
  under_way: v.array(v.strictObject({
    operation_id: v.string(), task_id: v.nullable(v.string()), pid: v.nullable(v.number()),
  })),
})
/** What a revoke stopped, and what had left before. */
export type PolicyRevokedDocument = v.InferOutput<typeof revokedShape>

/** Stopping every route. A process that does not answer makes it a failure. */
export const policyRevoke = contract({
  name: 'policy.revoke',
  output: revokedShape,
  toDocument: ({ stop, policy, why, reached }: Revoked) => ({
    state: 'revoked' as const,
    stop_id: stop.id,
    recorded: why === null,
    waits_for: why?.code ?? null,
    revision: policy?.revision ?? null,
    epoch: policy?.epoch ?? null,
    fence: policy?.fence ?? null,
    requests: requestsDocument(reached.sent),
    under_way: reached.underWay.map(({ operation, task, pid }) => ({
      operation_id: operation, task_id: task, pid: pid === 0 ? null : pid,
    })),
  }),
  failure: ({ reached: { underWay: [silent] }, stop }) =>
    (silent === undefined ? null : underWayError(silent, stop)),
})

/** The published revisions, newest first. */
export const policyHistory = contract({
  name: 'policy.history',
  input: closedObject({
    limit: strictInteger(1, 100_000),
    after: v.optional(strictInteger(1, Number.MAX_SAFE_INTEGER)),
  }),
  output: v.array(policyShape),
  toDocument: (revisions: readonly PolicyRevision[]) => revisions.map(policyDocument),
})
