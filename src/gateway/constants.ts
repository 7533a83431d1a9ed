/**
 * The fixed facts of the general model route: names that go into records, and every limit with its
 * unit last. The host is not here: it comes from the sealed deployment profile.
 */
import type { ReservedNames } from '../governance/selectors.js'

/** Capability id of the route. */
export const gatewayCapability = 'gateway.route.v1'

/** Runtime discriminator of every ledger row of this route. */
export const gatewayRuntime = 'gateway_route'

/** Source of a charge that the gateway reported with its reply. */
export const gatewayUsageSource = 'gateway_usage'

/** The same for the ledger: no other evidence settles money of this route. */
export const gatewayChargeSources = { [gatewayUsageSource]: { usage: true } } as const

/** The route's name among those that share one policy epoch and one ceiling. */
export const gatewayRouteName = 'gateway'

/** Vault name of the gateway key; the route reads no other credential. */
export const gatewayCredentialRef = 'vault:gateway_api_key'

/** Schema names of the route's documents. */
export const gatewaySchemas = {
  route: 'svc.gateway.route.v1',
  receipt: 'svc.gateway.receipt.v1',
  usageEvidence: 'svc.gateway.usage_evidence.v1',
} as const

/** The model slots there are, in the order in which they are listed. */
export const slotNames = ['chat', 'report', 'screenshot'] as const
export type SlotName = (typeof slotNames)[number]

/** The acknowledgment that content leaves this machine at all; every purpose needs it besides. */
export const egressPurpose = 'gateway.cloud_egress'

/** What may be done through a slot; each needs a consent of its own. */
export const gatewayPurposes = [
  'gateway.chat', 'gateway.report', 'gateway.digest', 'gateway.vision',
] as const
export type GatewayPurpose = (typeof gatewayPurposes)[number]

/** Which slot serves a purpose. */
export const slotOfPurpose: Readonly<Record<GatewayPurpose, SlotName>> = {
  'gateway.chat': 'chat',
  'gateway.report': 'report',
  'gateway.digest': 'report',
  'gateway.vision': 'screenshot',
}

/** The slot of a purpose, with or without `gateway.`: people name one for the other. */
export const slotMeant: Readonly<Record<string, SlotName>> = Object.fromEntries(
  gatewayPurposes.flatMap((purpose) => [purpose, purpose.replace('gateway.', '')]
    .map((name) => [name, slotOfPurpose[purpose]])))

/** The purpose that a slot is told by; its proof may rest on another of its own. */
export const proofPurpose: Readonly<Record<SlotName, GatewayPurpose>> = {
  chat: 'gateway.chat', report: 'gateway.report', screenshot: 'gateway.vision',
}

/**
 * What a slot is used for, by the versions of prompt and schema that go through it. A proof names
 * them too: one that was made before they changed says nothing about them.
 */
export const slotUse: Readonly<Record<SlotName, {
  readonly prompt: string | null
  readonly schema: string | null
}>> = {
  chat: { prompt: null, schema: null },
  report: { prompt: null, schema: null },
  screenshot: { prompt: 'svc.screenshot_analysis.prompt.v1', schema: 'svc.screenshot_analysis.v1' },
}

/** Profile id that ledger rows, route records and receipts of a slot name. */
export const profileOf = (slot: SlotName): string => `gateway.${slot}`

/**
 * Sent with every request, always all of them: the gateway's own defaults are permissive, so a
 * control that is left out lets more happen. `only` is added from the slot's allow-list.
 */
export const routingControls = {
  allow_fallbacks: false,
  data_collection: 'deny',
  zdr: true,
  require_parameters: true,
} as const

/** Every limit of the route; the unit is the last word of the name. */
export const gatewayLimits = {
  microusdMin: 1,
  microusdMax: 1_000_000_000,
  timeoutSecondsMin: 1,
  timeoutSecondsMax: 120,
  timeoutSecondsDefault: 45,
  requestBoundMicrousdDefault: 100_000,
  /** Whole operation, waiting for the lane included. */
  operationMsMax: 120_000,
  /** A request that cannot get this much time is not started. */
  requestMsMin: 1_000,
  requestBytesMax: 32 * 1024 * 1024,
  replyBytesMax: 1_048_576,
  replyDepthMax: 64,
  contentBytesMax: 262_144,
  nameCharsMax: 200,
  upstreamEntriesMax: 16,
  upstreamCharsMax: 64,
  modelCharsMax: 200,
  apiKeyBytesMax: 4_096,
  proofOutputTokensMax: 256,
  proofFreshMsMax: 24 * 3_600_000,
  /** From this age on a job that may renew a proof does so, before it is stale. */
  proofRenewMs: 20 * 3_600_000,
  /** A proof from further ahead than this means that the clock of this machine stepped back. */
  proofAheadMsMax: 300_000,
  proofsPerSlotMax: 16,
  /** How long a slot that refuses is left alone: doubled with each refusal, from least to most. */
  pauseMsMin: 5 * 60_000,
  pauseMsMax: 6 * 3_600_000,
  /** Longest time that a reply's own `Retry-After` is believed. */
  retryAfterMsMax: 24 * 3_600_000,
} as const

/** Where the gateway is and which names it must never use. */
export interface GatewayPlace {
  /** `https://HOST/api/v1`, sealed; null where the deployment profile names no gateway. */
  readonly baseUrl: string | null
  /** Names of the text capability, which no general selector or allow-list may hold. */
  readonly reserved: ReservedNames
}
