/**
 * All documents of a state of format 1 in memory, collected from whatever is still true on disk.
 */
import { SallyportError } from '../../base/errors.js'
import type { Files } from '../files.js'
import type { Places } from '../paths.js'
import type { PartitionKind, RecordPayload } from '../log/record.js'
import type { Manifest } from './snapshot.js'
import { PartMissing, partOf, readPart } from './snapshot.js'

/** Documents of one collection. */
export interface DocumentSet {
  readonly kind: PartitionKind
  readonly docs: Map<string, unknown>
}

/** Every collection by name. */
export type Documents = Map<string, DocumentSet>

/** The set of a collection, made when missing. */
export const setOf = (all: Documents, name: string, kind: PartitionKind): DocumentSet => {
  let set = all.get(name)
  if (set === undefined) {
    set = { kind, docs: new Map() }
    all.set(name, set)
  }
  return set
}

/** Lets one record's changes act on the documents. */
export const applyPayload = (all: Documents, payload: RecordPayload): void => {
  for (const [name, kind, id, ...rest] of payload.ops) {
    const set = setOf(all, name, kind)
    if (rest.length === 0) set.docs.delete(id)
    else set.docs.set(id, rest[0])
  }
}

/** A partition that is missing or does not match its hash. */
export interface BadPart {
  readonly collection: string
  readonly part: string
  readonly digits: number
  readonly documents: number
}

/** Documents that a manifest's files hold, and the partitions that are not to be believed. */
export const readDocuments = (
  files: Files, places: Places, manifest: Manifest,
): { readonly all: Documents; readonly bad: readonly BadPart[] } => {
  const all: Documents = new Map()
  const bad: BadPart[] = []
  for (const [collection, { digits, parts }] of Object.entries(manifest.collections)) {
    const set = setOf(all, collection, kindOf(collection, manifest))
    for (const [part, entry] of Object.entries(parts)) {
      const docs = readPartOrNot(() => readPart(files, places, collection, part, entry))
      if (docs === undefined) bad.push({ collection, part, digits, documents: entry[3] })
      else for (const id of Object.keys(docs)) set.docs.set(id, docs[id])
    }
  }
  return { all, bad }
}

const kindOf = (collection: string, manifest: Manifest): PartitionKind =>
  manifest.collections[collection]?.kind ?? 1

const readPartOrNot = (
  read: () => Record<string, unknown>,
): Record<string, unknown> | undefined => {
  try {
    return read()
  } catch (error) {
    const untrue = error instanceof SallyportError && error.kind === 'damaged'
    if (untrue || error instanceof PartMissing || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** Takes a bad partition's documents from the generation before; false when it lacks them too. */
export const fillPart = (
  all: Documents, part: BadPart,
  older: { readonly all: Documents; readonly bad: readonly BadPart[] } | undefined,
): boolean => {
  if (older === undefined) return false
  const overlaps = (other: BadPart): boolean =>
    other.collection === part.collection &&
    (other.part.startsWith(part.part) || part.part.startsWith(other.part))
  if (older.bad.some(overlaps)) return false
  const source = older.all.get(part.collection)
  if (source === undefined) return false
  const target = setOf(all, part.collection, source.kind)
  for (const [id, doc] of source.docs) {
    if (partOf(id, part.digits) === part.part) target.docs.set(id, doc)
  }
  return true
}
