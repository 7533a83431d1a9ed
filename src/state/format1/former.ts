/** A former state of format 1: its documents, and what true records behind an untrue one say. */
import type { Files } from '../files.js'
import { canonicalText } from '../log/canonical-text.js'
import type { Places } from '../paths.js'
import type { Row } from '../segments/row.js'
import { compareKeys } from '../segments/row.js'
import type { Documents } from './documents.js'
import { applyPayload, fillPart, readDocuments } from './documents.js'
import type { SalvagedEpoch } from './salvage.js'
import { headOf, salvageAll } from './salvage.js'

interface Gathered {
  readonly all: Documents
  /** Chain at which the documents stand, as far as they are whole. */
  readonly chain: string | undefined
  readonly holes: readonly { readonly id: string }[]
}

const holeAt = (epoch: SalvagedEpoch, what: 'log' | 'documents'): { readonly id: string } => {
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

/** Documents as sorted rows. */
export const rowsOf = (all: Documents): Row[] =>
  [...all].flatMap(([collection, { docs }]) =>
    [...docs].map(([id, doc]) => ({ collection, id, text: canonicalText(doc) })))
    .sort(compareKeys)

/** Everything a former state of format 1 still tells; `name` is its folder's. */
export const gatherFormat1 = (
  files: Files, places: Places, storeId: string, name: string,
): {
  readonly rows: readonly Row[]
  readonly holes: readonly { readonly id: string }[]
  readonly sequence: number
  /** Where its records, and the marks that it began with, stand in the chain. */
  readonly chains: ReadonlySet<string>
} => {
  const epochs = salvageAll(files, places, { mend: true, storeId })
    .filter(({ header }) => header === undefined || header.store_id === storeId)
  let gathered: Gathered = { all: new Map(), chain: undefined, holes: [] }
  for (const epoch of epochs) gathered = gather(files, places, epoch, gathered)
  const holes = epochs.length === 0 ? [{ id: `folder-${name}` }] : gathered.holes
  const last = epochs.at(-1)
  const sequence = last === undefined ? 0 : (headOf(last)?.sequence ?? 0)
  const chains = new Set(epochs.flatMap(chainsIn))
  return { rows: rowsOf(gathered.all), holes, sequence, chains }
}

const chainsIn = ({ header, manifest, records, evidence }: SalvagedEpoch): readonly string[] => [
  ...(header === undefined ? [] : [header.base_chain]),
  ...(manifest?.marks ?? []).map(({ chain }) => chain),
  ...[...records, ...evidence].map(({ chain }) => chain),
]
