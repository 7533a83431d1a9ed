/**
 * What a source that buys through a slot rests on, beyond the read of the route: an exact model,
 * named hosts, a consent whose giver still carries it, a bound that fits, and a proof that is
 * current. The facts are named as every other of the route; a source adds gates of its own.
 */
import { orUndefined, within, type Fact } from '../governance/judge/fact.js'
import type { GiverReason } from '../governance/policy/consents.js'
import { parseGatewaySelector, type ReservedNames } from '../governance/selectors.js'
import { egressPurpose } from './constants.js'
import {
  consentTo, gatewayRoute, isCurrent, type GatewayCase, type GatewayFacts, type SlotUse,
} from './readiness.js'
import type { SlotSetup } from './setup.js'

/** One use of a slot by a source. */
export interface BuyingCase {
  readonly gateway: GatewayFacts
  readonly use: SlotUse
  readonly reserved: ReservedNames
  /** Why whoever gave the current consent carries no call; null while they do. */
  readonly giver: GiverReason | null
  /** What is held for one call, micro-USD. */
  bound(slot: SlotSetup): number
}

/** The set-up of the slot that is meant; null while it has none. */
export const slotOf = ({ gateway, use }: BuyingCase): SlotSetup | null =>
  gateway.route?.slots[use.slot] ?? null

const routePart = ({ gateway }: BuyingCase): GatewayCase | null =>
  (gateway.route === null ? null : { facts: gateway, use: null, call: null })

/** Before anything is sent, and to say whether it would be. */
const scanned = ['status', 'admit'] as const
/** Before anything is sent only: a scan does not ask for it (S-145, S-152). */
const sending = ['admit'] as const

/** The route as its read tells it; whether the slot that is meant has a model, the source says. */
export const routeFacts = [
  ...within(routePart, gatewayRoute.filter(({ name }) => name !== 'slot_not_set')),
  {
    name: 'key_missing', kind: 'blocked', phases: scanned,
    holds: ({ gateway }: BuyingCase) => gateway.key.present,
  },
] as const

/** The model is named exactly, and so are the hosts that may serve it (S-010, S-012). */
export const slotFacts = [
  {
    name: 'model_not_set', kind: 'blocked', phases: scanned, holds: (one) => slotOf(one) !== null,
  },
  {
    name: 'model_not_exact', kind: 'blocked', phases: scanned,
    holds: (one) => {
      const slot = slotOf(one)
      return slot === null
        || orUndefined(() => parseGatewaySelector(slot.model, one.reserved)) !== undefined
    },
  },
  {
    name: 'allow_list_missing', kind: 'blocked', phases: scanned,
    holds: (one) => (slotOf(one)?.upstream_allow.length ?? 0) > 0,
  },
] as const satisfies readonly Fact<BuyingCase>[]

/** What one call may cost fits under the route's ceiling (S-016). */
export const boundFacts = [
  {
    name: 'request_bound_above_ceiling', kind: 'blocked', phases: scanned,
    holds: (one) => {
      const slot = slotOf(one)
      const ceiling = one.gateway.route?.spend_ceiling_microusd ?? 0
      return slot === null || one.bound(slot) <= ceiling
    },
  },
] as const satisfies readonly Fact<BuyingCase>[]

/** What is bought was consented to, by somebody who still carries it (S-021). */
export const consentFacts = [
  {
    name: 'egress_not_acknowledged', kind: 'unauthorized', phases: scanned,
    holds: ({ gateway }) => isCurrent(gateway, egressPurpose),
  },
  {
    name: 'consent_not_current', kind: 'unauthorized', phases: scanned,
    holds: ({ gateway, use }) => consentTo(gateway, use.purpose) !== undefined,
  },
  {
    name: 'principal_missing', kind: 'unauthorized', phases: scanned,
    holds: ({ giver }) => giver !== 'principal_missing',
  },
  {
    name: 'principal_disabled', kind: 'unauthorized', phases: scanned,
    holds: ({ giver }) => giver !== 'principal_disabled',
  },
] as const satisfies readonly Fact<BuyingCase>[]

/** The slot was proved with its present model, key and hosts (S-152). */
export const proofFacts = [
  {
    name: 'proof_missing', kind: 'blocked', phases: sending,
    holds: ({ gateway, use }) => gateway.proofs[use.slot].state !== 'missing',
  },
  {
    name: 'proof_stale', kind: 'blocked', phases: sending,
    holds: ({ gateway, use }) => gateway.proofs[use.slot].state !== 'stale',
  },
] as const satisfies readonly Fact<BuyingCase>[]

/** A consent that is current is not given twice: it ends first. */
const consentAnew = 'As another owner run: sallyport policy revoke; then give the consents anew:'
  + ' sallyport gateway setup --consent PURPOSE --acknowledge-cloud-egress'

/** What a reason of these means and what to do, for a slot; the read has words for the others. */
export const buyingWords = (slot: SlotUse['slot']) => {
  const setup = `Run: sallyport gateway setup --slot ${slot}`
  return {
    gateway_not_in_profile: {
      text: 'The sealed deployment profile names no gateway.',
      next: 'A gateway is named at init (--profile FILE) and never later.',
    },
    model_not_set: { text: 'No vision model is set.', next: `${setup} --model M` },
    model_not_exact: {
      text: 'The vision model is not of the form gateway/<provider>/<model>.',
      next: `${setup} --model M`,
    },
    allow_list_missing: {
      text: 'No upstream host is allowed.', next: `${setup} --upstream-allow SLUG`,
    },
    principal_missing: {
      text: 'Whoever gave the consent is not known here any more.', next: consentAnew,
    },
    principal_disabled: { text: 'Whoever gave the consent is disabled.', next: consentAnew },
    proof_missing: {
      text: 'The route was never proved with its present model, key and hosts.',
      next: `Run: sallyport gateway prove ${slot}`,
    },
    proof_stale: {
      text: 'The proof of the route is older than a day or of another set-up.',
      next: `Run: sallyport gateway prove ${slot} --if-stale`,
    },
  } as const
}
