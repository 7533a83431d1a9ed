/** Lists that are longer than what is shown of them: what says so, and how to go on. */
import * as v from 'valibot'
import type { VerbDeps } from './bound.js'

/** Name of the schema of a page. */
export const pageSchemaName = 'sallyport.page.v1'

/** A list with `--paged`: its rows, whether there are more, and what reaches them. */
export const pageShape = v.strictObject({
  schema: v.literal(pageSchemaName),
  /** What the command prints without `--paged`. */
  rows: v.array(v.unknown()),
  more: v.boolean(),
  /** What `--after` takes for the next page; null at the end, and where a list has no `--after`. */
  next_page: v.nullable(v.string()),
})

/** That a list was cut, and where the rest begins. */
export type Cut = Pick<v.InferOutput<typeof pageShape>, 'more' | 'next_page'>

/** The page of a list as one document. */
export const pageOfList = (rows: readonly unknown[], cut: Cut | null): object => ({
  schema: pageSchemaName, rows, more: cut?.more ?? false, next_page: cut?.next_page ?? null,
})

/**
 * The first `limit` rows of a list that was asked for one more, and the word that there is more.
 * `afterOf` gives what `--after` takes to go on behind a row.
 */
export const cutAt = <T>(
  deps: VerbDeps, rows: readonly T[], limit: number, afterOf: (row: T) => string,
): readonly T[] => {
  if (rows.length <= limit) return rows
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const next = last === undefined ? null : afterOf(last)
  deps.cut = { more: true, next_page: next }
  deps.note(`${shown.length} shown, the newest; more with --after ${next ?? 'ID'}`)
  return shown
}
