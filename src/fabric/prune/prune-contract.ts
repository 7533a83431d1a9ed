/** What goes in and comes out of a prune. */
import * as v from 'valibot'
import { fail } from '../../base/errors.js'
import { contract } from '../../base/contract.js'
import { unitMs } from '../../base/duration.js'
import { closedObject, strictInteger, count, text } from '../../base/schema.js'

/** Ages that may be asked for, milliseconds: from a day on, since minutes and months look alike. */
export const pruneAge = { min: unitMs.d, max: 36_500 * unitMs.d } as const

const shape = v.strictObject({
  /** Whether this only tells what would go. */
  dry_run: v.boolean(),
  /** What had not changed since then; null where only copies aside were named. */
  before: v.nullable(v.string()),
  /** Of the text capability, by the state that they had ended in. */
  tasks: v.strictObject({ succeeded: count, failed: count, cancelled: count }),
  /** Receipts of jobs that tell of nothing done. */
  idle_receipts: count,
  sessions: count,
  /** Sealed files. */
  artifacts: count,
  /** Files without a record that an earlier, cut-off run had left; null for a dry run. */
  swept: v.nullable(count),
  /** Of a state that machines share: sealed files that its place did not remove; null for none. */
  left_at_place: v.nullable(v.strictObject({
    /** 0 where only what an earlier run had left could not be looked for. */
    files: count,
    /** Code of what the place said. */
    why: text,
  })),
  /** Names of machines that may still show what this run removed; null: nobody could be asked. */
  behind: v.nullable(v.array(text)),
  /** Copies of finished repairs and restores. */
  asides: count,
  bytes_before: count,
  /** Null for a dry run. */
  bytes_after: v.nullable(count),
})
/** What a prune removed, or would. */
export type StatePruneDocument = v.InferOutput<typeof shape>

/** Removing what is older than so many milliseconds, or a copy aside by its name. */
export const statePrune = contract({
  name: 'state.prune',
  input: closedObject({
    older_than: v.optional(strictInteger(pruneAge.min, pruneAge.max)),
    dry_run: v.optional(v.boolean()),
    /** Name of a copy aside, for one that never goes by age. */
    aside: v.optional(v.string()),
  }),
  output: shape,
  failure: ({ left_at_place: left }) => (left === null ? null : fail.partial(
    'files_left_at_place', 'Sealed files whose rows are gone may still lie at the server.', {
      reason: left.why, details: { files: left.files },
      next: 'Run the same line again once the place answers: it removes what no row names.',
    })),
})
