/**
 * The gates before any image leaves the machine. Each blocks alone and has its own name; nothing
 * here has a permissive default, so what was never set is closed (S-008 to S-017). One function
 * judges for the scan, the analysis, reanalysis and status, so that they never disagree.
 *
 * The controls that are judged here are the ones that are sent: the route writes every one of them
 * into every request (`routingControls`), and there is no way to send another value.
 */
import {
  boundFacts, buyingToldAs, buyingWords, consentFacts, proofFacts, routeFacts, slotFacts, slotOf,
  type BuyingCase,
} from '../gateway/buying.js'
import type { GatewayProof } from '../gateway/proof.js'
import {
  consentTo, gatewayFacts, gatewayReasons, type GatewayFacts, type GatewayReasonCode,
} from '../gateway/readiness.js'
import type { SlotSetup } from '../gateway/setup.js'
import { judge, toldName, type Fact } from '../governance/judge/fact.js'
import { ceilingText } from '../governance/ledger/due.js'
import type { Consent } from '../governance/rows.js'
import type { ReservedNames } from '../governance/selectors.js'
import type { View } from '../state/types.js'
import type { ShotsContext } from './context.js'
import { savedSettings, type SavedShotSettings } from './source/settings.js'

const setNext = (flag: string): string => `Run \`sallyport shots setup ${flag}\`.`

/** Switches of the source's own settings: what opens each, in the order in which they are told. */
const switchGates = {
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
} as const

/** What a day and a request may cost at most; without a bound nothing is sent. */
const boundGates = {
  budget_not_set: {
    text: 'There is no budget of money for a day.', next: setNext('--budget USD'),
    open: (saved: SavedShotSettings): boolean => isPositive(saved.budget_microusd),
  },
  budget_requests_not_set: {
    text: 'There is no budget of requests for a day.', next: setNext('--budget-requests N'),
    open: (saved: SavedShotSettings): boolean => isPositive(saved.budget_requests),
  },
  request_bound_not_set: {
    text: 'There is no bound on what one request may cost.',
    next: setNext('--request-cost-bound USD'),
    open: (saved: SavedShotSettings): boolean => isPositive(saved.request_cost_bound_microusd),
  },
} as const

const settingGates = { ...switchGates, ...boundGates }

const isPositive = (value: number | null): boolean =>
  value !== null && Number.isSafeInteger(value) && value > 0

/**
 * The same as facts, for every list that begins with them. What came back is used while the
 * switches are on; what it may cost was asked before.
 */
export const settingFacts = (Object.keys(settingGates) as (keyof typeof settingGates)[])
  .map((name): Fact<{ readonly saved: SavedShotSettings }, typeof name> => ({
    name, kind: 'blocked',
    phases: name in switchGates ? ['status', 'admit', 'adopt'] : ['status', 'admit'],
    holds: ({ saved }) => settingGates[name].open(saved),
  }))

/** The first switch that is off; null while all are on. */
export const closedSwitch = (saved: SavedShotSettings): string | null =>
  judge(settingFacts, { saved }, 'adopt')[0]?.name ?? null

/** What the settings themselves keep from leaving, sentence by sentence, while analysis is on. */
export const closedSettings = (saved: SavedShotSettings): readonly string[] =>
  (saved.analysis === 'on' ? judge(settingFacts, { saved }, 'admit') : [])
    .map(({ name }) => settingGates[name].text)

const releaseNext = 'Look at it; to send it all the same, where its size is known: '
  + '`sallyport shots reanalyze PATH --reason manual_operator_request`.'

/** Where the budget of the day has no room and no charge in it is disputed. */
export const usedUp = {
  text: 'The budget of the last 24 hours is used up.',
  // Money or requests may be short: raised together, there is room whichever it was.
  next: 'It frees itself hour by hour; or raise it: '
    + '`sallyport shots setup --budget USD --budget-requests N`.',
} as const

/** A budget that no request fits, however little of it is used: no hour frees it. */
export const belowBound = {
  text: 'The budget of money for a day is less than one request may cost.',
  next: setNext('--budget USD'),
} as const

/** Reasons of one image, which no scan looks for. */
const lateGates = {
  before_consent: {
    text:
      'The image was taken in before the consent was given, and a consent reaches forward only.',
    next: 'Run `sallyport shots reanalyze --blocked --reason manual_operator_request`.',
  },
  unsettled: {
    text: 'Its region went on changing, and a later image stands for it.',
    next: 'To have those sent as well: `sallyport shots analyze --include unsettled`.',
  },
  from_device: {
    text: 'A paired device captured it, and its pairing or its upload keeps it on this machine.',
    next: 'It stays here. To have later ones analysed, pair with both kinds of egress: '
      + '`sallyport edge pair --help`.',
  },
  device_not_named: {
    text: 'A paired device captured it, and no consent in force names that device.',
    next: 'It stays here. To have later ones analysed, name the device: '
      + '`sallyport shots setup --devices DEVICE`.',
  },
  before_device_named: {
    text: 'It was uploaded before its device was named, and that reaches forward only.',
    next: 'It stays here; later ones of its device are analysed.',
  },
  device_ended: {
    text: 'The pairing of the device that captured it has ended, or its owner is disabled.',
    next: 'It stays here. To have later ones analysed, pair the device again: '
      + '`sallyport edge pair --help`.',
  },
  capture_unreadable: {
    text: 'What the device sent cannot be read any more, so it is not sent.',
    next: 'Look at the state: `sallyport state check`.',
  },
  recursive_off: {
    text: 'The image lies in a subfolder, and recursive is off.',
    next: setNext('--recursive on'),
  },
  image_damaged: {
    text: 'The file is no whole image: its picture is damaged, or it does not tell its size.',
    next: releaseNext,
  },
  image_truncated: {
    text: 'The file ends before its picture does, as a copy does that was never finished.',
    next: releaseNext,
  },
  image_goes_on: {
    text: 'Bytes stand behind the end of the picture, which no viewer shows: a picture before '
      + 'it was cut, or what a camera added.',
    next: releaseNext,
  },
  budget_exhausted: usedUp,
  budget_below_bound: belowBound,
  ceiling_exceeded: { text: 'The ceiling has no room for another request.', next: ceilingText },
} as const

const slotWords = buyingWords('screenshot')

/** Why an image may not be sent. The list is closed; scripts match the names. */
export type GateReason =
  | keyof typeof settingGates | keyof typeof slotWords | keyof typeof lateGates
  | GatewayReasonCode

/** What a reason means and what opens the gate. */
interface GateText {
  readonly text: string
  readonly next: string
}

const ownTexts: Readonly<Record<string, GateText>> =
  { ...settingGates, ...slotWords, ...lateGates }

/** Sentence and next step of a reason; null for a text that is none. */
export const gateTextOf = (reason: string): GateText | null => {
  const own = Object.hasOwn(ownTexts, reason) ? ownTexts[reason] : undefined
  if (own !== undefined) return { text: own.text, next: own.next }
  if (!Object.hasOwn(gatewayReasons, reason)) return null
  const { text } = gatewayReasons[reason as GatewayReasonCode]
  return { text, next: 'See `sallyport gateway show`.' }
}

/** What the gates are judged on. */
export interface GateFacts {
  readonly saved: SavedShotSettings
  readonly gateway: GatewayFacts
  readonly reserved: ReservedNames
}

interface OpenRoute {
  readonly setup: SlotSetup
  /** The current consent to `gateway.vision`: whose principal pays, and from when it reaches. */
  readonly consent: Consent
}

/** How the route for images stands. */
export interface RouteStatus {
  /** Every gate but the proof is open (S-145); the proof is judged at analysis (S-152). */
  readonly ready: boolean
  /** The first reason; null when ready. */
  readonly reason: GateReason | null
  /** Every reason, each once, in a fixed order. */
  readonly reasons: readonly GateReason[]
  readonly proof: 'current' | 'stale' | 'missing'
  /** The first reason before sending, the proof included (S-152); null when one may be sent. */
  readonly closed: GateReason | null
  /** Every reason before sending, each once, in a fixed order. */
  readonly gates: readonly GateReason[]
  /** What made a proof stale; null otherwise. */
  readonly proofReason: string | null
  /** The newest proof, current or not. */
  readonly newestProof: GatewayProof | null
  /** Null unless ready. */
  readonly route: OpenRoute | null
  /** The current consent to `gateway.vision`, ready or not; null where there is none. */
  readonly consentId: string | null
}

/** What is held for one image or text, micro-USD: the source's bound, never above the slot's. */
export const imageBound = (
  saved: Pick<SavedShotSettings, 'request_cost_bound_microusd'>, slot: SlotSetup,
): number => Math.min(
  saved.request_cost_bound_microusd ?? slot.request_cost_bound_microusd,
  slot.request_cost_bound_microusd,
)

interface ImageCase extends BuyingCase {
  readonly saved: SavedShotSettings
}

/** Whether no request of a bound fits a budget of a whole day, micro-USD; null: there is none. */
export const isBelowBound = (budget: number | null, bound: number): boolean =>
  budget !== null && budget < bound

/** What is held for one call fits into the budget of a whole day; one not set is told as such. */
export const budgetFacts = [
  {
    name: 'budget_below_bound', kind: 'blocked', phases: ['status', 'admit'],
    holds: (one) => {
      const slot = slotOf(one)
      const { budget_microusd: budget } = one.saved
      return slot === null || (budget ?? 0) < 1 || !isBelowBound(budget, one.bound(slot))
    },
  },
] as const satisfies readonly Fact<ImageCase>[]

/** Everything that sending an image rests on, most telling first. */
const imageRoute = [
  ...settingFacts,
  {
    name: 'gateway_not_in_profile', kind: 'blocked', phases: ['status', 'admit'],
    holds: ({ gateway }: ImageCase) => gateway.apiBase !== null,
  },
  ...routeFacts, ...slotFacts, ...boundFacts, ...budgetFacts, ...consentFacts, ...proofFacts,
] as const

const hasWords = (name: string): name is GateReason =>
  Object.hasOwn(ownTexts, name) || Object.hasOwn(gatewayReasons, name)

const reasonsOf = (one: ImageCase, phase: 'status' | 'admit'): readonly GateReason[] =>
  judge(imageRoute, one, phase).map((denial) => {
    const name = toldName(denial, buyingToldAs)
    if (hasWords(name)) return name
    throw new TypeError('a gate has its words')
  })

const use = { slot: 'screenshot', purpose: 'gateway.vision' } as const

/** Judges every gate on facts alone. Pure. */
export const judgeGates = (facts: GateFacts): RouteStatus => {
  const { saved, gateway } = facts
  const one: ImageCase = {
    ...facts, use, bound: (slot) => imageBound(saved, slot),
  }
  const reasons = reasonsOf(one, 'status')
  const gates = reasonsOf(one, 'admit')
  const slot = slotOf(one)
  const consent = consentTo(gateway, use.purpose)
  const { state, reason, proof } = gateway.proofs[use.slot]
  return {
    ready: reasons.length === 0,
    reason: reasons[0] ?? null,
    reasons,
    proof: state,
    closed: gates[0] ?? null,
    gates,
    proofReason: reason,
    newestProof: proof,
    route: reasons.length === 0 && slot !== null && consent !== undefined
      ? { setup: slot, consent } : null,
    consentId: consent?.consent_id ?? null,
  }
}

/** Whether a closed gate is one that a current proof opens. */
export const isProofReason = (reason: string | null): boolean =>
  proofFacts.some(({ name }) => name === reason)

/** Judges every gate on one view. Opens no socket, changes no byte. */
export const routeStatusOf = (
  ctx: Pick<ShotsContext, 'gov' | 'gateway'>, view: View,
): RouteStatus => {
  const gateway = gatewayFacts(ctx.gov, view, ctx.gateway.place)
  return judgeGates({
    saved: savedSettings(view), gateway, reserved: ctx.gateway.place.reserved,
  })
}

/** What a scan writes on a new image: pending only while every gate is open (S-145, S-147). */
export const statusForNewImage = (
  standing: RouteStatus,
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
