/**
 * Rows of conclusions. The text lies sealed; a row names what it was made from, so that a report
 * can tell how many digests and which observations stand behind it (S-107).
 */
import * as v from 'valibot'
import { count, sha256, text } from '../../base/schema.js'
import type { CollectionSpec } from '../../state/types.js'
import { madeTextEntries } from '../texts/made.js'

const madeShape = v.strictObject({
  ...madeTextEntries,
  conclusion_id: v.pipe(text, v.startsWith('ccl_')),
  digest_count: count,
  digest_ids: v.array(text),
})
/** A conclusion that was bought. */
export type MadeConclusion = v.InferOutput<typeof madeShape>

const conclusionShape = v.strictObject({
  /** Digest of the analyses and digests that it is made from. */
  source_digest: sha256,
  /** How often a call was claimed; a new claim only ever follows one that sent nothing. */
  number: v.pipe(count, v.minValue(1)),
  input_digest: sha256,
  made: v.nullable(madeShape),
})
/** What was tried for one set of inputs. */
type ConclusionRow = v.InferOutput<typeof conclusionShape>

/** The collections of conclusions. */
export const conclusionCollections = {
  /** By source digest. */
  conclusions: { name: 'shot_conclusions', schema: conclusionShape, partition: 'hash256' },
  /** Only `the`: the newest conclusion there is. */
  head: {
    name: 'shot_conclusion_head',
    schema: v.strictObject({ count, newest: sha256 }),
    partition: 'one',
  },
} satisfies {
  conclusions: CollectionSpec<ConclusionRow>
  head: CollectionSpec<{ count: number; newest: string }>
}

/** Id of the only document of `conclusionCollections.head`. */
export const conclusionHeadId = 'the'
