/**
 * The stored setup, the write shape, and what a save would change. Pure: the save itself, with
 * its five durable steps, asks these functions what to do.
 */
import { moneyText } from '../base/money.js'
import * as v from 'valibot'
import { fail } from '../base/errors.js'
import { closedObject, finiteNumber, parseClosed, strictInteger } from '../base/schema.js'
import {
  requireWideningAuthority, type GivenAuthority,
} from '../governance/policy/save-authority.js'
import type { CollectionSpec } from '../state/types.js'
import { isBlankKey, isUsableKey } from './api-key.js'
import {
  alphaCredentialRef, alphaLimits as limits, alphaProfile, alphaSchemas, type AlphaProvider,
} from './constants.js'

const outputTokens = strictInteger(limits.outputTokensMin, limits.outputTokensMax)
const timeoutSeconds = finiteNumber(limits.timeoutSecondsMin, limits.timeoutSecondsMax)
const microusd = strictInteger(limits.microusdMin, limits.microusdMax)
const flag = v.boolean('must be true or false')
const revision = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/**
 * The stored row: closed; an extra field or another version is damage. That the
 * bound stays within the ceiling is a rule of the save only, because a gateway edit may lower the
 * shared ceiling below it.
 */
export const alphaSetupShape = v.pipe(
  v.strictObject({
    schema_version: v.literal(alphaSchemas.setup),
    enabled: flag,
    profile_id: v.literal(alphaProfile),
    model_id: v.pipe(v.string(), v.minLength(1)),
    api_base: v.pipe(v.string(), v.minLength(1)),
    max_output_tokens: outputTokens,
    timeout_seconds: v.pipe(
      v.number(), v.finite(), v.minValue(limits.timeoutSecondsMin),
      v.maxValue(limits.timeoutSecondsMax),
    ),
    request_cost_bound_microusd: microusd,
    spend_ceiling_microusd: microusd,
    credential_ref: v.literal(alphaCredentialRef),
    /** Fingerprint of the key that was saved with or before this setup; null without a key. */
    credential_fingerprint: v.nullable(v.string()),
    /** Policy revision at which the operator granted the purpose; null when it is not granted. */
    plaintext_egress_consent_revision: v.nullable(revision),
  }),
  v.readonly(),
)
export type AlphaTextSetup = v.InferOutput<typeof alphaSetupShape>

/** Where the one setup lives; its document id is `alphaSetupId`. */
export const alphaSetupCollection: CollectionSpec<AlphaTextSetup> = {
  name: 'alpha_setup', schema: alphaSetupShape, partition: 'one',
}

/** Id of the only document of `alphaSetupCollection`. */
export const alphaSetupId = 'the'

const apiKey = v.pipe(
  v.string('must be text'),
  v.check(
    (key) => isBlankKey(key) || isUsableKey(key),
    `must be 1 to ${limits.apiKeyBytesMax} visible ASCII characters without spaces`,
  ),
)

/** The fields of a set-up that a save may name, closed. */
export const alphaSetupInputShape = closedObject({
  api_key: v.optional(apiKey),
  enabled: v.optional(flag),
  max_output_tokens: v.optional(outputTokens),
  timeout_seconds: v.optional(timeoutSeconds),
  request_cost_bound_microusd: v.optional(microusd),
  spend_ceiling_microusd: v.optional(microusd),
  plaintext_provider_egress_acknowledged: v.optional(flag, false),
})

/**
 * The write shape. A number left out keeps its saved value; `enabled` left out is
 * false, as the specification's default says; the acknowledgment is never remembered.
 */
export type AlphaTextSetupInput = v.InferOutput<typeof alphaSetupInputShape>

/** Fields of the setup that no save may name, equal value or not. */
export const readOnlySetupFields = [
  'schema_version', 'profile_id', 'model_id', 'api_base', 'credential_ref',
  'credential_fingerprint', 'plaintext_egress_consent_revision',
] as const

/**
 * Reads a write request strictly. Throws `rejected`: `alpha_text_null`, `setup_field_read_only`,
 * or `setup_invalid` with `details.field`. No text holds a received value.
 */
export const parseSetupInput = (value: unknown): AlphaTextSetupInput => {
  if (value === null) {
    throw fail.rejected('alpha_text_null', 'The setup cannot be removed by saving null.', {
      next: 'Save enabled=false to disable the route.',
    })
  }
  if (typeof value === 'object') {
    const field = readOnlySetupFields.find((name) => Object.hasOwn(value, name))
    if (field !== undefined) {
      throw fail.rejected(
        'setup_field_read_only', `The field ${field} is set by the service and cannot be saved.`,
        { next: 'Leave it out.', details: { field } },
      )
    }
  }
  return parseClosed(alphaSetupInputShape, value, { code: 'setup_invalid', what: 'the setup' })
}

/** What a plan rests on besides the stored setup and the request. */
export interface SetupFacts {
  /** Sealed provider: the fixed values of the next setup. */
  readonly provider: AlphaProvider
  /** The purpose consent authorizes contact now. */
  readonly consentCurrent: boolean
  /** The consent that the next publication would carry over is to the very text of today. */
  readonly consentKept: boolean
  /** Ceiling of the one deployment ledger, micro-USD; null before there is one. */
  readonly ledgerCeilingMicrousd: number | null
  /** Fingerprint of the stored key; null without one. */
  readonly storedFingerprint: string | null
  /** Fingerprint the supplied key would have; null when none or a blank one was supplied. */
  readonly suppliedFingerprint: string | null
  /** The stored key goes; false where none is stored. */
  readonly keyGoes: boolean
}

/** What a save would change. */
export interface SetupPlan {
  /** The setup to store. The two server-set fields still hold their old values. */
  readonly next: AlphaTextSetup
  /** Nothing differs and nothing is granted anew: no revision is published. */
  readonly unchanged: boolean
  /** From absent or disabled to enabled. */
  readonly enabling: boolean
  /** The route was enabled, and something besides `enabled` changes: a field or the key. */
  readonly changesEnabledRoute: boolean
  /** Nothing changes but an acknowledged consent that is no longer current: given again. */
  readonly regrants: boolean
  /** Only `enabled` goes from true to false, or the key goes. */
  readonly disablesOnly: boolean
  readonly keyChange: 'none' | 'set' | 'removed'
  /** A question that is leaving must not: disabled, or under another key or route. */
  readonly closes: boolean
  /** Whether the acknowledgment and the exact policy revision are required. */
  readonly needsAuthority: boolean
  /**
   * What becomes of the purpose consent. Host and model are sealed, so no field that can be saved
   * widens what leaves the machine: an acknowledged save keeps a consent that stands, and only
   * where none does it gives a new one.
   */
  readonly consent: 'grant' | 'withdraw' | 'keep'
  /** Ceiling to apply to the deployment ledger, micro-USD; null leaves the ledger alone. */
  readonly ceilingMicrousd: number | null
}

const limitNames = [
  'max_output_tokens', 'timeout_seconds', 'request_cost_bound_microusd', 'spend_ceiling_microusd',
] as const
const routeNames = ['model_id', 'api_base'] as const
const comparedNames = [...limitNames, ...routeNames] as const

/**
 * Decides what a save changes. Disabling alone is
 * never hard: no other rule is looked at. Throws `rejected` `setup_field_required` when a first
 * save leaves a limit out, and `request_bound_above_ceiling`.
 */
export const planSetupChange = (
  current: AlphaTextSetup | null,
  input: AlphaTextSetupInput,
  facts: SetupFacts,
): SetupPlan => {
  const next = nextSetup(current, input, facts)
  const wasEnabled = current?.enabled === true
  const keyChange = keyChangeOf(current, facts)
  const differs = current === null || comparedNames.some((name) => current[name] !== next[name])
  const changes = differs || keyChange === 'set'
  const sameRoute = routeNames.every((name) => current?.[name] === next[name])
  const enabling = next.enabled && !wasEnabled
  const changesEnabledRoute = wasEnabled && changes
  const disablesOnly = (wasEnabled || keyChange === 'removed') && !next.enabled && !changes
  const regrants = wasEnabled && next.enabled && !changes && !facts.consentCurrent &&
    input.plaintext_provider_egress_acknowledged
  const unchanged = !changes && !enabling && !disablesOnly && !regrants
  const leavesMoneyAlone = unchanged || disablesOnly
  if (!leavesMoneyAlone) requireBoundWithinCeiling(next)
  const needsAuthority = enabling || changesEnabledRoute || regrants
  return {
    next, unchanged, enabling, changesEnabledRoute, regrants, disablesOnly, keyChange,
    needsAuthority,
    closes: wasEnabled && (!next.enabled || keyChange === 'set' || !sameRoute),
    consent: consentOf(
      next.enabled && needsAuthority && !(wasEnabled && facts.consentKept && sameRoute),
      wasEnabled && !next.enabled,
    ),
    ceilingMicrousd: leavesMoneyAlone ? null : next.spend_ceiling_microusd,
  }
}

const consentOf = (grants: boolean, disables: boolean): SetupPlan['consent'] => {
  if (grants) return 'grant'
  return disables ? 'withdraw' : 'keep'
}

const keyChangeOf = (current: AlphaTextSetup | null, facts: SetupFacts): SetupPlan['keyChange'] => {
  if (facts.keyGoes) return 'removed'
  if (facts.suppliedFingerprint === null) return 'none'
  const same = facts.suppliedFingerprint === facts.storedFingerprint &&
    facts.suppliedFingerprint === current?.credential_fingerprint
  return same ? 'none' : 'set'
}

const limitsRequired = (fields: readonly string[]): Error =>
  fail.rejected('setup_field_required', `The first save must name ${fields.join(', ')}.`, {
    next: 'There is no default for a limit. Flags and an example: `sallyport alpha setup --help`.',
    details: { field: fields[0] ?? '', fields: fields.join(',') },
  })

const nextSetup = (
  current: AlphaTextSetup | null,
  input: AlphaTextSetupInput,
  facts: SetupFacts,
): AlphaTextSetup => {
  const absent: string[] = []
  const pick = (name: (typeof limitNames)[number], fallback: number | null = null): number => {
    const value = input[name] ?? current?.[name] ?? fallback
    if (value !== null) return value
    absent.push(name)
    return 0
  }
  const limits = {
    max_output_tokens: pick('max_output_tokens'),
    timeout_seconds: pick('timeout_seconds'),
    request_cost_bound_microusd: pick('request_cost_bound_microusd'),
    spend_ceiling_microusd: pick('spend_ceiling_microusd', facts.ledgerCeilingMicrousd),
  }
  if (absent.length > 0) throw limitsRequired(absent)
  return Object.freeze({
    schema_version: alphaSchemas.setup,
    enabled: input.enabled ?? false,
    profile_id: alphaProfile,
    model_id: facts.provider.model_id,
    api_base: facts.provider.base_url,
    ...limits,
    credential_ref: alphaCredentialRef,
    credential_fingerprint: facts.keyGoes ? null : current?.credential_fingerprint ?? null,
    plaintext_egress_consent_revision: current?.plaintext_egress_consent_revision ?? null,
  })
}

const requireBoundWithinCeiling = (setup: AlphaTextSetup): void => {
  const { request_cost_bound_microusd: bound, spend_ceiling_microusd: ceiling } = setup
  if (bound <= ceiling) return
  throw fail.rejected(
    'request_bound_above_ceiling',
    `The request cost bound of ${moneyText(bound)} is above the spend `
      + `ceiling of ${moneyText(ceiling)}.`,
    {
      next: 'Lower the bound or raise the ceiling.',
      details: { request_cost_bound_microusd: bound, spend_ceiling_microusd: ceiling },
    },
  )
}

/**
 * Requires what a widening save must bring: the acknowledgment and an
 * expected revision. Whether that revision is the exact one is compared under the lock, by the
 * publication. Throws `rejected` `acknowledgment_required`, `expected_policy_revision_required`.
 */
export const requireSaveAuthority = (
  { needsAuthority }: Pick<SetupPlan, 'needsAuthority'>,
  given: GivenAuthority,
): void => {
  if (!needsAuthority) return
  requireWideningAuthority(given, {
    saves: 'Enabling or changing an enabled route',
    egress: 'plaintext egress',
    flag: '--acknowledge',
    show: 'sallyport alpha show',
  })
}
