import type { FinishReason } from '../../base/finish-reason.js'
import type { ErrorKind } from '../../base/errors.js'
import type { LanePriority } from '../../state/holds/lane.js'
import type { Party } from '../../governance/stops/stop.js'
import type { ArtifactRef, Tx, View } from '../../state/types.js'
import { gatewayRuntime, profileOf, type GatewayPurpose, type SlotName } from '../constants.js'
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
  /** Why it says that it stopped. */
  readonly finish: FinishReason | null
}

/** What a capability makes of an accepted reply: why it is refused, or what it holds. */
export type Judged<Content> =
  | { readonly refused: string }
  | { readonly refused: null; readonly content: Content }

/** A reply that may be used. */
export interface Usable<Content> {
  readonly reply: AcceptedReply
  readonly content: Content
}

/** What ended, for the capability's own rows in the closing record. */
export interface CallEnd<Content> {
  readonly receipt: GatewayReceipt
  /** Present only when the outcome is `succeeded`. */
  readonly usable: Usable<Content> | null
  /** What `keep` sealed; present only with `usable`, where the order has one. */
  readonly sealed: ArtifactRef | null
  /** Class of the failure that kept it from being sent; null otherwise. */
  readonly errorKind: ErrorKind | null
}

/** Who pays through which slot, and for what. */
interface CallTerms {
  /** First word of the announced steps, for example `prove`. */
  readonly step: string
  readonly slot: SlotName
  readonly purpose: GatewayPurpose
  readonly priority: LanePriority
  readonly principal: string
  /** Root that has to stay live; null where the purpose consent alone carries the call. */
  readonly root: string | null
  /** Whose content it sends, for stops; left out where it sends none but its own, as a proof. */
  readonly sends?: Pick<Party, 'purpose' | 'folder' | 'device'>
  /** Id of the one thing that it is about; the ledger names it beside the money. */
  readonly subject?: string
}

/**
 * One paid call through a slot, as a capability orders it. `Claimed`: what its claim read.
 * `Content`: what an accepted reply holds. `Made`: what its closing record wrote, null for nothing.
 */
export interface CallOrder<Claimed, Content, Made> extends CallTerms {
  readonly content: CallContent
  /** Held for this call, micro-USD; the slot's bound when left out, and never more than that. */
  readonly boundMicrousd?: number
  /** Longest time of the one request; the slot's timeout when left out. */
  readonly timeoutMs?: number
  /**
   * Inside the claiming record: what this call's input digest is (and rows of the capability's
   * own). A throw claims nothing.
   */
  claim(
    tx: Tx, now: string, setup: SlotSetup, operationId: string,
  ): { readonly inputDigest: string; readonly claimed: Claimed }
  /**
   * The capability's own gates, asked again with the hold and at contact; a throw sends nothing.
   */
  recheck?(view: View, claimed: Claimed): void
  /**
   * Why its own switches let nothing be used any more, in the record that settles the charge; null
   * while they are as they were. Bounds, budgets and the age of a proof have no part in it.
   */
  closed?(view: View, claimed: Claimed): string | null
  /** Pure: asked as soon as the reply is there. */
  judge(reply: AcceptedReply, claimed: Claimed): Judged<Content>
  /** Seals what is to be kept of it, outside the lock. */
  keep?(usable: Usable<Content>, claimed: Claimed): ArtifactRef
  /** Rows of the capability's own, in the record that settles the charge. */
  record(tx: Tx, now: string, end: CallEnd<Content>, claimed: Claimed): Made | null
}

/** A claimed call, as far as every order has the same. */
export interface RunningCall {
  readonly ctx: GatewayContext
  readonly order: CallTerms
  readonly operationId: string
  readonly inputDigest: string
  readonly grantId: string
  /** The slot and key as they were when the call was claimed; a later change refuses contact. */
  readonly setup: SlotSetup
  /** Held for this call, micro-USD. */
  readonly boundMicrousd: number
  /** Longest time of the one request, milliseconds. */
  readonly requestMs: number
  readonly keyFingerprint: string
  readonly baseUrl: string
}

/** What every ledger step of a call names. */
export const bindingOfCall = (call: RunningCall) => ({
  operationId: call.operationId,
  runtime: gatewayRuntime,
  profile: profileOf(call.order.slot),
}) as const

/** `POST` address of every request of the route. */
export const completionUrl = (baseUrl: string): string => `${baseUrl}/chat/completions`
