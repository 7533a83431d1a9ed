/**
 * Compares every index with its rows in one pass over both, in both directions, with no entry in
 * memory: the entries that rows ask for and those that are stored are summed up by two keyed
 * numbers each, so that one that is missing, or that no row asks for, shows in the sums.
 */
import { randomBytes } from 'node:crypto'
import {
  entriesOf, entryText, indexCollections, isIndexName, type IndexCollection,
} from '../indexes.js'
import { foldText, spread } from '../segments/filter.js'
import type { Row } from '../segments/row.js'
import type { CollectionSpec } from '../types.js'

/** Entries, in no order. */
interface Sum {
  count: number
  first: number
  second: number
}

/** An index whose entries are not those of its rows. */
interface IndexDifference {
  /** Name of its collection. */
  readonly name: string
  readonly expected: number
  readonly stored: number
}

const none = (): Sum => ({ count: 0, first: 0, second: 0 })

/** The comparison under way. */
export class IndexSums {
  readonly #indexes = new Map<string, readonly IndexCollection[]>()
  readonly #expected = new Map<string, Sum>()
  readonly #stored = new Map<string, Sum>()
  readonly #untrue = new Set<string>()
  readonly #seeds: readonly [number, number]

  constructor(specs: readonly CollectionSpec<unknown>[]) {
    const seeds = randomBytes(8)
    this.#seeds = [seeds.readUInt32LE(0), seeds.readUInt32LE(4)]
    for (const spec of specs) {
      const collections = indexCollections(spec)
      if (collections.length > 0) this.#indexes.set(spec.name, collections)
    }
  }

  #add(sums: Map<string, Sum>, collection: string, entry: string): void {
    const sum = sums.get(collection) ?? none()
    sum.count += 1
    sum.first = (sum.first + spread(foldText(this.#seeds[0], entry))) >>> 0
    sum.second = (sum.second + spread(foldText(this.#seeds[1], entry))) >>> 0
    sums.set(collection, sum)
  }

  /** Counts the entries of a document. */
  addDocument(collection: string, id: string, doc: unknown): void {
    for (const index of this.#indexes.get(collection) ?? []) {
      for (const entry of entriesOf(index, doc, id)) this.#add(this.#expected, index.name, entry)
    }
  }

  /** Counts a stored entry. */
  addEntry({ collection, id, text }: Row): void {
    this.#add(this.#stored, collection, id)
    if (text !== entryText) this.#untrue.add(collection)
  }

  /** Whether a collection is one of an index of a known collection. */
  knows(collection: string): boolean {
    const [rows = ''] = collection.split(':', 1)
    return isIndexName(collection) && this.#indexes.has(rows)
  }

  /** Indexes that disagree with their rows. */
  differences(): readonly IndexDifference[] {
    const names = [...this.#expected.keys(), ...this.#stored.keys()].filter((name) =>
      this.knows(name))
    return [...new Set(names)].sort().flatMap((name) => {
      const expected = this.#expected.get(name) ?? none()
      const stored = this.#stored.get(name) ?? none()
      const same = expected.count === stored.count && expected.first === stored.first
        && expected.second === stored.second && !this.#untrue.has(name)
      return same ? [] : [{ name, expected: expected.count, stored: stored.count }]
    })
  }
}
