/** Whole collections without holding them. */
import type { CollectionSpec, Entry, View } from './types.js'

/** Documents that are held at a time. */
const pageRows = 500

/**
 * Every document of a collection, ids ascending, some hundreds at a time: what `View.all` gives,
 * for whoever looks at each once. In a transaction nothing may be written meanwhile.
 */
export function* each<T>(view: View, spec: CollectionSpec<T>): Generator<Entry<T>> {
  for (let after: string | undefined; ;) {
    const page = view.range(spec, { limit: pageRows, ...(after === undefined ? {} : { after }) })
    yield* page
    if (page.length < pageRows) return
    after = page.at(-1)?.id
  }
}

/** What a look at each document finds; only that is held. */
export const findEach = <T, Found>(
  view: View, spec: CollectionSpec<T>, look: (entry: Entry<T>) => readonly Found[],
): Found[] => {
  const found: Found[] = []
  for (const entry of each(view, spec)) found.push(...look(entry))
  return found
}

const groupFirst = 16
const groupMax = 1024

/**
 * Values in groups: `first` of them, then few, and more each time up to a thousand. Whoever does
 * something for a group at once, and may stop early, has then done little in vain.
 */
export function* inGroups<T>(
  values: Iterable<T>, first = groupFirst,
): Generator<readonly T[], void, undefined> {
  let group: T[] = []
  let size = first
  for (const value of values) {
    group.push(value)
    if (group.length < size) continue
    yield group
    group = []
    size = Math.max(groupFirst, Math.min(groupMax, size * 2))
  }
  if (group.length > 0) yield group
}

/** Documents without their ids. */
export function* documents<T>(entries: Iterable<Entry<T>>): Generator<T> {
  for (const { doc } of entries) yield doc
}
