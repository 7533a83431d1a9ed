/**
 * Indexes: rows found by something else than their ids. An entry is a row of its own, in a
 * collection `rows:index`, under the id `key/…/id`, with an empty document; it is written in the
 * record of the row that it points to, and nothing else ever writes one.
 */
import * as v from 'valibot'
import { inGroups } from './each.js'
import type { CollectionSpec, Entry, Index, IndexKey, View } from './types.js'

const entryShape = v.strictObject({})
type EntryDocument = v.InferOutput<typeof entryShape>

/** The document of every entry, as canonical JSON. */
export const entryText = '{}'
/** The document of every entry. */
export const entryDocument: EntryDocument = Object.freeze({})

/** The collection that holds the entries of an index. */
export interface IndexCollection extends CollectionSpec<EntryDocument> {
  /** Whose rows it finds. */
  readonly rows: CollectionSpec<unknown>
  readonly index: Index<unknown>
}

/** Whether a collection of this name holds entries of an index. */
export const isIndexName = (collection: string): boolean => collection.includes(':')

/** Whether a collection holds entries of an index. */
export const isIndexCollection = (
  spec: CollectionSpec<unknown>,
): spec is IndexCollection => 'index' in spec

const made = new WeakMap<CollectionSpec<unknown>, readonly IndexCollection[]>()
const noIndexes: readonly IndexCollection[] = []

export const indexCollections = <T>(rows: CollectionSpec<T>): readonly IndexCollection[] => {
  if (rows.indexes === undefined) return noIndexes
  let collections = made.get(rows)
  if (collections === undefined) {
    collections = rows.indexes.map((index): IndexCollection => ({
      name: `${rows.name}:${index.name}`, schema: entryShape, partition: 'hash256', rows, index,
    })).sort((a, b) => (a.name < b.name ? -1 : 1))
    made.set(rows, collections)
  }
  return collections
}

/** The collection of one index. Throws where the rows are not declared to have it. */
export const indexCollection = <T>(rows: CollectionSpec<T>, index: Index<T>): IndexCollection => {
  const found = indexCollections(rows).find((one) => one.index === index)
  if (found === undefined) throw new TypeError(`${rows.name} has no index ${index.name}`)
  return found
}

const special = /[%/]/g
/** A part as it stands in the id of an entry: a slash separates parts. */
const escaped = (part: string): string =>
  part.replace(special, (one) => (one === '/' ? '%2F' : '%25'))
const unescaped = (part: string): string => part.replaceAll('%2F', '/').replaceAll('%25', '%')

const entryId = (key: IndexKey, id: string): string => `${key.map(escaped).join('/')}/${id}`

/** Ids of the entries of a row. */
export const entriesOf = <T>(
  { index }: IndexCollection, doc: T, id: string,
): ReadonlySet<string> => new Set(index.keysOf(doc).map((key) => {
  if (key.length !== index.parts) throw new TypeError(`a key of ${index.name} lacks a part`)
  return entryId(key, id)
}))

/** An entry of an index: what a row was found under. */
export interface Found {
  readonly key: IndexKey
  /** Id of the row. */
  readonly id: string
  /** The place of the entry, from which to go on. */
  readonly place: string
}

const foundAt = (place: string, parts: number): Found => {
  const key: string[] = []
  let at = 0
  for (let n = 0; n < parts; n += 1) {
    const end = place.indexOf('/', at)
    key.push(unescaped(place.slice(at, end)))
    at = end + 1
  }
  return { key, id: place.slice(at), place }
}

/** What to look up. */
export interface Lookup {
  /** The first parts of the key; all entries where it is left out. */
  readonly under?: IndexKey
  /**
   * Where to begin, in the next part of the key: with everything from this text on (with `reverse`
   * everything before it).
   */
  readonly from?: string | undefined
  /**
   * Only entries whose next part begins with this text; behind a whole key the next part is the
   * id.
   */
  readonly begins?: string
  /** Only entries behind this place (before it, with `reverse`); see `Found`. */
  readonly after?: string | undefined
  readonly limit?: number
  readonly reverse?: boolean
}

const prefixOf = (under: IndexKey): string => under.map((part) => `${escaped(part)}/`).join('')

/** Entries of an index, in the order of their keys and, under one key, of their ids. */
export const lookUp = <T>(
  view: View, rows: CollectionSpec<T>, index: Index<T>, lookup: Lookup = {},
): readonly Found[] => {
  const { under = [], from, begins = '', after, limit, reverse } = lookup
  const prefix = prefixOf(under) + escaped(begins)
  const start = after ?? (from === undefined ? undefined : prefix + escaped(from))
  return view.range(indexCollection(rows, index), {
    prefix,
    ...(start === undefined ? {} : { after: start }),
    ...(limit === undefined ? {} : { limit }),
    ...(reverse === undefined ? {} : { reverse }),
  }).map(({ id }) => foundAt(id, index.parts))
}

const pageFirst = 32
const pageMax = 1024

/** The same, a page at a time, so that whoever stops early has read little. */
export function* walkIndex<T>(
  view: View, rows: CollectionSpec<T>, index: Index<T>, lookup: Omit<Lookup, 'limit'> = {},
): Generator<Found, void, undefined> {
  let { after } = lookup
  for (let limit = pageFirst; ; limit = Math.min(pageMax, limit * 2)) {
    const page = lookUp(view, rows, index, { ...lookup, after, limit })
    yield* page
    if (page.length < limit) return
    after = page.at(-1)?.place
  }
}

/**
 * Rows of entries, in their order, each read with others that lie near it. So many at first as
 * `wanted` says, where that is known; else few, and more each time, so that whoever stops early has
 * read little. An entry without a row is passed over.
 */
export function* rowsOfEntries<T>(
  view: View, rows: CollectionSpec<T>, found: Iterable<Pick<Found, 'id'>>, wanted?: number,
): Generator<Entry<T>, void, undefined> {
  for (const group of inGroups(found, wanted)) {
    const docs = view.getMany(rows, group.map(({ id }) => id))
    for (const [n, { id }] of group.entries()) {
      const doc = docs[n]
      if (doc !== undefined) yield { id, doc }
    }
  }
}

/** Rows that a lookup finds, in its order. An entry without a row is passed over. */
export const rowsUnder = <T>(
  view: View, rows: CollectionSpec<T>, index: Index<T>, lookup: Lookup = {},
): readonly Entry<T>[] => {
  const found = lookUp(view, rows, index, lookup)
  return [...rowsOfEntries(view, rows, found, found.length)]
}
