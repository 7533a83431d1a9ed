import * as v from 'valibot'
import { count } from '../../base/schema.js'
import { fail } from '../../base/errors.js'
import { provenanceShape, runtimeShape, type RouteName, type Runtime } from '../rows.js'

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(512))

const requestShape = v.strictObject({
  capability: text,
  principal: text,
  provenance: provenanceShape,
  resource: v.strictObject({
    runtime: runtimeShape, profile: text, provider: text,
    /** Left out where what is contacted is no model. */
    model: v.optional(text),
    url: text,
  }),
  authority: v.strictObject({
    root: text,
    goal_id: text,
    goal_revision: count,
    consent_id: text,
    /** Revision that the consent is bound to now. */
    consent_revision: count,
    policy_revision: count,
  }),
  task_id: text,
  job_id: text,
  operation_id: text,
  lease: v.strictObject({ holder: text, fence: count }),
  /** Full bound of the reservation, micro-USD; left out where nothing is paid for. */
  amount_microusd: v.optional(v.pipe(count, v.minValue(1))),
})
/**
 * The exact order that a preflight builds from canonical rows. The shape is closed: there is no
 * place in it for a decision id, an `allowed` flag or a capability proof.
 */
export type TrustRequest = v.InferOutput<typeof requestShape>

/** What is fixed for a route: constants of its capability and of the sealed profile. */
export interface FixedRoute {
  /** The native task kind. */
  readonly capability: string
  /** The consent purpose. */
  readonly purpose: string
  readonly runtime: Runtime
  /** The route whose consents count for it. */
  readonly route: RouteName
  readonly profile: string
  readonly provider: string
  readonly model?: string
  readonly url: string
  /**
   * SHA-256 of the text that every owner who asks has to have acknowledged; left out where whoever
   * consented stands for all.
   */
  readonly acknowledges?: string
  /** Whether a request of it is paid for and has to name its full bound. */
  readonly paid: boolean
}

/** The request in its closed shape. Throws `rejected` `trust_request_malformed`. */
export const parseTrustRequest = (value: unknown): TrustRequest => {
  const parsed = v.safeParse(requestShape, value)
  if (parsed.success) return parsed.output
  throw fail.rejected('trust_request_malformed', 'A trust request is not of its closed shape.')
}
