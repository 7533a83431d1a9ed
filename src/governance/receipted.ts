/**
 * What a capability gives of something that it did for a receipt that others can check: facts that
 * are safe to show, and digests of content that are keyed before they leave the state.
 */
import type { IdPrefix } from '../base/ids.js'
import type { View } from '../state/types.js'
import type { Gov, Session } from './context.js'

/** Content that a receipt is about, by a name of ours and the SHA-256 of its bytes. */
export interface ReceiptedContent {
  readonly name: string
  readonly sha256: string
}

/** One thing that was done. */
export interface Receipted {
  /** What it was: `ask`, `analysis`, `publication`, `closure`. */
  readonly what: string
  /** At least one; in an order that never changes. */
  readonly content: readonly [ReceiptedContent, ...ReceiptedContent[]]
  /** Ids, states, times, money and names of the other side: no text that somebody wrote. */
  readonly facts: Readonly<Record<string, unknown>>
}

/**
 * Finds what an id names, as the operator may see it. Reads rows and opens no content. Throws
 * `not_found` for what is missing or another owner's, `conflict` `no_receipt` where nothing of it
 * has left this machine, or nobody wrote down yet what became of it.
 */
export type FindReceipted = (gov: Gov, view: View, session: Session, id: string) => Receipted

/** Those of a capability, by the type of the id. */
export type ReceiptedIds = Readonly<Partial<Record<IdPrefix, () => Promise<FindReceipted>>>>
