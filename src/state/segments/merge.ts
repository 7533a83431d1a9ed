/** Reads several runs as one: of each key the newest row, in the order of the keyspace. */
import { compareKeys, type Row } from './row.js'

/**
 * Merges sorted rows, the newest source first. `reverse`: the sources run from the last key to the
 * first. Rows that say "removed" are given too: see `withoutRemoved`.
 */
export function* mergeRows<R extends Row>(
  sources: readonly Iterable<R>[], reverse = false,
): Generator<R> {
  const heads: { row: R; readonly rest: Iterator<R> }[] = []
  for (const source of sources) {
    const rest = source[Symbol.iterator]()
    const next = rest.next()
    if (next.done !== true) heads.push({ row: next.value, rest })
  }
  const sign = reverse ? -1 : 1
  try {
    while (heads.length > 0) {
      let best = heads[0] as { row: R; readonly rest: Iterator<R> }
      for (const head of heads) {
        if (sign * compareKeys(head.row, best.row) < 0) best = head
      }
      const { row } = best
      yield row
      for (let at = heads.length - 1; at >= 0; at -= 1) {
        const head = heads[at] as { row: R; readonly rest: Iterator<R> }
        if (compareKeys(head.row, row) !== 0) continue
        const next = head.rest.next()
        if (next.done === true) heads.splice(at, 1)
        else head.row = next.value
      }
    }
  } finally {
    for (const { rest } of heads) rest.return?.()
  }
}

/** Only rows that hold a document. */
export function* withoutRemoved<R extends Row>(rows: Iterable<R>): Generator<R> {
  for (const row of rows) if (row.text !== null) yield row
}
