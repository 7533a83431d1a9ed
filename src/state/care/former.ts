/**
 * A former state as far as it can still be read: one that a repair or a restore has put aside.
 * Beside its documents it shows what true records behind an untrue one say. Nothing of it is ever
 * replayed: the layers above ask it what it owed and what it had forbidden, and carry that over.
 */
import * as v from 'valibot'
import type { Files } from '../files.js'
import type { Places } from '../paths.js'
import type { AnchoredMark, AnchorStanding, CollectionSpec, View } from '../types.js'
import type { Documents } from './documents.js'
import { applyPayload, fillPart, readDocuments } from './documents.js'
import type { SalvagedEpoch } from './salvage.js'
import { headOf, salvageAll } from './salvage.js'

/** A part of a former state that nobody can read: what was done in it is not known. */
export interface Hole {
  /** The same for every copy of the same damage. */
  readonly id: string
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

interface Gathered {
  readonly all: Documents
  /** Chain at which the documents stand, as far as they are whole. */
  readonly chain: string | undefined
  readonly holes: readonly Hole[]
}

const holeAt = (epoch: SalvagedEpoch, what: 'log' | 'documents'): Hole => {
  const chain = headOf(epoch)?.chain.slice(0, 16) ?? 'lost'
  return { id: `${what}-${epoch.epoch}-${chain}` }
}

/** What an epoch begins with: its files, filled up from the epoch before where that led to it. */
const baseOf = (
  files: Files, places: Places, epoch: SalvagedEpoch, before: Gathered,
): Gathered => {
  const led = before.chain !== undefined && before.chain === epoch.header?.base_chain
  if (epoch.manifest === undefined) {
    return led ? before : { ...before, holes: [...before.holes, holeAt(epoch, 'documents')] }
  }
  const { all, bad } = readDocuments(files, places, epoch.manifest)
  const older = { all: before.all, bad: [] }
  const unfilled = bad.filter((part) => !fillPart(all, part, older) || !led)
  const holes = unfilled.length === 0 ? [] : [...before.holes, holeAt(epoch, 'documents')]
  return { all, chain: epoch.header?.base_chain, holes }
}

const gather = (
  files: Files, places: Places, epoch: SalvagedEpoch, before: Gathered,
): Gathered => {
  const { all, holes } = baseOf(files, places, epoch, before)
  for (const { content } of [...epoch.records, ...epoch.evidence]) applyPayload(all, content)
  const whole = epoch.header !== undefined && ['clean', 'torn'].includes(epoch.tail)
  return whole
    ? { all, holes, chain: headOf(epoch)?.chain }
    : { all, holes: [...holes, holeAt(epoch, 'log')], chain: undefined }
}

/**
 * Documents of a former state, which no longer changes. One that breaks the shape of its collection
 * is left out.
 */
class FormerView implements View {
  readonly sequence: number
  readonly #documents: Documents

  constructor(documents: Documents, sequence: number) {
    this.#documents = documents
    this.sequence = sequence
  }

  get<T>(spec: CollectionSpec<T>, id: string): T | undefined {
    return this.#fitting(spec, this.#documents.get(spec.name)?.docs.get(id))
  }

  all<T>(spec: CollectionSpec<T>): readonly { readonly id: string; readonly doc: T }[] {
    const found = [...(this.#documents.get(spec.name)?.docs ?? [])].flatMap(([id, stored]) => {
      const doc = this.#fitting(spec, stored)
      return doc === undefined ? [] : [{ id, doc }]
    })
    return found.sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  #fitting<T>({ schema, upgrade }: CollectionSpec<T>, stored: unknown): T | undefined {
    if (stored === undefined) return undefined
    const doc = upgrade === undefined ? stored : upgrade(stored)
    return v.is(schema, doc) ? doc : undefined
  }
}

/** Reads a former state of the store `storeId`; throws for disk errors only. `name`: its folder. */
export const readFormer = (
  files: Files, places: Places, storeId: string, name: string,
): Omit<Former, 'settled'> => {
  const epochs = salvageAll(files, places, { mend: true, storeId })
    .filter(({ header }) => header === undefined || header.store_id === storeId)
  let gathered: Gathered = { all: new Map(), chain: undefined, holes: [] }
  for (const epoch of epochs) gathered = gather(files, places, epoch, gathered)
  const holes = epochs.length === 0 ? [{ id: `folder-${name}` }] : gathered.holes
  const last = epochs.at(-1)
  const sequence = last === undefined ? 0 : (headOf(last)?.sequence ?? 0)
  const readable = [...gathered.all.values()].some(({ docs }) => docs.size > 0)
  const chains = new Set(epochs.flatMap(chainsIn))
  return {
    view: new FormerView(gathered.all, sequence), holes, readable,
    knows: ({ chain }) => chains.has(chain),
  }
}

/** Where the records of an epoch, and the marks that it began with, stand in the chain. */
const chainsIn = ({ header, manifest, records, evidence }: SalvagedEpoch): readonly string[] => [
  ...(header === undefined ? [] : [header.base_chain]),
  ...(manifest?.marks ?? []).map(({ chain }) => chain),
  ...[...records, ...evidence].map(({ chain }) => chain),
]

/**
 * What stands for marked records that the anchor remembers, or may have remembered, and that
 * neither the store nor any former state shows; null where none is missing. `sequence`: the newest
 * record of the store. A hole that is known already stands for them as well.
 */
export const lostHistory = (
  { mark, isOwn }: AnchorStanding, formers: readonly Former[], sequence: number,
): Former | null => {
  const fresh = formers.filter(({ settled }) => !settled)
  if (isOwn || fresh.some(({ holes }) => holes.length > 0)) return null
  if (mark !== null && formers.some((former) => former.knows(mark))) return null
  const id = mark === null
    ? `unanchored-${sequence}` : `anchor-${mark.number}-${mark.chain.slice(0, 16)}`
  return {
    view: new FormerView(new Map(), 0), holes: [{ id }], readable: true, settled: false,
    knows: () => false,
  }
}
