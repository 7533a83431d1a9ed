/**
 * Rows that are counted from the rows of another collection. Whoever writes those keeps them right
 * in the same record; they tell nothing of their own, so that after a loss, in a copy of an earlier
 * format and where a format counts something else they are counted again.
 */

/** A row as it is counted, or comes of the count. */
interface DerivedEntry {
  readonly id: string
  readonly doc: unknown
}

/** One count under way. */
export interface Derivation {
  add(entry: DerivedEntry): void
  /** The rows that there should be, in no order; few enough to be held. */
  rows(): Iterable<DerivedEntry>
}

/** A collection whose rows are counted. */
export interface DerivedRows {
  readonly name: string
  /** The collection that they are counted from. */
  readonly from: string
  begin(): Derivation
}
