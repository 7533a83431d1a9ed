import type { ErrorKind } from '../../base/errors.js'
import type { LanePriority } from '../../governance/lane.js'
import type { Tx, View } from '../../state/types.js'
import {
  gatewayChargeSources, gatewayLimits, gatewayRuntime, profileOf, type GatewayPurpose,
  type SlotName,
} from '../constants.js'
import type { GatewayContext } from '../context.js'
import type { GatewayReceipt } from '../receipt.js'
import type { SlotSetup } from '../setup.js'

/** What is asked for, apart from the routing part that is the same for every request. */
export interface CallContent {
  readonly messages: readonly unknown[]
  readonly responseFormat: Readonly<Record<string, unknown>> | null
  readonly maxTokens: number
}

/** An accepted reply's part that a capability may use. */
export interface AcceptedReply {
  readonly content: string
  readonly model: string
  readonly provider: string
  /** The model stopped at its length limit. */
  readonly truncated: boolean
}

/** What ended, for the capability's own rows in the closing record. */
export interface CallEnd {
  readonly receipt: GatewayReceipt
  /** Present only when the outcome is `succeeded`. */
  readonly reply: AcceptedReply | null
  /** Class of the failure that kept it from being sent; null otherwise. */
  readonly errorKind: ErrorKind | null
}

/** One paid call through a slot, as a capability orders it. */
export interface CallOrder {
  /** First word of the announced steps, for example `prove`. */
  readonly step: string
  readonly slot: SlotName
  readonly purpose: GatewayPurpose
  readonly priority: LanePriority
  readonly principal: string
  /** Root that has to stay live; null where the purpose consent alone carries the call. */
  readonly root: string | null
  readonly content: CallContent
  /** Held for this call, micro-USD; the slot's bound when left out, and never more than that. */
  readonly boundMicrousd?: number
  /** Longest time of the one request; the slot's timeout when left out. */
  readonly timeoutMs?: number
  /**
   * Inside the claiming record: what this call's input digest is (and rows of the capability's
   * own). A throw claims nothing.
   */
  claim(tx: Tx, now: string, setup: SlotSetup, operationId: string): string
  /**
   * The capability's own gates, asked again with the hold and at contact; a throw sends nothing.
   */
  recheck?(view: View): void
  /** Why the content is not what was asked for; null accepts it. */
  reject(reply: AcceptedReply): string | null
  /** Rows of the capability's own, in the record that settles the charge. */
  record(tx: Tx, now: string, end: CallEnd): void
}

/** A claimed call while its process runs it. */
export interface RunningCall {
  readonly ctx: GatewayContext
  readonly order: CallOrder
  readonly operationId: string
  readonly inputDigest: string
  readonly grantId: string
  /** The slot and key as they were when the call was claimed; a later change refuses contact. */
  readonly setup: SlotSetup
  /** Held for this call, micro-USD. */
  readonly boundMicrousd: number
  readonly keyFingerprint: string
  readonly baseUrl: string
  /** Monotonic milliseconds at which the whole call ends, waiting included. */
  readonly endsAtMs: number
}

/** What every ledger step of a call names. */
export const bindingOfCall = (call: RunningCall) => ({
  operationId: call.operationId,
  runtime: gatewayRuntime,
  sources: gatewayChargeSources,
  profile: profileOf(call.order.slot),
}) as const

/** Milliseconds left of the whole call, never below 0. */
export const callRemainingMs = (call: RunningCall): number => Math.max(
  0, Math.min(call.endsAtMs - call.ctx.gov.clock.monotonicMs(), gatewayLimits.operationMsMax),
)

/** `POST` address of every request of the route. */
export const completionUrl = (baseUrl: string): string => `${baseUrl}/chat/completions`
