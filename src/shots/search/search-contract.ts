/** What goes into a search of what analyses and digests say, and what comes out. */
import * as v from 'valibot'
import { contract } from '../../base/contract.js'
import { behindRow } from '../../base/page.js'
import { closedObject, strictInteger, count, iso, nullableText, text } from '../../base/schema.js'
import { shotLimits } from '../constants.js'

/** Longest text that is looked for, in characters. */
const searchCharsMax = 200

const foundShape = v.strictObject({
  kind: v.picklist(['analysis', 'digest']),
  /** Id of the observation, or of the digest. */
  id: text,
  /** When the picture was captured, or the digest's window ended. */
  at: iso,
  /** Member of the payload in which it was found first. */
  field: text,
  /** One line of what a model wrote, around the place. */
  line: text,
})
/** One analysis or digest that says it. */
export type Found = v.InferOutput<typeof foundShape>

const outputShape = v.strictObject({
  found: v.array(foundShape),
  looked_at: v.strictObject({ analyses: count, digests: count }),
  /** Payloads that could not be opened. */
  unreadable: count,
  /** Whether it stopped at the limit before all was looked at. */
  more: v.boolean(),
  /** The command that goes on behind the last that was found; null where all was looked at. */
  next_page: nullableText,
})
/** What a search found. */
export type SearchResult = Omit<v.InferOutput<typeof outputShape>, 'next_page'>
/** The same as a document. */
export type SearchDocument = v.InferOutput<typeof outputShape>

/** A search of what was bought. */
export const shotsFind = contract({
  name: 'shots.find',
  input: closedObject({
    text: v.pipe(v.string(), v.maxLength(searchCharsMax)),
    /** ISO text: captured, or its window ended, at or after. */
    since: v.optional(v.string()),
    limit: v.optional(strictInteger(1, shotLimits.listItemsMax)),
    /** Only what comes behind the analysis of this observation, or behind this digest. */
    after: behindRow('obs', 'epi'),
  }),
  output: outputShape,
  toDocument: ({ result, nextPage }: {
    readonly result: SearchResult
    readonly nextPage: string | null
  }): SearchDocument => ({ ...result, found: [...result.found], next_page: nextPage }),
})
