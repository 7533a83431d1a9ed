/** A collection with indexes, for the tests of stores. */
import * as v from 'valibot'
import type { DerivedRows } from '../../../src/state/derived.js'
import type { Found, Lookup } from '../../../src/state/indexes.js'
import { lookUp } from '../../../src/state/indexes.js'
import type { CollectionSpec, Index, View } from '../../../src/state/types.js'

const thingShape = v.strictObject({
  /** Null: in no index by colour. */
  colour: v.nullable(v.string()),
  weight: v.pipe(v.number(), v.safeInteger()),
  words: v.array(v.string()),
})
export type Thing = v.InferOutput<typeof thingShape>

const weightText = (weight: number): string => String(weight).padStart(6, '0')

/** One entry for a thing that has a colour. */
export const byColour: Index<Thing> = {
  name: 'colour', parts: 2,
  keysOf: ({ colour, weight }) => (colour === null ? [] : [[colour, weightText(weight)]]),
}
/** Any number of entries for a thing. */
export const byWord: Index<Thing> = {
  name: 'word', parts: 1, keysOf: ({ words }) => words.map((word) => [word]),
}

/** Things, found by colour and weight, and by each of their words. */
export const things: CollectionSpec<Thing> = {
  name: 'things', schema: thingShape, partition: 'hash256', indexes: [byColour, byWord],
}

/** The same rows as a program knows them that has no index. */
export const bareThings: CollectionSpec<Thing> = {
  name: 'things', schema: thingShape, partition: 'hash256',
}

/** What the indexes of some rows must hold, in their order. */
export const dueEntries = (
  rows: Iterable<readonly [string, Thing]>,
): { readonly colour: string[]; readonly word: string[] } => {
  const all = [...rows]
  const ordered = (index: Index<Thing>): string[] =>
    [...new Set(all.flatMap(([id, doc]) => index.keysOf(doc).map((key) =>
      `${key.map((part) => part.replace(/%/g, '%25').replace(/\//g, '%2F')).join('/')}/${id}`)))]
      .sort()
  return { colour: ordered(byColour), word: ordered(byWord) }
}

const placesOf = (found: readonly Found[]): string[] => found.map(({ place }) => place)

/** What the indexes of a view hold. */
export const entriesIn = (
  view: View, lookup: Lookup = {},
): { readonly colour: string[]; readonly word: string[] } => ({
  colour: placesOf(lookUp(view, things, byColour, lookup)),
  word: placesOf(lookUp(view, things, byWord, lookup)),
})

/** How many things there are of each colour, as rows that are counted from them. */
export const colourCounts: CollectionSpec<{ readonly count: number }> = {
  name: 'thing_counts', schema: v.strictObject({ count: v.number() }), partition: 'one',
}

/** The same, for whoever counts them again. */
export const countedColours: DerivedRows = {
  name: colourCounts.name,
  from: things.name,
  begin: () => {
    const counts = new Map<string, number>()
    return {
      add: ({ doc }) => {
        const { colour } = doc as Thing
        if (colour !== null) counts.set(colour, (counts.get(colour) ?? 0) + 1)
      },
      rows: () => Array.from(counts, ([id, count]) => ({ id, doc: { count } })),
    }
  },
}
