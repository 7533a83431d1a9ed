/**
 * Histories: append-only entries by key, with a head that says how many there are. What is one is
 * told by the name of its collections alone, so that every transaction refuses to write there and
 * every check, repair and restore knows what it looks at, whichever program declared it.
 */
import type { GenericSchema } from 'valibot'
import * as v from 'valibot'
import { count } from '../../base/schema.js'
import type { CollectionSpec, EntryRow, HistorySpec } from '../types.js'

const entriesEnd = '_history'
const headsEnd = '_history_head'
const numberDigits = 6
/** More entries than this have no id. */
const entriesMost = 999_999
const nameForm = /^[a-z][a-z0-9_]{0,50}$/
const keyForm = /^[A-Za-z0-9_.:-]{1,200}$/
const idForm = /^([^/]+)\/(\d{6})$/

const digest = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

const headShape = v.strictObject({ bytes: count, digest, entries: count })

const at = v.strictTuple([v.string(), v.string()])
const lostShape = v.strictObject({
  /** From one place of the keyspace to before another, and when what lay there was last whole. */
  ranges: v.array(v.strictObject({ at: v.string(), from: at, to: at })),
})
/** Where rows were lost, so that nobody takes a history that lay there for an empty one. */
export type LostRanges = v.InferOutput<typeof lostShape>

/** Written by a repair or a restore that could not read a block; one document, `lostId`. */
export const historyLost: CollectionSpec<LostRanges> = {
  name: 'history_lost', schema: lostShape, partition: 'one',
}
/** Id of its one document. */
export const lostId = 'ranges'

/** Names of the collections of a history. */
export const collectionsNamed = (name: string) =>
  ({ entries: `${name}${entriesEnd}`, heads: `${name}${headsEnd}` })

/** Whether a collection is part of a history, or says what was lost of some: no `put` writes it. */
export const isHistoryName = (collection: string): boolean =>
  collection.endsWith(entriesEnd) || collection.endsWith(headsEnd) ||
  collection === historyLost.name

/** The history that a collection is part of; undefined for any other. */
export const historyOf = (collection: string): string | undefined => {
  const end = [headsEnd, entriesEnd].find((one) => collection.endsWith(one))
  return end === undefined ? undefined : collection.slice(0, -end.length)
}

/**
 * Declares a history. `entriesMax` and `bytesMax` are limits of one key: 4,096 entries and 4 MiB
 * unless they are given.
 */
export const historySpec = <T>({ name, entry, entriesMax = 4_096, bytesMax = 4 * 1024 * 1024 }: {
  readonly name: string
  readonly entry: GenericSchema<T>
  readonly entriesMax?: number
  readonly bytesMax?: number
}): HistorySpec<T> => {
  if (!nameForm.test(name) || entriesMax > entriesMost) throw new TypeError('not a history')
  const names = collectionsNamed(name)
  const row = v.strictObject({ digest, entry }) as GenericSchema<EntryRow<T>>
  return {
    name, entry, entriesMax, bytesMax,
    entries: { name: names.entries, schema: row, partition: 'hash256' },
    heads: { name: names.heads, schema: headShape, partition: 'hash256' },
  }
}

/** The collections of a history, for a list of all that a program keeps. */
export const collectionsOf = <T>({ entries, heads }: HistorySpec<T>): CollectionSpec<unknown>[] =>
  [entries, heads]

/** Id of a key's head, and what the ids of its entries begin with. No key holds a `/`. */
export const headId = (key: string): string => {
  if (!keyForm.test(key)) throw new TypeError('not a key of a history')
  return `${key}/`
}

/** Id of an entry, counted from 1. */
export const entryId = (key: string, number: number): string =>
  `${headId(key)}${String(number).padStart(numberDigits, '0')}`

/** Key and number of an entry's id; undefined for any other id. */
export const placeOfId = (
  id: string,
): { readonly key: string; readonly number: number } | undefined => {
  const [, key, digits] = idForm.exec(id) ?? []
  return key === undefined ? undefined : { key, number: Number(digits) }
}
