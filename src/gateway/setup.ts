/** The stored route and the shape of a save request; what a save changes is decided in plan.ts. */
import * as v from 'valibot'
import { fail } from '../base/errors.js'
import { closedObject, finiteNumber, parseClosed, strictInteger } from '../base/schema.js'
import type { CollectionSpec } from '../state/types.js'
import {
  gatewayCredentialRef, gatewayLimits as limits, gatewayPurposes, gatewaySchemas,
} from './constants.js'

const microusd = strictInteger(limits.microusdMin, limits.microusdMax)
const slugForm = /^[A-Za-z0-9][A-Za-z0-9._-]*(?:\/[A-Za-z0-9][A-Za-z0-9._-]*)?$/
const model = v.pipe(v.string(), v.minLength(1), v.maxLength(limits.modelCharsMax))
const slug = v.pipe(
  v.string('must be text'),
  v.maxLength(limits.upstreamCharsMax),
  v.regex(slugForm, 'must be an upstream slug: letters, digits, dots, dashes, one slash at most'),
)
const upstreams = v.pipe(
  v.array(slug),
  v.minLength(1),
  v.maxLength(limits.upstreamEntriesMax),
  v.check((list) => new Set(list).size === list.length, 'must not name an upstream twice'),
)

const slotShape = v.strictObject({
  /** Exactly `gateway/<provider>/<model>`. */
  model,
  /** Upstream slugs, sorted; sent as `provider.only`. */
  upstream_allow: upstreams,
  request_cost_bound_microusd: microusd,
  timeout_seconds: v.pipe(
    v.number(), v.finite(), v.minValue(limits.timeoutSecondsMin),
    v.maxValue(limits.timeoutSecondsMax),
  ),
})
export type SlotSetup = v.InferOutput<typeof slotShape>

/**
 * The stored route: closed. It holds no consent and no acknowledgment (those are rows of
 * governance), so a revocation leaves its bytes alone.
 */
const gatewayRouteShape = v.strictObject({
  schema_version: v.literal(gatewaySchemas.route),
  /** Given once, at the first save; no later save of any route changes it. */
  grant_id: v.pipe(v.string(), v.startsWith('grt_')),
  enabled: v.boolean(),
  api_base: v.pipe(v.string(), v.minLength(1)),
  credential_ref: v.literal(gatewayCredentialRef),
  /** Fingerprint of the key that was saved with or before this route; null without a key. */
  credential_fingerprint: v.nullable(v.string()),
  /** Mirror of the one ledger's ceiling, micro-USD. */
  spend_ceiling_microusd: microusd,
  slots: v.strictObject({
    chat: v.nullable(slotShape),
    report: v.nullable(slotShape),
    screenshot: v.nullable(slotShape),
  }),
})
export type GatewayRoute = v.InferOutput<typeof gatewayRouteShape>

/** Where the one route lives; its document id is `gatewayRouteId`. */
export const gatewayCollection: CollectionSpec<GatewayRoute> = {
  name: 'gateway', schema: gatewayRouteShape, partition: 'one',
}

/** Id of the only document of `gatewayCollection`. */
export const gatewayRouteId = 'the'

/** Whether a supplied key says "keep the stored one": empty or white space only. */
export const isBlankKey = (key: string): boolean => /^\s*$/u.test(key)

const apiKey = v.pipe(
  v.string('must be text'),
  v.check(
    (key) => isBlankKey(key)
      || (/^[\x21-\x7e]+$/.test(key) && key.length <= limits.apiKeyBytesMax),
    `must be 1 to ${limits.apiKeyBytesMax} visible ASCII characters without spaces`,
  ),
)

const slotInput = v.optional(v.nullable(closedObject({
  model: v.optional(model),
  upstream_allow: v.optional(upstreams),
  request_cost_bound_microusd: v.optional(microusd),
  timeout_seconds: v.optional(finiteNumber(limits.timeoutSecondsMin, limits.timeoutSecondsMax)),
})))

/** The fields of the route that a save may name, closed. */
export const gatewayInputShape = closedObject({
  api_key: v.optional(apiKey),
  enabled: v.optional(v.boolean()),
  spend_ceiling_microusd: v.optional(microusd),
  slots: v.optional(closedObject({ chat: slotInput, report: slotInput, screenshot: slotInput })),
  /** Purposes that are consented to with this save; their texts are `purposeStatement`. */
  consents: v.optional(
    v.pipe(v.array(v.picklist(gatewayPurposes)), v.maxLength(gatewayPurposes.length)), [],
  ),
  cloud_egress_acknowledged: v.optional(v.boolean(), false),
})

/**
 * The write shape. What is left out keeps its saved value; a slot that is null is removed; the
 * acknowledgment and the consents are never remembered.
 */
export type GatewayInput = v.InferOutput<typeof gatewayInputShape>
/** What a save may say of one slot. */
export type SlotInput = NonNullable<NonNullable<GatewayInput['slots']>['chat']>

/** Fields of the route that no save may name. */
const readOnlyGatewayFields = [
  'schema_version', 'grant_id', 'api_base', 'credential_ref', 'credential_fingerprint',
] as const

/**
 * Reads a write request strictly. Throws `rejected`: `gateway_null`, `gateway_field_read_only`, or
 * `gateway_invalid` with `details.field`. No text holds a received value.
 */
export const parseGatewayInput = (value: unknown): GatewayInput => {
  if (value === null) {
    throw fail.rejected('gateway_null', 'The gateway cannot be removed by saving null.', {
      next: 'Save enabled=false to disable the route.',
    })
  }
  if (typeof value === 'object') {
    const field = readOnlyGatewayFields.find((name) => Object.hasOwn(value, name))
    if (field !== undefined) {
      throw fail.rejected(
        'gateway_field_read_only',
        `The field ${field} is set by the service and cannot be saved.`,
        { next: 'Leave it out.', details: { field } },
      )
    }
  }
  return parseClosed(gatewayInputShape, value, {
    code: 'gateway_invalid', what: 'the gateway block',
  })
}
