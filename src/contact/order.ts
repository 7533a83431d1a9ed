/**
 * What a capability writes down to contact somebody: an order. The engine runs it (`runOrder`); an
 * order holds rules and rows and no effect. Everything that the order's functions are handed is of
 * one moment: a transaction's view, or a view that was read for this very look.
 */
import type { ErrorKind, SallyportError } from '../base/errors.js'
import type { Gov } from '../governance/context.js'
import type { LanePriority } from '../state/holds/lane.js'
import type { ChargeSources, Evidence as ChargeEvidence } from '../governance/ledger/steps.js'
import type { Runtime } from '../governance/rows.js'
import type { OwnCover, Party } from '../governance/stops/stop.js'
import type { HttpsSession } from '../net/client.js'
import type { Deadline } from '../net/remaining.js'
import type { HttpsClient, HttpsReply, HttpsRequest } from '../net/types.js'
import type { ArtifactRef, FreshView, Tx, View } from '../state/types.js'
import type { RouteDraft } from './routes.js'

/** What every contact works with. */
export interface ContactContext {
  readonly gov: Gov
  /**
   * The one HTTPS client, made at first use: reads never load it. Throws `rejected` where this
   * process may contact nobody; the engine asks before it claims anything.
   */
  client(): Promise<HttpsClient & { openSession?(): HttpsSession }>
  /** Aborts on the first SIGINT, SIGTERM or SIGHUP. */
  readonly signal: AbortSignal
}

/** What is held for one operation before anybody is contacted. */
interface Hold {
  readonly taskId: string | null
  /** Principal id of the owner who pays. */
  readonly principal: string
  /** Full liability, micro-USD. */
  readonly boundMicrousd: number
  /** Id of what it is for, where that is one thing and no task. */
  readonly subject?: string | undefined
}

/** A claimed order while its process runs it. */
export interface Running<Claimed> {
  readonly operationId: string
  readonly claimed: Claimed
  /** The whole operation's, waiting included; it only ever shrinks. */
  readonly deadline: Deadline
  /** Whether the operator has asked to stop. */
  stopped(): boolean
}

/** What `claim` answers: a claim, or what an earlier one with the same key came to. */
export type Claim<Claimed, Kept> =
  | { readonly kind: 'claimed'; readonly claimed: Claimed; readonly taskId?: string }
  | { readonly kind: 'replayed'; readonly kept: Kept }

/** A claim as it is being made. */
export type Claiming = Omit<Running<never>, 'claimed'>

/** Why nothing was sent: proof that no request byte left. */
export interface Unsent {
  readonly kind: 'unsent'
  /** Snake_case. */
  readonly reason: string
  /** Class of what kept it from being sent. */
  readonly errorKind: ErrorKind
  /** The client was asked; left out where its own rows or the deadline kept it back before. */
  readonly tried?: boolean
  readonly cause?: unknown
}

/** What came of one step. `sent`: bytes may have left, and no reply came. */
export type Sent<Verdict> =
  | Unsent
  | { readonly kind: 'sent'; readonly reason: string; readonly cause?: unknown }
  | { readonly kind: 'reply'; readonly status: number; readonly verdict: Verdict }

/**
 * What a step rests on. `full`: every authority of the order, asked three times, and the contact
 * mark; with a hold, once an operation. `owed`: the open charge alone, so that a revoke does not
 * keep a bill from being read. `read`: as `full`, but it moves nothing on the other side: any
 * number, also at once, and a stop ends one that is under way. `effect`: as `full`, any number one
 * after the other, each with a mark of its own; for orders that hold no money.
 */
type StepAuthority = 'full' | 'owed' | 'read' | 'effect'

/** What came of a step, as far as every decision about it goes. */
export type Outcome<Verdict> =
  | Exclude<Sent<Verdict>, { readonly kind: 'reply' }>
  | { readonly kind: 'reply'; readonly verdict: Verdict }

/** One request of an order. */
export interface Step<Verdict> {
  readonly authority: StepAuthority
  /** Announced before an `owed` step goes out, after its `mark` is durable. */
  readonly name?: string
  /** Made before there is anything that could be contacted; what it throws sends nothing. */
  request(): Pick<
    HttpsRequest,
    'method' | 'url' | 'headers' | 'body' | 'requestBytesMax' | 'replyBytesMax' | 'onReplyBytes'
  >
  /** Milliseconds it may take, of those left of the operation; null when it is too late. */
  timeoutMs(leftMs: number): number | null
  /** Milliseconds left of the stage that it is a part of, for who asks how long it may take. */
  stageMs?(): number
  /** Rows of its own, durable before it goes out; a throw sends nothing. */
  mark?(tx: Tx, now: string): void
  /** Rows of its own about what came of it, in a record of their own. */
  record?(tx: Tx, now: string, wire: Sent<Verdict>): void
  /** What a reply is worth. Total: never throws on any reply. */
  judge(reply: HttpsReply): Verdict
  /** Which replies of another status than 200 are judged without a body that was refused. */
  judgesHead?(head: HttpsReply): boolean
}

/** Sends one step, or proves that it was not sent. Throws only defects and what `record` throws. */
export type Send = <Verdict>(step: Step<Verdict>) => Promise<Sent<Verdict>>

/** What becomes of the money, decided by what the order saw alone. */
export type MoneyEnd =
  | { readonly ledger: 'release' }
  | { readonly ledger: 'unknown'; readonly reason: string }
  | {
    readonly ledger: 'settle'; readonly chargedMicrousd: number; readonly evidence: ChargeEvidence
  }

/** What `run` works with besides `send`. */
export interface RunParts<Claimed> extends Running<Claimed> {
  /** The opened credential, captured before contact: it outlives a revoke. Wiped afterwards. */
  readonly key: Buffer
  readonly terms: Terms
}

/** What `prepare` decided. */
export interface Terms {
  readonly hold: Hold | null
  /** Longest time of one request, milliseconds. */
  readonly requestMs: number
}

/** What `close` rests on. */
export interface Closing<Evidence> {
  readonly evidence: Evidence
  /** What `keep` sealed. */
  readonly sealed: ArtifactRef | null
  /** Null when nothing was prepared. */
  readonly terms: Terms | null
  /**
   * Why the ledger took no step: its rows contradict the hold, or recovery took this process for
   * dead. The liability stays. Null when the money is where `money` said.
   */
  readonly refusal: SallyportError | null
}

/** What `close` answers. */
export interface Closed<Kept> {
  readonly kept: Kept
  /** How it ended, for the route row. */
  readonly outcome: string
  /** Whether a row names what `keep` sealed; otherwise it leaves the disk. */
  readonly adopts: boolean
}

/** Moments at which authority is judged: the mark, under the lock, or one of the three checks. */
export type Boundary = 'check' | 'mark'

/**
 * One order: claimed, prepared, run, closed. `Claimed`: what the claim read. `Evidence`: what `run`
 * saw, plain values. `Kept`: what the order's caller gets.
 */
export interface Order<Claimed, Evidence, Kept> {
  /** First word of the announced steps. */
  readonly step: string
  /** Last words of two announced steps, where they are not `claimed` and `sealed`. */
  readonly names?: { readonly claimed?: string; readonly sealed?: string }
  /** Names the holder of the state lock, for messages. */
  readonly verb: string
  /** Begins the code of a stop before contact: `ask_cancelled`. */
  readonly noun: string
  /** The whole operation, waiting included. */
  readonly operationMsMax: number
  readonly lane: LanePriority | null
  readonly runtime: Runtime
  readonly profile: string
  /** What its charges may rest on; left out by an order without money. */
  readonly sources?: ChargeSources
  /** Vault name of the key; null for an order without one. */
  readonly credential: string | null
  /** Its GETs share connections. */
  readonly session?: boolean
  /** What was sealed for the claim; it leaves the disk where no claim came to name it. */
  readonly sealed?: ArtifactRef
  claim(tx: Tx, now: string, claiming: Claiming): Claim<Claimed, Kept>
  /** Rows that tell of a stop at once, so that they tell it even if this process dies. */
  onStop?(tx: Tx, now: string, run: Running<Claimed>): void
  /** Rows of its own before it waits for the lane. */
  enqueue?(tx: Tx, now: string, run: Running<Claimed>): void
  /** Rows of its own with the hold, and what to hold; a throw leaves all as it was. */
  prepare(tx: Tx, now: string, run: Running<Claimed>): Terms
  /** Mints and stores the decision that the contact rests on; throws to refuse. */
  decide(tx: Tx, now: string, run: Running<Claimed>): Omit<RouteDraft, 'runtime' | 'profile'>
  /** Requires that decision and all it rests on; answers the policy revision. Throws to refuse. */
  authority(view: FreshView, boundary: Boundary, run: Running<Claimed>): number
  /**
   * Whose it is and what it rests on, for stops that are aimed at some of it. What it leaves out is
   * not known, and a stop of that kind covers it whatever it names.
   */
  party?(run: Running<Claimed>, view: View): Party
  /** Whether a stop of its capability's own kinds covers it; other kinds cover everything. */
  readonly covered?: OwnCover
  /** Rows of its own in the record of the contact mark. */
  mark?(tx: Tx, now: string, run: Running<Claimed>): void
  /** Sends its steps. What it throws is a defect. */
  run(send: Send, parts: RunParts<Claimed>): Promise<Evidence>
  /** The evidence of an operation that was stopped before its first step. */
  unsent(why: Unsent): Evidence
  money(evidence: Evidence, run: Running<Claimed>): MoneyEnd
  /** Seals what is to be kept, outside the lock. Null where nothing is. */
  keep?(evidence: Evidence, run: Running<Claimed>): ArtifactRef | null
  /** Everything that ends with it, in one record with the money. */
  close(tx: Tx, now: string, run: Running<Claimed>, facts: Closing<Evidence>): Closed<Kept>
  /** Ids that every error of it names. */
  details(run: Running<Claimed>): Readonly<Record<string, string>>
}
