/**
 * A former state as far as it can still be read: one that a repair or a restore has put aside.
 * Beside its documents it shows what true records behind an untrue one say. Nothing of it is ever
 * replayed: the layers above ask it what it owed and what it had forbidden, and carry that over.
 */
import { shapeCheck } from '../../base/compiled-shape.js'
import type { Files } from '../files.js'
import { entriesOf, entryDocument, isIndexCollection, type IndexCollection } from '../indexes.js'
import { oldestFormatVersion, type Places } from '../paths.js'
import { isWithin, type Bounds } from '../segments/read-segment.js'
import type { Key, Row } from '../segments/row.js'
import { boundsIn, boundsOf } from '../segments/table.js'
import type {
  AnchoredMark, AnchorComparison, CollectionSpec, Entry, RangeOptions, View,
} from '../types.js'
import { gather } from './all-rows.js'
import { evidenceOf, recordsOf, salvage, type Salvage, type Trace } from './salvage.js'

/** A part of a former state that nobody can read: what was done in it is not known. */
export interface Hole {
  /** The same for every copy of the same damage. */
  readonly id: string
  /** Documents that may have been in it, as ranges of keys; absent where it may be any. */
  readonly lost?: readonly LostRange[]
  /** Set where what another hole of the same loss holds stands for the money of this one. */
  readonly isHeld?: true
}

/** Documents from one key to before another, in the order of the keyspace. */
interface LostRange {
  readonly from: Key
  readonly to: Key
}

/** The ids of one collection that a lost range spans; `to` null: up to the last. */
export const idsLost = (
  { from, to }: LostRange, collection: string,
): { readonly from: string; readonly to: string | null } | undefined => {
  if (collection < from.collection || collection > to.collection) return undefined
  return {
    from: collection === from.collection ? from.id : '',
    to: collection === to.collection ? to.id : null,
  }
}

/** A former state. */
export interface Former {
  readonly view: View
  /** Empty for a state that was read whole. */
  readonly holes: readonly Hole[]
  /** Whether anything could be read. */
  readonly readable: boolean
  /** Whether a restore or repair has carried over all of it before. */
  readonly settled: boolean
  /** Whether a marked record is among what could be read of it. */
  knows(mark: AnchoredMark): boolean
}

/** Where the rows of a former state come from. */
interface FormerRows {
  find(key: Key): Row | undefined
  /** In order, as they are asked for. */
  scan(bounds: Bounds): Iterable<Row>
}

/**
 * Documents of a former state, which no longer changes. One that breaks the shape of its collection
 * is left out.
 */
class FormerView implements View {
  readonly sequence: number
  readonly #rows: FormerRows

  constructor(rows: FormerRows, sequence: number) {
    this.#rows = rows
    this.sequence = sequence
  }

  get<T>(spec: CollectionSpec<T>, id: string): T | undefined {
    return this.#fitting(spec, this.#rows.find({ collection: spec.name, id }))
  }

  getMany<T>(spec: CollectionSpec<T>, ids: readonly string[]): readonly (T | undefined)[] {
    return ids.map((id) => this.get(spec, id))
  }

  all<T>(spec: CollectionSpec<T>): readonly Entry<T>[] {
    return this.range(spec, {})
  }

  range<T>(spec: CollectionSpec<T>, options: RangeOptions): readonly Entry<T>[] {
    const { limit = Number.POSITIVE_INFINITY, reverse = false } = options
    const bounds = boundsIn(spec.name, options)
    const found = isIndexCollection(spec)
      ? this.#entries(spec).filter(({ id }) => isWithin({ collection: spec.name, id }, bounds)) as
        unknown as Entry<T>[]
      : this.#stored(spec, bounds, reverse ? Number.POSITIVE_INFINITY : limit)
    return (reverse ? found.reverse() : found).slice(0, limit)
  }

  #stored<T>(spec: CollectionSpec<T>, bounds: Bounds, limit: number): Entry<T>[] {
    const found: Entry<T>[] = []
    for (const row of this.#rows.scan(bounds)) {
      if (found.length >= limit) break
      const doc = this.#fitting(spec, row)
      if (doc !== undefined) found.push({ id: row.id, doc })
    }
    return found
  }

  /** Entries of an index, from the rows: a former state may be of a time before there were any. */
  #entries(spec: IndexCollection): Entry<unknown>[] {
    return this.#stored(spec.rows, boundsOf(spec.rows.name), Number.POSITIVE_INFINITY)
      .flatMap(({ id, doc }) => [...entriesOf(spec, doc, id)])
      .sort()
      .map((id) => ({ id, doc: entryDocument }))
  }

  #fitting<T>({ schema, upgrade }: CollectionSpec<T>, row: Row | undefined): T | undefined {
    if (row === undefined || row.text === null) return undefined
    const stored: unknown = JSON.parse(row.text)
    const doc = upgrade === undefined ? stored : upgrade(stored)
    return shapeCheck(schema)(doc) ? doc : undefined
  }
}

const chainMark = (chain: string): string => chain.slice(0, 16)

const rangesOf = (lost: ReturnType<typeof gather>['lost']): readonly LostRange[] =>
  lost.flatMap(({ from, to }) => (to === undefined ? [] : [{ from, to }]))

const holesOf = (
  { manifest, broken, head }: Trace, lost: ReturnType<typeof gather>['lost'],
): readonly Hole[] => [
  ...(lost.length === 0 ? [] : [{
    id: `documents-${manifest.number}-${chainMark(manifest.chain)}`, lost: rangesOf(lost),
  }]),
  ...(broken === null ? [] : [{ id: `log-${broken.epoch}-${chainMark(head.chain)}` }]),
]

/** What is left of a former state of which a manifest is true. */
const readStanding = (
  files: Files, places: Places, found: Salvage & { readonly standing: Trace },
): Omit<Former, 'settled'> => {
  const { standing } = found
  const { rows, lost } = gather(files, places, found, 'applied')
  const skip = (): void => undefined
  const sequence = Math.max(standing.head.sequence, evidenceOf(standing).at(-1)?.sequence ?? 0)
  const view = new FormerView({
    find: (key) => rows.find(key),
    scan: (bounds) => rows.rows(bounds, skip),
  }, sequence)
  const [any] = rows.rows({}, skip)
  const chains = new Set([
    standing.manifest.chain, ...standing.manifest.marks.map(({ chain }) => chain),
    ...recordsOf(standing).map(({ chain }) => chain),
    ...evidenceOf(standing).map(({ chain }) => chain),
  ])
  return {
    view, holes: holesOf(standing, lost), readable: any !== undefined,
    knows: ({ chain }) => chains.has(chain),
  }
}

const noRows: FormerRows = { find: () => undefined, scan: () => [] }

/** Reads a former state of the store `storeId`; throws for disk errors only. `name`: its folder. */
export const readFormer = (
  files: Files, places: Places, storeId: string, name: string,
): Omit<Former, 'settled'> => {
  const found = salvage(files, places, { mend: true, storeId })
  const { standing } = found
  if (standing !== undefined && standing.manifest.format_version >= oldestFormatVersion) {
    return readStanding(files, places, { ...found, standing })
  }
  const view = new FormerView(noRows, 0)
  return { view, holes: [{ id: `folder-${name}` }], readable: false, knows: () => false }
}

/** What stands for records that are gone and that no state shows. `id`: the same for the same. */
export const goneRecords = (id: string): Former => ({
  view: new FormerView(noRows, 0), holes: [{ id }], readable: true, settled: false,
  knows: () => false,
})

/**
 * What stands for marked records that the anchor remembers, or may have remembered, and that
 * neither the store nor any former state shows; null where none is missing. `sequence`: the newest
 * record of the store. A hole that is known already and may have held any document stands for them
 * as well. One of some documents alone holds their money too, and spends none of their keys.
 */
export const lostHistory = (
  { mark, isOwn }: AnchorComparison, formers: readonly Former[], sequence: number,
): Former | null => {
  const fresh = formers.filter(({ settled }) => !settled)
  if (isOwn || fresh.some(({ holes }) => holes.some(({ lost }) => lost === undefined))) return null
  if (mark !== null && formers.some((former) => former.knows(mark))) return null
  const id = mark === null
    ? `unanchored-${sequence}` : `anchor-${mark.number}-${mark.chain.slice(0, 16)}`
  const gone = goneRecords(id)
  return fresh.some(({ holes }) => holes.length > 0)
    ? { ...gone, holes: [{ id, isHeld: true }] } : gone
}
