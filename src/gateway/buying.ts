/**
 * What a source that buys through a slot rests on, beyond the read of the route: an exact model,
 * named hosts, a consent whose giver still carries it, a bound that fits, and a proof that is
 * current. The facts are named as every other of the route; a source adds gates of its own.
 */
import { orUndefined, within, type Fact } from '../governance/judge/fact.js'
import { consentFacts as givenFacts, consentFactsAs } from '../governance/judge/consent-facts.js'
import { parseGatewaySelector, type ReservedNames } from '../governance/selectors.js'
import { egressPurpose } from './constants.js'
import {
  consentCase, gatewayRoute, type GatewayCase, type GatewayFacts, type SlotUse,
} from './readiness.js'
import type { SlotSetup } from './setup.js'

/** One use of a slot by a source. */
export interface BuyingCase {
  readonly gateway: GatewayFacts
  readonly use: SlotUse
  readonly reserved: ReservedNames
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
  { name: 'model_not_set', kind: 'blocked', phases: scanned, holds: (one) => slotOf(one) !== null },
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
  ...within(({ gateway }: BuyingCase) => consentCase(gateway, egressPurpose),
    consentFactsAs('egress_not_acknowledged')),
  ...within(({ gateway, use }: BuyingCase) => consentCase(gateway, use.purpose), givenFacts),
]

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

const consentAnew = 'Give the consents anew:'
  + ' `sallyport gateway setup --consent PURPOSE`.'

/** Names under which these have always been told to whoever reads about images and texts. */
export const buyingToldAs = {
  consent_giver_missing: 'principal_missing',
  consent_giver_disabled: 'principal_disabled',
} as const

/** What a reason of these means and what to do, for a slot; the read has words for the others. */
export const buyingWords = (slot: SlotUse['slot']) => {
  const setup = (flag: string): string => `Run \`sallyport gateway setup --slot ${slot} ${flag}\`.`
  return {
    gateway_not_in_profile: {
      text: 'The sealed deployment profile names no gateway.',
      next: 'A gateway is named at init (--profile FILE) and never later.',
    },
    model_not_set: {
      text: 'No vision model is set.', next: setup('--model M --upstream-allow SLUG'),
    },
    model_not_exact: {
      text: 'The vision model is not of the form gateway/<provider>/<model>.',
      next: setup('--model M'),
    },
    allow_list_missing: {
      text: 'No upstream host is allowed.', next: setup('--upstream-allow SLUG'),
    },
    principal_missing: {
      text: 'Whoever gave the consent is not known here any more.', next: consentAnew,
    },
    principal_disabled: { text: 'Whoever gave the consent is disabled.', next: consentAnew },
    proof_missing: {
      text: 'The route was never proved with its present model, key and hosts.',
      next: `Run \`sallyport gateway prove ${slot}\`.`,
    },
    proof_stale: {
      text: 'The proof of the route is older than a day or of another set-up.',
      next: `Run \`sallyport gateway prove ${slot} --if-stale\`.`,
    },
  } as const
}
