/**
 * Reads histories: the head alone, a page, or the canonical lines of all of one. What is read is
 * compared with the chain. Nothing of another key is read but what shares a block with it.
 */
import { fail } from '../../base/errors.js'
import { canonicalText } from '../log/canonical-text.js'
import type { EntryRow, HistoryHead, HistorySpec, View } from '../types.js'
import { emptyHead, linkOf } from './chain.js'
import { mayBeLost } from './lost.js'
import { entryId, headId, historyLost, lostId, placeOfId } from './spec.js'

interface HistoryEntry<T> {
  /** Counted from 1. */
  readonly number: number
  readonly entry: T
  /** Chained over this entry and all before it. */
  readonly digest: string
}

interface PageOptions {
  /** Only entries behind this number (default 0). */
  readonly after?: number
  /** At most so many. */
  readonly limit: number
  /**
   * `told`: entries that were lost are passed over; their numbers are missing then. The default
   * throws `blocked` `history_incomplete`.
   */
  readonly lost?: 'told'
}

/** `blocked` `history_incomplete`. */
const incompleteHistory = (name: string): Error =>
  fail.blocked('history_incomplete',
    'Entries of a history were lost with a part of the state; what is left stays as it is.', {
      next: 'Look at what is left, and restore a backup that still has them.',
      details: { history: name },
    })

/** `damaged` `history_untrue`. */
export const untrueHistory = (name: string): Error =>
  fail.damaged('history_untrue', 'Entries of a history do not follow from each other.', {
    next: 'Run `sallyport state check`.', details: { history: name },
  })

type Rows = Pick<View, 'get' | 'range'>

/** Rows of a key behind a number; an id of another form is no entry of the program's. */
const rowsAfter = <T>(
  view: Rows, spec: HistorySpec<T>, key: string, after: number, limit: number,
): readonly { readonly number: number; readonly row: EntryRow<T> }[] =>
  view.range(spec.entries, { prefix: headId(key), after: entryId(key, after), limit })
    .map(({ id, doc: row }) => {
      const place = placeOfId(id)
      if (place === undefined) throw untrueHistory(spec.name)
      return { number: place.number, row }
    })

const linkBefore = <T>(view: Rows, spec: HistorySpec<T>, key: string, after: number): string => {
  if (after === 0) return emptyHead({ name: spec.name, key }).digest
  const row = view.get(spec.entries, entryId(key, after))
  if (row === undefined) throw incompleteHistory(spec.name)
  return row.digest
}

/** Each entry follows from the one before, and no number is missing. */
function* linked<T>(
  spec: HistorySpec<T>, key: string, rows: ReturnType<typeof rowsAfter<T>>, after: number,
  before: string,
): Generator<HistoryEntry<T> & { readonly text: string }> {
  let [last, digest] = [after, before]
  for (const { number, row } of rows) {
    const text = canonicalText(row.entry)
    if (number !== last + 1) throw incompleteHistory(spec.name)
    if (linkOf({ name: spec.name, key }, number, digest, text) !== row.digest) {
      throw untrueHistory(spec.name)
    }
    ;[last, digest] = [number, row.digest]
    yield { number, entry: row.entry, digest, text }
  }
}

/** The entries behind a number, oldest first. */
export const historyPage = <T>(
  view: Rows, spec: HistorySpec<T>, key: string, { after = 0, limit, lost }: PageOptions,
): readonly HistoryEntry<T>[] => {
  const rows = rowsAfter(view, spec, key, after, limit)
  if (lost === 'told') return rows.map(({ number, row }) => ({ number, ...row }))
  if (rows.length === 0) return []
  return [...linked(spec, key, rows, after, linkBefore(view, spec, key, after))]
    .map(({ number, entry, digest }) => ({ number, entry, digest }))
}

const pageEntries = 256

/** Every entry as canonical JSON without its line end, oldest first, up to a head. */
function* linesUpTo<T>(
  view: Rows, spec: HistorySpec<T>, key: string, head: HistoryHead,
): Generator<string> {
  let [last, digest] = [0, emptyHead({ name: spec.name, key }).digest]
  while (last < head.entries) {
    const rows = rowsAfter(view, spec, key, last, Math.min(pageEntries, head.entries - last))
    if (rows.length === 0) throw incompleteHistory(spec.name)
    for (const one of linked(spec, key, rows, last, digest)) {
      yield one.text
      ;[last, digest] = [one.number, one.digest]
    }
  }
  if (digest !== head.digest) throw untrueHistory(spec.name)
}

const isWhole = <T>(view: Rows, spec: HistorySpec<T>, key: string, head: HistoryHead): boolean => {
  const rows = function* (): Generator<number> {
    for (let last = 0; last < head.entries;) {
      const page = rowsAfter(view, spec, key, last, pageEntries)
      const next = page.at(-1)?.number
      if (next === undefined) return
      yield* page.map(({ number }) => number)
      last = next
    }
  }
  let expected = 1
  for (const number of rows()) if (number === expected) expected += 1
  return expected === head.entries + 1
}

/**
 * How far the history of a key goes; one that has no entry yet has a head of its own. Reads the
 * head alone, unless damage took rows that may have been this history's: then what is left is
 * counted, and `blocked` `history_incomplete` says that entries are gone.
 */
export const historyHead = <T>(view: Rows, spec: HistorySpec<T>, key: string): HistoryHead => {
  const head = view.get(spec.heads, headId(key))
  const lost = view.get(historyLost, lostId)
  if (head === undefined) {
    const wasThere = lost !== undefined && mayBeLost(lost, spec.heads.name, key)
    if (wasThere || rowsAfter(view, spec, key, 0, 1).length > 0) throw incompleteHistory(spec.name)
    return emptyHead({ name: spec.name, key })
  }
  const mayLack = lost !== undefined && mayBeLost(lost, spec.entries.name, key)
  if (mayLack && !isWhole(view, spec, key, head)) throw incompleteHistory(spec.name)
  return head
}

/**
 * The canonical lines of a history, as its limits count them: each entry's canonical JSON, without
 * the line end. Read page by page; throws at the first one that is missing or does not follow.
 */
export function* historyLines<T>(view: Rows, spec: HistorySpec<T>, key: string): Generator<string> {
  yield* linesUpTo(view, spec, key, historyHead(view, spec, key))
}
