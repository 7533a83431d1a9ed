/** Walking a collection of any length, of which no more than a page is held. */
import type { CollectionSpec, Entry, Store, View } from '../../state/types.js'

/** Rows that are looked at, and removed, in one go. */
export const pageMax = 64

/** A collection page by page, each of its own moment. */
export function* pagesOf<T>(
  store: Pick<Store, 'read'>, spec: CollectionSpec<T>, limit = pageMax,
): Generator<{ readonly view: View, readonly rows: readonly Entry<T>[] }, void, undefined> {
  let after: string | undefined
  for (;;) {
    const view = store.read()
    const rows = view.range(spec, { limit, ...(after === undefined ? {} : { after }) })
    if (rows.length > 0) yield { view, rows }
    if (rows.length < limit) return
    after = rows.at(-1)?.id
  }
}
