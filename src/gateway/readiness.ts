/**
 * May the route or one of its slots be used, a call be decided, contacted, its result adopted? One
 * list of named facts answers all of it; the configuration read tells the first that does not hold.
 * Nothing is asked of the gateway.
 */
import { canonicalJson } from '../base/canonical.js'
import type { Gov } from '../governance/context.js'
import {
  consentFacts, consentFactsAs, giverWords, type ConsentCase,
} from '../governance/judge/consent-facts.js'
import {
  decisionOf, decisionFacts, routeRowFacts, type DecisionCase, type JudgedRoute,
} from '../governance/judge/decision.js'
import {
  always, judge, orUndefined, untilContact, within, type Denial, type Fact, type Phase,
} from '../governance/judge/fact.js'
import { momentOf, type Moment } from '../governance/judge/moment.js'
import {
  accountFacts, accountWords, holdFacts, type HoldCase,
} from '../governance/judge/money-facts.js'
import { outliveFacts, personFacts, rootFacts } from '../governance/judge/person-facts.js'
import {
  policyFacts, policyWords, storeFacts, storeWords,
} from '../governance/judge/policy-facts.js'
import { ledgerFacts, type LedgerFacts } from '../governance/ledger/facts.js'
import { giverOf, type ConsentLapse, type Giver } from '../governance/policy/consents.js'
import type { PolicyBlock } from '../governance/policy/policy-status.js'
import { collections, type Consent } from '../governance/rows.js'
import {
  parseGatewaySelector, requireGatewayCredential, type ReservedNames,
} from '../governance/selectors.js'
import type { KeyFacts } from '../governance/vault.js'
import type { View } from '../state/types.js'
import { gatewayConsents, type StandingConsent } from './consents.js'
import {
  egressPurpose, gatewayCredentialRef, gatewayPurposes, gatewayRuntime, profileOf, proofPurpose,
  slotNames, slotOfPurpose, type GatewayPlace, type GatewayPurpose, type SlotName,
} from './constants.js'
import { latestProof, proofStateOf, type ProofState } from './proof.js'
import { gatewayCollection, gatewayRouteId, type GatewayRoute, type SlotSetup } from './setup.js'

/** What consents anew; each purpose is named. */
const grant = 'sallyport gateway setup --consent PURPOSE'

/**
 * What the configuration read says of a reason: its status, and a sentence with what to do. The
 * names are closed; scripts match them.
 */
export const gatewayReasons = {
  route_disabled: {
    status: 'disabled',
    text: 'The route is disabled. Enable it with `sallyport gateway setup --enable`.',
  },
  key_missing: {
    status: 'configuration_required',
    text: 'No gateway key is stored. Store one with `sallyport gateway setup --api-key-file F`.',
  },
  key_unreadable: {
    status: 'blocked',
    text: 'The stored key cannot be opened. Store it anew with'
      + ' `sallyport gateway setup --api-key-file F`; see `sallyport state check`.',
  },
  slot_not_set: {
    status: 'configuration_required',
    text: 'No model is set. Set one with'
      + ' `sallyport gateway setup --slot S --model M --upstream-allow SLUG`.',
  },
  ...storeWords,
  fixed_route_mismatch: {
    status: 'blocked',
    text: 'The stored gateway is not the sealed one. Save the route anew.',
  },
  credential_mismatch: {
    status: 'blocked',
    text: 'The stored key is not the one that was saved with this route. Save the key anew.',
  },
  ...policyWords({ noun: 'route', grant }),
  egress_not_acknowledged: {
    status: 'blocked',
    text: 'Cloud egress is not acknowledged. Acknowledge it with `sallyport gateway setup`.',
  },
  consent_not_current: {
    status: 'blocked',
    text: 'The purpose of this slot has no current consent. Give it with `sallyport gateway setup'
      + ' --consent PURPOSE`.',
  },
  ...giverWords(grant),
  ...accountWords('route'),
} as const

/** Name of a reason why the route or a slot is not `configured`. */
export type GatewayReasonCode = keyof typeof gatewayReasons

/** The four statuses there are. */
export const gatewayStatuses = [
  'disabled', 'configuration_required', 'blocked', 'configured',
] as const

/** The newest consent of a purpose and whether it authorizes anything now. */
export interface ConsentFact {
  readonly purpose: typeof egressPurpose | GatewayPurpose
  readonly newest: Consent | undefined
  /** Who gave it; null without one. */
  readonly giver: Giver | null
  readonly lapse: ConsentLapse | null
}

/** Everything that the status of the route depends on; nothing here is asked of the gateway. */
export interface GatewayFacts {
  readonly route: GatewayRoute | null
  readonly apiBase: string | null
  readonly key: KeyFacts
  readonly policy: { readonly revision: number; readonly block: PolicyBlock }
  readonly account: LedgerFacts
  /** Every purpose that there is, each looked at. */
  readonly consents: Readonly<Record<ConsentFact['purpose'], ConsentFact>>
  readonly proofs: Readonly<Record<SlotName, ProofState>>
}

/** The facts of one moment; opens no socket. */
export const gatewayFactsAt = (moment: Moment, place: GatewayPlace): GatewayFacts => {
  const { view, nowMs, policy } = moment
  const route = view.get(gatewayCollection, gatewayRouteId) ?? null
  const reader = gatewayConsents(moment, route)
  const fact = (purpose: ConsentFact['purpose'], { newest, lapse }: StandingConsent): ConsentFact =>
    ({ purpose, newest, lapse, giver: newest === undefined ? null : giverOf(view, newest) })
  const proofs = slotNames.map((slot) =>
    [slot, proofStateOf(route, slot, latestProof(view, slot), nowMs)] as const)
  return {
    route,
    apiBase: place.baseUrl,
    key: moment.keyOf(gatewayCredentialRef),
    policy: { revision: policy.head.revision, block: policy.block },
    account: ledgerFacts(view),
    consents: Object.fromEntries([
      [egressPurpose, fact(egressPurpose, reader.egress())],
      ...gatewayPurposes.map((purpose) => [purpose, fact(purpose, reader.purpose(purpose))]),
    ]) as Record<ConsentFact['purpose'], ConsentFact>,
    proofs: Object.fromEntries(proofs) as Record<SlotName, ProofState>,
  }
}

/** Everything that the status of the route depends on, out of one view; opens no socket. */
export const gatewayFacts = (gov: Gov, view: View, place: GatewayPlace): GatewayFacts =>
  gatewayFactsAt(momentOf(gov, view), place)

export const consentTo = (
  { consents }: GatewayFacts, purpose: ConsentFact['purpose'],
): Consent | undefined =>
  (consents[purpose].lapse === null ? consents[purpose].newest : undefined)

export const isCurrent = (facts: GatewayFacts, purpose: ConsentFact['purpose']): boolean =>
  consentTo(facts, purpose) !== undefined

/**
 * The purpose that a proof of a slot rests on now: whichever of the slot's own is consented to, so
 * that who consents to one alone can prove the slot.
 */
export const proofPurposeNow = (facts: GatewayFacts, slot: SlotName): GatewayPurpose =>
  gatewayPurposes.find((one) => slotOfPurpose[one] === slot && isCurrent(facts, one))
    ?? proofPurpose[slot]

/** How the consent to a purpose stands, for the facts of every route. */
export const consentCase = (
  { consents }: GatewayFacts, purpose: ConsentFact['purpose'],
): ConsentCase => ({ lapse: consents[purpose].lapse })

/** A claimed call, and the exact request that it is judged on. */
export interface CallCase {
  readonly moment: Moment
  readonly reserved: ReservedNames
  readonly operationId: string
  readonly principal: string
  /** Null where the purpose consent alone carries the call. */
  readonly root: string | null
  readonly grantId: string
  readonly baseUrl: string
  readonly url: string
  readonly keyFingerprint: string
  /** The slot as it was when the call was claimed. */
  readonly setup: SlotSetup
  readonly boundMicrousd: number
  /** Longest time of the one request, milliseconds. */
  readonly requestMs: number
  readonly request: Readonly<Record<string, unknown>>
  /** The operation's route row; undefined before its decision. */
  readonly route: JudgedRoute | undefined
}

/** One slot and what it is used for. */
export interface SlotUse {
  readonly slot: SlotName
  readonly purpose: GatewayPurpose
}

/** What the route is judged on. */
export interface GatewayCase {
  readonly facts: GatewayFacts
  /** Null where the route as a whole is meant. */
  readonly use: SlotUse | null
  /** Null where no call is meant. */
  readonly call: CallCase | null
}

interface SavedCase extends GatewayCase { readonly route: GatewayRoute }
interface UseCase extends SavedCase { readonly use: SlotUse }
interface RunningCase extends UseCase { readonly call: CallCase }

const saved = (one: GatewayCase): SavedCase | null =>
  (one.facts.route === null ? null : { ...one, route: one.facts.route })
const used = (one: GatewayCase): UseCase | null => {
  const its = saved(one)
  return its === null || one.use === null ? null : { ...its, use: one.use }
}
const running = (one: GatewayCase): RunningCase | null => {
  const its = used(one)
  return its === null || one.call === null ? null : { ...its, call: one.call }
}
const policy = ({ facts }: GatewayCase) => facts.policy

/** A call from its decision on. */
const ofCall = ['preflight', 'contact', 'adopt'] as const
/** Before there is a call. */
const beforeCall = ['status', 'admit'] as const

const savedFacts = [
  {
    name: 'route_disabled', kind: 'unauthorized', phases: always,
    holds: ({ route }) => route.enabled,
  },
  {
    name: 'key_missing', kind: 'blocked', phases: untilContact,
    holds: ({ facts }) => facts.key.present,
  },
  {
    name: 'key_unreadable', kind: 'blocked', phases: beforeCall,
    holds: ({ facts: { key } }) => !key.present || key.opens(),
  },
  {
    name: 'slot_not_set', kind: 'blocked', phases: always,
    holds: ({ route }) => slotNames.some((slot) => route.slots[slot] !== null),
  },
] as const satisfies readonly Fact<SavedCase>[]

/** Where a slot sends: what a consent to it names. */
const wayOf = (slot: SlotSetup | null): string =>
  canonicalJson(slot === null ? null : [slot.model, slot.upstream_allow])

const sealedFacts = [
  {
    name: 'fixed_route_mismatch', kind: 'blocked', phases: always,
    holds: ({ route, facts, call }) => route.api_base === facts.apiBase
      && (call === null || call.baseUrl === route.api_base),
  },
  {
    name: 'credential_mismatch', kind: 'blocked', phases: untilContact,
    holds: ({ route, facts, call }) => route.credential_fingerprint === facts.key.fingerprint
      && (call === null || call.keyFingerprint === route.credential_fingerprint),
  },
] as const satisfies readonly Fact<SavedCase>[]

/** The set-up is still the one that the call was claimed under. */
const claimedFacts = [
  {
    name: 'grant_mismatch', kind: 'unauthorized', phases: ofCall,
    holds: ({ route, call }) => route.grant_id === call.grantId,
  },
  {
    name: 'slot_not_set', kind: 'blocked', phases: ofCall,
    holds: ({ route, use }) => route.slots[use.slot] !== null,
  },
  {
    // What came back rests on where it was sent, not on what a next one may cost or take.
    name: 'slot_changed', kind: 'unauthorized', phases: ofCall,
    holds: ({ route, use, call }, phase) => (phase === 'adopt'
      ? wayOf(route.slots[use.slot]) === wayOf(call.setup)
      : canonicalJson(route.slots[use.slot]) === canonicalJson(call.setup)),
  },
  {
    name: 'selector_refused', kind: 'blocked', phases: ofCall,
    holds: ({ call }) =>
      orUndefined(() => parseGatewaySelector(call.setup.model, call.reserved)) !== undefined,
  },
  {
    name: 'credential_refused', kind: 'blocked', phases: ofCall,
    holds: ({ route, call }) => orUndefined(() =>
      requireGatewayCredential(route.credential_ref, call.reserved)) !== undefined,
  },
] as const satisfies readonly Fact<RunningCase>[]

/** Content may leave for the gateway at all (S-021). */
const egressFacts = consentFactsAs('egress_not_acknowledged')

/** The consents that a call was decided on, by id. */
const decidedOn = ({ call: { moment: { view }, route } }: RunningCase) => {
  const decision = decisionOf(view, route)
  const idOf = (name: string): string | null => {
    const id = decision?.request[name]
    return typeof id === 'string' ? id : null
  }
  return { purpose: idOf('consent_id'), egress: idOf('egress_consent_id') }
}

/**
 * What came back is used under the consent that it was sent under: one that was given anew since,
 * after a revoke or a change of the slot, is to something else.
 */
const sameConsentFacts = [
  {
    name: 'consent_not_current', kind: 'unauthorized', phases: ['adopt'],
    holds: (one) => {
      const { purpose, egress } = decidedOn(one)
      if (purpose === null || egress === null) return false
      const { view, policy: { head } } = one.call.moment
      const acknowledged = view.get(collections.consents, egress)
      return one.facts.consents[one.use.purpose].newest?.consent_id === purpose
        && acknowledged !== undefined && acknowledged.granted_revision > head.fence
    },
  },
] as const satisfies readonly Fact<RunningCase>[]

const useFacts = [
  {
    name: 'slot_not_set', kind: 'blocked', phases: beforeCall,
    holds: ({ route, use }) => route.slots[use.slot] !== null,
  },
  ...within(({ facts, use }: UseCase) => consentCase(facts, use.purpose), consentFacts),
  {
    name: 'request_bound_above_ceiling', kind: 'blocked', phases: beforeCall,
    holds: ({ route, use }) => {
      const bound = route.slots[use.slot]?.request_cost_bound_microusd ?? 0
      return bound <= route.spend_ceiling_microusd
    },
  },
] as const satisfies readonly Fact<UseCase>[]

const decisionPart = (one: GatewayCase): DecisionCase | null => {
  const its = running(one)
  if (its === null) return null
  const { call, use } = its
  return {
    view: call.moment.view, operationId: call.operationId, request: call.request,
    route: call.route,
    fixed: {
      runtime: gatewayRuntime, profile: profileOf(use.slot), provider: 'gateway',
      model: call.setup.model, url: call.url,
    },
  }
}

const holdPart = (one: GatewayCase): HoldCase | null => {
  const its = running(one)
  if (its === null) return null
  const { call, use } = its
  return {
    view: call.moment.view, operationId: call.operationId, runtime: gatewayRuntime,
    profile: profileOf(use.slot), principal: call.principal, taskId: null,
    boundMicrousd: call.boundMicrousd,
  }
}

/** Everything that a use of the route rests on, most telling first. */
export const gatewayRoute = [
  {
    name: 'route_missing', kind: 'unauthorized', phases: ofCall,
    holds: ({ facts }: GatewayCase) => facts.route !== null,
  },
  ...within(saved, savedFacts),
  ...within(running, claimedFacts),
  ...within(policy, storeFacts),
  ...within(saved, sealedFacts),
  ...within(policy, policyFacts),
  ...within((one: GatewayCase) => {
    const its = saved(one)
    return its === null ? null : consentCase(its.facts, egressPurpose)
  }, egressFacts),
  ...within((one: GatewayCase) => {
    const its = saved(one)
    return its === null ? null : {
      account: its.facts.account, ceilingMicrousd: its.route.spend_ceiling_microusd,
      boundMicrousd: null,
    }
  }, accountFacts),
  ...within(used, useFacts),
  ...within(running, sameConsentFacts),
  ...within(({ call }: GatewayCase) => (call === null ? null : {
    view: call.moment.view, principal: call.principal,
  }), personFacts),
  ...within(({ call }: GatewayCase) => (call === null || call.root === null ? null : {
    moment: call.moment, principal: call.principal, root: call.root,
  }), rootFacts),
  ...within(({ call }: GatewayCase) => (call === null || call.root === null ? null : {
    moment: call.moment, root: call.root, neededMs: call.requestMs,
  }), outliveFacts),
  ...within(holdPart, holdFacts),
  ...within(decisionPart, routeRowFacts),
  ...within(decisionPart, decisionFacts),
] as const

/**
 * What the end of a call and its receipt have always said of these reasons; the names in the list
 * are those of the configuration read and of the other routes.
 */
export const gatewayToldAs = {
  fixed_route_mismatch: 'url_mismatch',
  root_foreign: 'root_not_live',
  reservation_not_held: 'reservation_mismatch',
  runtime_mismatch: 'decision_not_genuine',
  profile_mismatch: 'decision_not_genuine',
  provider_mismatch: 'decision_not_genuine',
  model_mismatch: 'decision_not_genuine',
  url_mismatch: 'decision_not_genuine',
} as const

const hasWords = (name: string): name is GatewayReasonCode => Object.hasOwn(gatewayReasons, name)

/** Whoever gave the consent that is not current because of them; null where that is not it. */
const lapsedGiver = ({ consents }: GatewayFacts): Giver | null =>
  Object.values(consents)
    .find(({ lapse }) => lapse === 'giver_missing' || lapse === 'giver_disabled')?.giver ?? null

/** Status and sentence of a reason; where somebody gave the consent, the sentence names them. */
export const gatewayWordsOf = (
  reason: GatewayReasonCode, facts: GatewayFacts,
): { readonly status: (typeof gatewayStatuses)[number]; readonly text: string } =>
  ({ ...gatewayReasons, ...giverWords(grant, lapsedGiver(facts)) })[reason]

/** A denial of the read, and its class. */
export type GatewayDenial = Denial<GatewayReasonCode>

/** Every reason why the route, or one use of a slot, may not be used, first things first. */
export const gatewayDenials = (
  facts: GatewayFacts, use: SlotUse | null, phase: Extract<Phase, 'status' | 'admit'>,
): readonly GatewayDenial[] =>
  judge(gatewayRoute, { facts, use, call: null }, phase).map(({ name, kind }) => {
    if (hasWords(name)) return { name, kind }
    throw new TypeError('a reason of the status has its words')
  })

/**
 * The first reason why nothing may go through the route, or null when key, acknowledgment and
 * accounting are ready; null promises nothing about the gateway.
 */
export const gatewayReasonOf = (
  facts: GatewayFacts, route: GatewayRoute,
): GatewayReasonCode | null =>
  gatewayDenials({ ...facts, route }, null, 'status')[0]?.name ?? null

/** The same for one slot and the purpose of its proof. */
export const slotReasonOf = (
  facts: GatewayFacts, route: GatewayRoute, slot: SlotName,
): GatewayReasonCode | null => {
  const use = { slot, purpose: proofPurposeNow(facts, slot) }
  return gatewayDenials({ ...facts, route }, use, 'status')[0]?.name ?? null
}
