/**
 * What a save of the route changes, decided on the rows at r. Pure. Widening (a new slot, another
 * model or upstream, a higher bound, a key, enabling, a consent) needs the acknowledgment and the
 * exact revision; disabling, removing and lowering need neither, because stopping is never hard.
 */
import { moneyText } from '../base/money.js'
import { canonicalJson } from '../base/canonical.js'
import { fail } from '../base/errors.js'
import {
  requireWideningAuthority, type GivenAuthority,
} from '../governance/policy/save-authority.js'
import { parseGatewaySelector, type ReservedNames } from '../governance/selectors.js'
import type { SaveAim } from '../governance/stops/stop.js'
import { purposeStatement } from './consent-text.js'
import {
  egressPurpose, gatewayCredentialRef, gatewayLimits, gatewayPurposes, gatewaySchemas, slotNames,
  slotOfPurpose, type GatewayPurpose, type SlotName,
} from './constants.js'
import type { GatewayInput, GatewayRoute, SlotInput, SlotSetup } from './setup.js'

/** What a plan rests on besides the stored route and the request. */
export interface GatewayPlanFacts {
  /** Sealed base of the deployment profile. */
  readonly apiBase: string
  readonly reserved: ReservedNames
  /** Ceiling of the one deployment ledger, micro-USD; null before there is one. */
  readonly ledgerCeilingMicrousd: number | null
  readonly egressCurrent: boolean
  /** It is, or a save that did not end has suspended it: the next publication carries it over. */
  readonly egressKept: boolean
  /** Purposes whose consent is current, to the stored route's words. */
  readonly currentPurposes: ReadonlySet<GatewayPurpose>
  /** Those, and the ones that a save which did not end has suspended. */
  readonly keptPurposes: ReadonlySet<GatewayPurpose>
  readonly storedFingerprint: string | null
  /** Fingerprint the supplied key would have; null when none or a blank one was supplied. */
  readonly suppliedFingerprint: string | null
  /** The stored key goes; false where none is stored. */
  readonly keyGoes: boolean
  /** Id for the first save; later ones keep the stored one. */
  readonly newGrantId: string
}

/** What a save would do. */
export interface GatewayPlan {
  /** The route to store. */
  readonly next: GatewayRoute
  /** Nothing differs and nothing is granted: no revision is published. */
  readonly unchanged: boolean
  readonly needsAuthority: boolean
  readonly grantsEgress: boolean
  readonly grants: readonly GatewayPurpose[]
  /** Purposes whose consent ends unless granted anew. */
  readonly drops: readonly string[]
  readonly keyChange: boolean
  readonly keyGoes: boolean
  /** What leaves no more once it is saved: a slot that sent elsewhere, all of them by a key. */
  readonly closes: readonly SaveAim[]
  /** What nothing goes through once it is saved: the route, or slots that are not set up. */
  readonly closed: readonly SaveAim[]
  /** Nothing but disabling, or removing slots: what stops something is never hard. */
  readonly onlyStops: boolean
  /** Ceiling to apply to the deployment ledger, micro-USD; null leaves the ledger alone. */
  readonly ceilingMicrousd: number | null
}

const required = (fields: readonly string[]): Error =>
  fail.rejected('gateway_field_required', `The first save must name ${fields.join(', ')}.`, {
    next: 'Flags and an example: `sallyport gateway setup --help`.',
    details: { field: fields[0] ?? '', fields: fields.join(',') },
  })

const checkUpstream = (slug: string, reserved: ReservedNames): void => {
  const names = [reserved.capability, reserved.profile, reserved.runtime, reserved.model]
  const parts = [slug, ...slug.split('/')].map((part) => part.toLowerCase())
  if (!names.some((name) => parts.includes(name.toLowerCase()))) return
  throw fail.rejected(
    'upstream_refused', 'An upstream allow-list must not name the text capability.',
  )
}

/** Null, and in `absent` what is missing, where the slot cannot be set by what is named. */
const nextSlot = (
  name: SlotName, current: SlotSetup | null, input: SlotInput,
  { ceiling, reserved, absent }: {
    readonly ceiling: number
    readonly reserved: ReservedNames
    readonly absent: string[]
  },
): SlotSetup | null => {
  const model = input.model ?? current?.model
  const upstream = input.upstream_allow ?? current?.upstream_allow
  if (model === undefined) absent.push(`slots.${name}.model`)
  if (upstream === undefined) absent.push(`slots.${name}.upstream_allow`)
  if (model === undefined || upstream === undefined) return null
  parseGatewaySelector(model, reserved)
  for (const slug of upstream) checkUpstream(slug, reserved)
  return {
    model,
    // Their order means nothing to the gateway; one order makes equal lists equal bytes.
    upstream_allow: [...upstream].sort(),
    request_cost_bound_microusd: input.request_cost_bound_microusd
      ?? current?.request_cost_bound_microusd
      ?? Math.min(ceiling, gatewayLimits.requestBoundMicrousdDefault),
    timeout_seconds: input.timeout_seconds
      ?? current?.timeout_seconds ?? gatewayLimits.timeoutSecondsDefault,
  }
}

const nextRoute = (
  current: GatewayRoute | null, input: GatewayInput, facts: GatewayPlanFacts,
): GatewayRoute => {
  const ceiling = input.spend_ceiling_microusd
    ?? current?.spend_ceiling_microusd ?? facts.ledgerCeilingMicrousd
  const absent: string[] = ceiling === null ? ['spend_ceiling_microusd'] : []
  const slot = (name: SlotName): SlotSetup | null => {
    const given = input.slots?.[name]
    const before = current?.slots[name] ?? null
    if (given === undefined || given === null) return given === null ? null : before
    const { reserved } = facts
    return nextSlot(name, before, given, { ceiling: ceiling ?? 0, reserved, absent })
  }
  const slots = { chat: slot('chat'), report: slot('report'), screenshot: slot('screenshot') }
  // All at once: nobody is led through them one by one.
  if (ceiling === null || absent.length > 0) throw required(absent)
  return {
    schema_version: gatewaySchemas.route,
    grant_id: current?.grant_id ?? facts.newGrantId,
    enabled: input.enabled ?? current?.enabled ?? true,
    api_base: facts.apiBase,
    credential_ref: gatewayCredentialRef,
    credential_fingerprint: facts.keyGoes ? null
      : facts.suppliedFingerprint ?? current?.credential_fingerprint ?? null,
    spend_ceiling_microusd: ceiling,
    slots,
  }
}

const slotWidens = (before: SlotSetup | null, after: SlotSetup | null): boolean => {
  if (after === null) return false
  if (before === null || before.model !== after.model) return true
  return after.upstream_allow.some((slug) => !before.upstream_allow.includes(slug))
    || after.request_cost_bound_microusd > before.request_cost_bound_microusd
    || after.timeout_seconds > before.timeout_seconds
}

const widens = (current: GatewayRoute | null, next: GatewayRoute, keyChange: boolean): boolean =>
  current === null || !current.enabled || keyChange || current.api_base !== next.api_base
  || slotNames.some((name) => slotWidens(current.slots[name], next.slots[name]))

const statementOf = (route: GatewayRoute | null, purpose: GatewayPurpose): string | null => {
  const slot = route?.slots[slotOfPurpose[purpose]] ?? null
  return slot === null ? null : purposeStatement(purpose, slot).sha256
}

/** Purposes of this save that need a new consent, each with a slot to go through. */
const grantsOf = (
  next: GatewayRoute, input: GatewayInput, changed: ReadonlySet<GatewayPurpose>,
  facts: GatewayPlanFacts,
): GatewayPurpose[] => {
  const wanted = gatewayPurposes.filter((purpose) => input.consents.includes(purpose))
  if (wanted.length > 0 && !next.enabled) {
    throw fail.rejected('consent_while_disabled', 'A disabled route takes no consent.', {
      next: 'Enable it in the same save, or leave the consents out.',
    })
  }
  const homeless = wanted.find((purpose) => next.slots[slotOfPurpose[purpose]] === null)
  if (homeless !== undefined) {
    throw fail.rejected(
      'consent_without_slot', `The purpose ${homeless} has no slot to go through.`,
      {
        next: `Set the slot ${slotOfPurpose[homeless]} in the same save.`,
        details: { purpose: homeless, slot: slotOfPurpose[homeless] },
      },
    )
  }
  return wanted.filter((purpose) => !facts.keptPurposes.has(purpose) || changed.has(purpose))
}

/**
 * Only slots that this save names: an edit of the ceiling alone is accepted also below a bound, and
 * the slot is then blocked until it is saved anew, as the text capability is.
 */
const requireBoundsWithinCeiling = (next: GatewayRoute, input: GatewayInput): void => {
  const { spend_ceiling_microusd: ceiling } = next
  for (const name of slotNames.filter((one) => Boolean(input.slots?.[one]))) {
    const bound = next.slots[name]?.request_cost_bound_microusd ?? 0
    if (bound <= ceiling) continue
    throw fail.rejected(
      'request_bound_above_ceiling',
      `The request cost bound of the slot ${name} is ${moneyText(bound)}, above the spend `
        + `ceiling of ${moneyText(ceiling)}.`,
      {
        next: 'Lower the bound or raise the ceiling.',
        details: {
          slot: name, request_cost_bound_microusd: bound, spend_ceiling_microusd: ceiling,
        },
      },
    )
  }
}

/** What disabling drops is everything; else what no longer says what was consented to. */
const dropsOf = (
  next: GatewayRoute, changed: ReadonlySet<GatewayPurpose>, grants: readonly GatewayPurpose[],
  grantsEgress: boolean,
): string[] => {
  if (!next.enabled) return [egressPurpose, ...gatewayPurposes]
  const purposes = gatewayPurposes.filter((one) => changed.has(one) || grants.includes(one))
  return grantsEgress ? [egressPurpose, ...purposes] : purposes
}

/** A slot closes where a host or the model that it sent to is none of its own any more. */
const slotCloses = (before: SlotSetup | null, after: SlotSetup | null): boolean =>
  before !== null && (after === null || after.model !== before.model
    || before.upstream_allow.some((slug) => !after.upstream_allow.includes(slug)))

const closesOf = (
  current: GatewayRoute | null, next: GatewayRoute, keyChange: boolean,
): readonly SaveAim[] => {
  if (current?.enabled !== true) return []
  if (!next.enabled || keyChange || current.api_base !== next.api_base) {
    return [{ kind: 'gateway_slot', target: null }]
  }
  return slotNames.filter((name) => slotCloses(current.slots[name], next.slots[name]))
    .map((target) => ({ kind: 'gateway_slot', target }))
}

const closedOf = ({ enabled, slots }: GatewayRoute): readonly SaveAim[] => {
  if (!enabled) return [{ kind: 'gateway_slot', target: null }]
  return slotNames.filter((name) => slots[name] === null)
    .map((target) => ({ kind: 'gateway_slot', target }))
}

const sameBytes = (a: unknown, b: unknown): boolean => canonicalJson(a) === canonicalJson(b)

/**
 * Decides what a save changes. Throws `rejected`: `gateway_field_required`, `selector_refused`,
 * `upstream_refused`, `consent_while_disabled`, `consent_without_slot`,
 * `request_bound_above_ceiling`. Disabling alone is refused by none of these.
 */
export const planGatewayChange = (
  current: GatewayRoute | null, input: GatewayInput, facts: GatewayPlanFacts,
): GatewayPlan => {
  const next = nextRoute(current, input, facts)
  const keyChange = facts.suppliedFingerprint !== null
    && (facts.suppliedFingerprint !== facts.storedFingerprint
      || facts.suppliedFingerprint !== current?.credential_fingerprint)
  const changed = new Set(gatewayPurposes.filter(
    (purpose) => statementOf(current, purpose) !== statementOf(next, purpose),
  ))
  const grants = grantsOf(next, input, changed, facts)
  // Given anew where it ended; what is only suspended comes back as it was.
  const revives = next.enabled && (
    (input.cloud_egress_acknowledged && !facts.egressCurrent)
    || input.consents.some((purpose) => !facts.currentPurposes.has(purpose)))
  const ledgerCeiling = facts.ledgerCeilingMicrousd
  const named = input.spend_ceiling_microusd
  const ceilingDiffers = current === null || (named !== undefined && named !== ledgerCeiling)
  const { keyGoes } = facts
  const differs = keyChange || keyGoes || ceilingDiffers || !sameBytes(current, next)
  const unchanged = !differs && grants.length === 0 && !revives
  const disablesOnly = current !== null && !next.enabled && !ceilingDiffers && !keyChange
    && sameBytes(
      { ...current, enabled: false, credential_fingerprint: next.credential_fingerprint }, next)
  if (!unchanged && !disablesOnly) requireBoundsWithinCeiling(next, input)
  const raises = ceilingDiffers && ledgerCeiling !== null
    && next.spend_ceiling_microusd > ledgerCeiling
  const needsAuthority = !unchanged && (raises || (next.enabled
    && (widens(current, next, keyChange) || grants.length > 0 || revives)))
  // A bound, a time, a ceiling or a key sends nothing elsewhere: the acknowledgment stands.
  const sendsElsewhere = current?.enabled !== true || current.api_base !== next.api_base
    || changed.size > 0
  const grantsEgress = needsAuthority && next.enabled
    && (sendsElsewhere || !facts.egressKept)
  return {
    next, unchanged, needsAuthority, grantsEgress, grants, keyChange, keyGoes,
    closes: closesOf(current, next, keyChange), closed: closedOf(next),
    onlyStops: !needsAuthority && (!next.enabled
      || [...changed].every((purpose) => next.slots[slotOfPurpose[purpose]] === null)),
    drops: dropsOf(next, changed, grants, grantsEgress),
    ceilingMicrousd: ceilingDiffers ? next.spend_ceiling_microusd : null,
  }
}

/**
 * Requires what a widening save must bring: the acknowledgment and an expected revision. Whether it
 * is the exact one is compared under the lock, by the publication. Throws `rejected`
 * `acknowledgment_required`, `expected_policy_revision_required`.
 */
export const requireGatewayAuthority = (plan: GatewayPlan, given: GivenAuthority): void => {
  if (!plan.needsAuthority) return
  requireWideningAuthority(given, {
    saves: 'A save that widens this route',
    egress: 'cloud egress',
    flag: '--acknowledge',
    show: 'sallyport gateway show',
  })
}
