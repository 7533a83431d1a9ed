/** A part of a list, and what goes on behind it. */
import * as v from 'valibot'
import type { IdPrefix } from './ids.js'
import { strictInteger } from './schema.js'

/** Name of the schema of a page. */
export const pageSchemaName = 'sallyport.page.v1'

/** Most rows of a part of a list. */
export const pageRowsMax = 10_000

const uuidText = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
/** What stands for unread records ends in no UUID. */
const endText = `(?:${uuidText}|unread-.+)`

/**
 * Id of a row of these types: only those behind it are asked for. It need not be there, because
 * rows are removed; what has not its form was mistyped, and would give all of a list or nothing.
 */
export const behindRow = (...prefixes: readonly [IdPrefix, ...IdPrefix[]]) =>
  v.optional(v.pipe(v.string(), v.regex(
    new RegExp(`^(?:${prefixes.join('|')})_${endText}$`),
    'must be the id of a row of this list')))

/** What asks for a part of a list that is given whole otherwise. */
export const pageFields = (prefix: IdPrefix) => ({
  limit: v.optional(strictInteger(1, pageRowsMax)),
  after: behindRow(prefix),
})

/** A part of a list as a document. */
export const pageShape = v.strictObject({
  schema: v.literal(pageSchemaName),
  /** What is given where no page was asked for. */
  rows: v.array(v.unknown()),
  more: v.boolean(),
  /** The command that prints the next page, over HTTP the path that gives it; null at the end. */
  next_page: v.nullable(v.string()),
})
/** How many rows a list gives unless told otherwise. */
export const pageDefault = 50

/** A part of a list as a document. */
type PageDocument = v.InferOutput<typeof pageShape>

/** The document of a part; `next` is what goes on, null at the end. */
export const pageDocument = (rows: readonly unknown[], next: string | null): PageDocument =>
  ({ schema: pageSchemaName, rows: [...rows], more: next !== null, next_page: next })

/** The first rows of a list, and the one of them behind which it goes on; null at the end. */
interface FirstRows<T> {
  readonly rows: readonly T[]
  readonly last: T | null
}

/** The first `limit` rows of a list that was asked for one more. */
export const firstRows = <T>(found: readonly T[], limit: number): FirstRows<T> => {
  const rows = found.slice(0, limit)
  return { rows, last: found.length > limit ? rows.at(-1) ?? null : null }
}
