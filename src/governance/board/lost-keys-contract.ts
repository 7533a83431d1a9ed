/** What goes in and comes out of looking at ranges of keys that damage took. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { closedObject } from '../../base/schema.js'
import type { Entry } from '../../state/types.js'
import type { LostKeys } from '../rows.js'

const rangeShape = v.strictObject({
  id: v.string(),
  /** The first key of the range, and the first one behind it; null where it has no end. */
  from: v.string(),
  to: v.nullable(v.string()),
  /** When the loss was found. */
  at: v.string(),
  /** When a person released it; null while every key of it counts as spent. */
  released_at: v.nullable(v.string()),
})

const keysShape = v.strictObject({
  ranges: v.array(rangeShape),
  /** The range that this run released. */
  released: v.nullable(v.string()),
})
/** Listing ranges of keys that damage took, and releasing one. */
export const stateKeys = contract({
  name: 'state.keys',
  input: closedObject({ release: v.optional(v.string()) }),
  output: keysShape,
  toDocument: ({ ranges, released }: {
    readonly ranges: readonly Entry<LostKeys>[]; readonly released: string | null
  }) => ({
    ranges: ranges.map(({ id, doc: { from, to, at, released: by } }) =>
      ({ id, from, to, at, released_at: by?.at ?? null })),
    released,
  }),
})
