/**
 * The gates before any image leaves the machine. Each blocks alone and has its own name; nothing
 * here has a permissive default, so what was never set is closed (S-008 to S-017). One function
 * judges for the scan, the analysis, reanalysis and status, so that they never disagree.
 *
 * The controls that are judged here are the ones that are sent: the route writes every one of them
 * into every request (`routingControls`), and there is no way to send another value.
 */
import { SallyportError } from '../base/errors.js'
import type { GatewayProof } from '../gateway/proof.js'
import {
  gatewayFacts, gatewayReasonOf, gatewayReasons, type GatewayFacts, type GatewayReasonCode,
} from '../gateway/readiness.js'
import type { SlotSetup } from '../gateway/setup.js'
import { giverReasonOf, type GiverReason } from '../governance/policy/consents.js'
import type { Consent } from '../governance/rows.js'
import { parseGatewaySelector, type ReservedNames } from '../governance/selectors.js'
import type { View } from '../state/types.js'
import type { ShotsContext } from './context.js'
import { savedSettings, type SavedShotSettings } from './source/settings.js'

const setNext = (flag: string): string => `Run: sallyport shots config set ${flag}`

/** Gates of the source's own settings: what opens each, in the order in which they are told. */
const settingGates = {
  analysis_off: {
    text: 'Analysis is not switched on.', next: setNext('--analysis on'),
    open: (saved: SavedShotSettings): boolean => saved.analysis === 'on',
  },
  cloud_upload_off: {
    text: 'Cloud upload is not switched on.', next: setNext('--cloud-upload on'),
    open: (saved: SavedShotSettings): boolean => saved.cloud_upload === 'on',
  },
  fallbacks_not_denied: {
    text: 'Fallbacks are not denied.', next: setNext('--fallbacks deny'),
    open: (saved: SavedShotSettings): boolean => saved.fallbacks === 'deny',
  },
  data_collection_not_denied: {
    text: 'Data collection is not denied.', next: setNext('--data-collection deny'),
    open: (saved: SavedShotSettings): boolean => saved.data_collection === 'deny',
  },
  zdr_not_on: {
    text: 'Zero data retention is not switched on.', next: setNext('--zdr on'),
    open: (saved: SavedShotSettings): boolean => saved.zdr === 'on',
  },
  budget_not_set: {
    text: 'There is no budget of money for a day.', next: setNext('--budget-microusd N'),
    open: (saved: SavedShotSettings): boolean => isPositive(saved.budget_microusd),
  },
  budget_requests_not_set: {
    text: 'There is no budget of requests for a day.', next: setNext('--budget-requests N'),
    open: (saved: SavedShotSettings): boolean => isPositive(saved.budget_requests),
  },
  request_bound_not_set: {
    text: 'There is no bound on what one request may cost.',
    next: setNext('--request-cost-bound-microusd N'),
    open: (saved: SavedShotSettings): boolean => isPositive(saved.request_cost_bound_microusd),
  },
} as const

const isPositive = (value: number | null): boolean =>
  value !== null && Number.isSafeInteger(value) && value > 0

/** The first gate of the settings that is closed; digests and conclusions pass them too. */
export const settingReasonOf = (saved: SavedShotSettings): keyof typeof settingGates | null =>
  (Object.keys(settingGates) as (keyof typeof settingGates)[])
    .find((name) => !settingGates[name].open(saved)) ?? null

const setup = 'Run: sallyport gateway setup --slot screenshot'

/** Gates of the slot that the general reasons of the route do not know. */
const slotGates = {
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
} as const

/** A consent that is current is not given twice: it ends first. */
const consentAnew = 'As another owner run: sallyport policy revoke; then give the consents anew:'
  + ' sallyport gateway setup --consent PURPOSE --acknowledge-cloud-egress'

/** Gates of the person whose consent a call would rest on. */
const giverGates = {
  principal_missing: {
    text: 'Whoever gave the consent is not known here any more.', next: consentAnew,
  },
  principal_disabled: { text: 'Whoever gave the consent is disabled.', next: consentAnew },
} as const satisfies Record<GiverReason, GateText>

/** Reasons that appear only while analysing (never at a scan). */
const lateGates = {
  proof_missing: {
    text: 'The route was never proved with its present model, key and hosts.',
    next: 'Run: sallyport gateway prove screenshot',
  },
  proof_stale: {
    text: 'The proof of the route is older than a day or of another set-up.',
    next: 'Run: sallyport gateway prove screenshot --if-stale',
  },
  before_consent: {
    text:
      'The image was taken in before the consent was given, and a consent reaches forward only.',
    next: 'Run: sallyport shots reanalyze --blocked --reason manual_operator_request',
  },
  recursive_off: {
    text: 'The image lies in a subfolder, and recursive is off.',
    next: setNext('--recursive on'),
  },
  budget_exhausted: {
    text: 'The budget of the last 24 hours is used up.',
    next: 'It frees itself hour by hour; or raise it with sallyport shots config set.',
  },
} as const

/** Why an image may not be sent. The list is closed; scripts match the names. */
export type GateReason =
  | keyof typeof settingGates | keyof typeof slotGates | GiverReason | keyof typeof lateGates
  | GatewayReasonCode

/** What a reason means and what opens the gate. */
export interface GateText {
  readonly text: string
  readonly next: string
}

const ownTexts: Readonly<Record<string, GateText>> =
  { ...settingGates, ...slotGates, ...giverGates, ...lateGates }

/** Sentence and next step of a reason; null for a text that is none. */
export const gateTextOf = (reason: string): GateText | null => {
  const own = Object.hasOwn(ownTexts, reason) ? ownTexts[reason] : undefined
  if (own !== undefined) return { text: own.text, next: own.next }
  if (!Object.hasOwn(gatewayReasons, reason)) return null
  const { text } = gatewayReasons[reason as GatewayReasonCode]
  return { text, next: 'See: sallyport gateway show' }
}

/** What the gates are judged on. */
export interface GateFacts {
  readonly saved: SavedShotSettings
  readonly gateway: GatewayFacts
  readonly reserved: ReservedNames
  /** Why whoever gave the current consent carries no call; null or left out while they do. */
  readonly giver?: GiverReason | null
}

/** What an open route is. */
export interface OpenRoute {
  readonly setup: SlotSetup
  /** The current consent to `gateway.vision`: whose principal pays, and from when it reaches. */
  readonly consent: Consent
}

/** How the route for images stands. */
export interface RouteStanding {
  /** Every gate but the proof is open (S-145); the proof is judged at analysis (S-152). */
  readonly ready: boolean
  /** The first reason; null when ready. */
  readonly reason: GateReason | null
  /** Every reason, each once, in a fixed order. */
  readonly reasons: readonly GateReason[]
  readonly proof: 'current' | 'stale' | 'missing'
  /** What made a proof stale; null otherwise. */
  readonly proofReason: string | null
  /** The newest proof, current or not. */
  readonly newestProof: GatewayProof | null
  /** Null unless ready. */
  readonly route: OpenRoute | null
}

/** What is held for one image or text, micro-USD: the source's bound, never above the slot's. */
export const imageBound = (
  saved: Pick<SavedShotSettings, 'request_cost_bound_microusd'>, slot: SlotSetup,
): number => Math.min(
  saved.request_cost_bound_microusd ?? slot.request_cost_bound_microusd,
  slot.request_cost_bound_microusd,
)

const isExact = (model: string, reserved: ReservedNames): boolean => {
  try {
    parseGatewaySelector(model, reserved)
    return true
  } catch (error) {
    if (error instanceof SallyportError) return false
    throw error
  }
}

const slotReasons = ({ saved, gateway, reserved }: GateFacts, slot: SlotSetup): GateReason[] => {
  const { route } = gateway
  const above = route !== null && imageBound(saved, slot) > route.spend_ceiling_microusd
  return [
    ...(isExact(slot.model, reserved) ? [] : ['model_not_exact' as const]),
    ...(slot.upstream_allow.length > 0 ? [] : ['allow_list_missing' as const]),
    ...(above ? ['request_bound_above_ceiling' as const] : []),
  ]
}

const consentOf = ({ consents }: GatewayFacts): Consent | null => {
  const vision = consents.find(({ purpose }) => purpose === 'gateway.vision')
  return vision?.current === true ? vision.newest ?? null : null
}

const isAcknowledged = ({ consents }: GatewayFacts): boolean =>
  consents.some(({ purpose, current }) => purpose === 'gateway.cloud_egress' && current)

const routeReasons = (facts: GateFacts): GateReason[] => {
  const { gateway } = facts
  const { route } = gateway
  const slot = route?.slots.screenshot ?? null
  const general = route === null ? null : gatewayReasonOf(gateway, route)
  return [
    ...(gateway.apiBase === null ? ['gateway_not_in_profile' as const] : []),
    ...(general === null || general === 'slot_not_set' ? [] : [general]),
    ...(gateway.key.present ? [] : ['key_missing' as const]),
    ...(slot === null
      ? ['model_not_set' as const, 'allow_list_missing' as const] : slotReasons(facts, slot)),
    ...(isAcknowledged(gateway) ? [] : ['egress_not_acknowledged' as const]),
    ...(consentOf(gateway) === null ? ['consent_not_current' as const] : []),
    ...(facts.giver === undefined || facts.giver === null ? [] : [facts.giver]),
  ]
}

/** Judges every gate on facts alone. Pure. */
export const judgeGates = (facts: GateFacts): RouteStanding => {
  const closed = (Object.keys(settingGates) as (keyof typeof settingGates)[])
    .filter((name) => !settingGates[name].open(facts.saved))
  const reasons = [...new Set<GateReason>([...closed, ...routeReasons(facts)])]
  const slot = facts.gateway.route?.slots.screenshot ?? null
  const consent = consentOf(facts.gateway)
  const { state, reason, proof } = facts.gateway.proofs.screenshot
  return {
    ready: reasons.length === 0,
    reason: reasons[0] ?? null,
    reasons,
    proof: state,
    proofReason: reason,
    newestProof: proof,
    route: reasons.length === 0 && slot !== null && consent !== null
      ? { setup: slot, consent } : null,
  }
}

/** Judges every gate on one view. Opens no socket, changes no byte. */
export const standingOf = (
  ctx: Pick<ShotsContext, 'gov' | 'gateway'>, view: View,
): RouteStanding => {
  const gateway = gatewayFacts(ctx.gov, view, ctx.gateway.place)
  const consent = consentOf(gateway)
  return judgeGates({
    saved: savedSettings(view), gateway, reserved: ctx.gateway.place.reserved,
    giver: consent === null ? null : giverReasonOf(view, consent),
  })
}

/** Why no image may be sent at all now, the proof included; null when one may. */
export const closedReason = (standing: RouteStanding): string | null => {
  if (!standing.ready) return standing.reason
  return standing.proof === 'current' ? null : `proof_${standing.proof}`
}

/** What a scan writes on a new image: pending only while every gate is open (S-145, S-147). */
export const statusForNewImage = (
  standing: RouteStanding,
): { readonly analysis_status: 'pending' | 'blocked'; readonly reason: GateReason | null } =>
  standing.ready
    ? { analysis_status: 'pending', reason: null }
    : { analysis_status: 'blocked', reason: standing.reason }

/**
 * Whether the consent that is current reaches an image: one that was taken in before it was given
 * waits for an explicit reanalysis. Compared are policy revisions, which no clock sets back; rows
 * of an earlier version have none, and for them the two times count.
 */
export const consentReaches = (
  consent: Pick<Consent, 'granted_at' | 'granted_revision'>,
  row: { readonly observed_at: string, readonly observed_revision?: number | undefined },
): boolean => (row.observed_revision === undefined
  ? row.observed_at >= consent.granted_at : row.observed_revision >= consent.granted_revision)
