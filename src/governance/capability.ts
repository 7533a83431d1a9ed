/**
 * What a capability brings to the parts that all capabilities share, as one record: whose tasks and
 * whose money are its own, which rows it keeps and when they are sound, how its interrupted work
 * ends, what people decide about it, and its line of the status. One registry lists the records,
 * and what spans capabilities loops over it. Parts with code of their own are loaded at use, so
 * that whoever needs one part does not load every capability.
 */
import type * as v from 'valibot'
import type { DerivedRows } from '../state/derived.js'
import type { ArtifactRef, CollectionSpec, Store, Tx, View } from '../state/types.js'
import type { Gov, Problem, Session } from './context.js'
import type { ExplainedIds } from './explained.js'
import type { Exported } from './exported.js'
import type { RecoveryRule } from './interrupted.js'
import type { ChargeSources } from './ledger/steps.js'
import type { Carrier } from './carrier.js'
import type { ReceiptedIds } from './receipted.js'
import type { Reservation, Runtime, Task } from './rows.js'
import type { FindWaiting, Looking } from './waiting.js'

/** Status of one capability and, where it is not `configured`, why (a code that scripts match). */
export interface StatusLine {
  readonly status: string
  readonly reason_code: string | null
  /** A sentence with what to do, where the code alone does not tell whom it is about. */
  readonly reason?: string | undefined
}

/** Sealed content that a row names itself, beside the registry of artifacts. */
interface SealedContent {
  /** Record type it is sealed under. */
  readonly label: string
  readonly ref: ArtifactRef
}

/** The rows of a capability and what must hold of them. */
export interface CapabilityRows {
  readonly collections: readonly CollectionSpec<unknown>[]
  /** Of its collections those that are counted from others. */
  readonly derived?: readonly DerivedRows[]
  /** Each names every way in which rows contradict each other; [] is sound. Pure. */
  readonly rules: readonly ((view: View) => readonly Problem[])[]
  /** What lies in folders of its own beside what its rows say; never damage. Changes nothing. */
  readonly lying?: (store: Store, view: View) => readonly Problem[]
  /** Sealed content that its rows name beside the registry of artifacts. */
  readonly sealed?: (view: View) => readonly SealedContent[]
  /**
   * Keeps what a state that was replaced by an old copy knew of calls that may have been sent, so
   * that the copy sends none of them again; in the record that settles the copy. Pure over rows.
   */
  readonly carry?: (tx: Tx, former: View) => void
  /** Takes over the gates that it had closed in a state that was replaced. */
  readonly narrowed?: Carrier
  /** Which of its documents an owner takes along; of what it does not name, none. */
  readonly exported?: readonly Exported[]
  /** Operations of an owner of which neither money nor a decision tells whose they are. */
  readonly operationsOf?: (view: View, owner: string) => Iterable<string>
  /** Sessions that its rows name, for as long as those rows stay. */
  readonly rootsNamed?: (view: View) => Iterable<string>
  /** Its rows that tell of nothing done, which a person may have removed by age. */
  readonly idle?: IdleRows
}

/** Rows of a capability that tell of nothing done. */
export interface IdleRows {
  /** What they are, for people: `idle receipts`. */
  readonly noun: string
  /**
   * Ids of those that had ended before `before` (ISO), behind the place `after`, with the place to
   * go on from, null at the end; looks at a bounded number of rows. Pure.
   */
  readonly find: (view: View, before: string, after: string | undefined) => {
    readonly ids: readonly string[]
    readonly next: string | null
  }
  /** Removes those of `ids` that may still go, and notes that they are gone; answers how many. */
  readonly drop: (tx: Tx, now: string, before: string, ids: readonly string[]) => number
}

/** What a capability does about what dead processes left. */
export interface CapabilityRecovery {
  /** How its own interrupted tasks end, in one store. Left out: the default of every task. */
  readonly rule?: (store: Store) => Pick<RecoveryRule, 'ending' | 'keep'>
  /**
   * Resolves rows of its own once tasks and money are resolved; takes the lock only when a look
   * without it found some. It changes rows and nothing else: whoever only reads rehearses it.
   */
  readonly settleRows?: (gov: Gov) => Promise<unknown>
  /** Removes what lies about of work that is over; after `settleRows`, by those who may write. */
  readonly sweep?: (gov: Gov) => Promise<unknown>
}

/** What people decide about a capability's work. */
export interface CapabilityDecisions {
  /** Reviews a charge above its bound that a task of its waits for; one verdict, never changed. */
  readonly reviewOverrun?: (gov: Gov, session: Session, request: {
    readonly taskId: string
    readonly verdict: 'accept' | 'reject'
  }) => Promise<Task>
  /** Reviews a result that is paid for and waits, because a save was under way when it came. */
  readonly reviewHeld?: CapabilityDecisions['reviewOverrun']
  /** What else changes when an operator settled one of its charges by hand, in the same record. */
  readonly settledByHand?: (gov: Gov, tx: Tx, now: string, reservation: Reservation) => void
}

/** A capability, as everything that spans capabilities knows it. */
export interface Capability {
  /** One word; its field and its line in `status`. */
  readonly name: string
  /** Kinds of tasks that are its own. */
  readonly taskKinds: readonly string[]
  /** Runtimes whose operations, and whose money, are its own. */
  readonly runtimes: readonly Runtime[]
  /** What its charges may rest on; empty for work that costs nothing. */
  readonly sources: ChargeSources
  /** Record types that its private content is sealed under. */
  readonly artifactLabels: readonly string[]
  /** Shape of the content-safe receipt that its tasks keep; null where they keep none. */
  readonly receipt: v.GenericSchema<unknown, Readonly<Record<string, unknown>>> | null
  /** Longest time from the admission of a task to its wall deadline; null where it has no tasks. */
  readonly operationMsMax: number | null
  /** True where a person may have its ended tasks removed by age. */
  readonly prunable?: true
  readonly rows: () => Promise<CapabilityRows>
  readonly recovery?: () => Promise<CapabilityRecovery>
  readonly decisions?: () => Promise<CapabilityDecisions>
  readonly status?: () => Promise<(looking: Looking) => StatusLine>
  /**
   * What of it waits for a person besides money and results. Left out: it is told by its line of
   * the status, where that says `blocked`.
   */
  readonly waiting?: () => Promise<FindWaiting>
  /** True where that tells of its blocked tasks, too. */
  readonly tellsBlocked?: true
  /** The line, without `sallyport`, that shows the result of a task; left out: `task show`. */
  readonly reads?: (taskId: string) => string
  /** Which ids it explains; left out: its rows have none that anybody is shown. */
  readonly explained?: ExplainedIds
  /** What of it a receipt for others can be made of, by the type of the id that names it. */
  readonly receipted?: ReceiptedIds
}

/** The one list of capabilities, or another one in tests. */
export type Registry = readonly Capability[]

/** Whose tasks of this kind are; undefined for a kind that no capability has. */
export const ownerOfKind = (registry: Registry, kind: string): Capability | undefined =>
  registry.find(({ taskKinds }) => taskKinds.includes(kind))

/** Whose money of this runtime is; undefined for a runtime that no capability has. */
export const ownerOfRuntime = (registry: Registry, runtime: Runtime): Capability | undefined =>
  registry.find(({ runtimes }) => runtimes.includes(runtime))

/** Whether work of a capability holds money before contact. */
export const isPaid = ({ sources }: Capability): boolean => Object.keys(sources).length > 0
