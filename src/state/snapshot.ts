/**
 * Snapshots: one lowdb file per collection or partition and one manifest per epoch that names each
 * file's hash and the record that the whole includes. Files of an epoch are never changed; a
 * checkpoint writes new ones for what changed and refers to the old ones for the rest.
 *
 * lowdb's own file adapter uses one fixed temporary name and never syncs, so ours replaces it.
 */
import { hash } from 'node:crypto'
import { LowSync } from 'lowdb'
import type { SyncAdapter } from 'lowdb'
import * as v from 'valibot'
import { canonicalJson, sha256Hex } from '../base/canonical.js'
import type { SallyportError } from '../base/errors.js'
import { fail } from '../base/errors.js'
import type { Files } from './files.js'
import { publish, readWhole } from './files.js'
import type { Places } from './paths.js'
import { partName } from './paths.js'
import { stateFileShape } from './state-file.js'

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** A record that an old copy of the store must not be able to forget. */
export const markShape = v.strictObject({
  number: count,
  sequence: count,
  chain: sha,
  policy_revision: v.nullable(count),
})
export type Mark = v.InferOutput<typeof markShape>

/** One partition file: epoch of its name, SHA-256, bytes, documents. */
const partEntryShape = v.strictTuple([count, sha, count, count])
export type PartEntry = v.InferOutput<typeof partEntryShape>

const collectionEntryShape = v.strictObject({
  /** `1`: always one file; `256`: grows. */
  kind: v.picklist([1, 256]),
  /** Hex digits of the id's SHA-256 that name a partition: 0, 1 or 2. */
  digits: v.picklist([0, 1, 2]),
  parts: v.record(v.string(), partEntryShape),
})
export type CollectionEntry = v.InferOutput<typeof collectionEntryShape>

/** Shape of a manifest file. */
export const manifestShape = v.strictObject({
  schema: v.literal('sallyport.manifest.v1'),
  format_version: count,
  store_id: v.string(),
  epoch: count,
  /** The last record that the files include, and the chain after it. */
  sequence: count,
  chain: sha,
  /** The last two marks, so that the anchor can be compared after a checkpoint. */
  marks: v.array(markShape),
  /**
   * Above 0 after a restore or a loss: later marks are numbered above it, and until the anchor
   * has moved beyond it the store counts as behind.
   */
  mark_floor: count,
  written_at: v.string(),
  /** A second copy of STATE, for repair. */
  state: stateFileShape,
  collections: v.record(v.string(), collectionEntryShape),
})
export type Manifest = v.InferOutput<typeof manifestShape>

/** Bytes of a manifest file and their hash. */
export const encodeManifest = (
  manifest: Manifest,
): { readonly bytes: Buffer; readonly sha256: string } => {
  const bytes = Buffer.from(`${canonicalJson(manifest)}\n`)
  return { bytes, sha256: sha256Hex(bytes) }
}

/** Reads a manifest and compares its hash; undefined when missing or untrue. */
export const readManifest = (
  files: Files, path: string, sha256: string,
): Manifest | undefined => {
  const bytes = readWhole(files, path)
  if (bytes === undefined || hash('sha256', bytes) !== sha256) return undefined
  const parsed = v.safeParse(manifestShape, JSON.parse(bytes.toString('utf8')))
  return parsed.success ? parsed.output : undefined
}

/** What a partition file holds. */
export interface PartData {
  schema: 'sallyport.collection.v1'
  collection: string
  part: string
  /** The record it includes. */
  sequence: number
  docs: Record<string, unknown>
}

/** A partition file that is no longer there: a newer generation has replaced it. */
export class PartMissing extends Error {}

/** lowdb's storage as this program needs it: hashed, uniquely named, synced, never half replaced. */
export class SnapshotAdapter implements SyncAdapter<PartData> {
  readonly #files: Files
  readonly #path: string
  readonly #expected: string | undefined
  /** SHA-256 and length of what was written last. */
  written: { readonly sha256: string; readonly bytes: number } | undefined

  /** `expected` is the SHA-256 that a read demands. */
  constructor(files: Files, path: string, expected?: string) {
    this.#files = files
    this.#path = path
    this.#expected = expected
  }

  read(): PartData | null {
    const bytes = readWhole(this.#files, this.#path)
    if (bytes === undefined) throw new PartMissing()
    if (hash('sha256', bytes) !== this.#expected) throw damagedPart()
    return JSON.parse(bytes.toString('utf8')) as PartData
  }

  /** The caller syncs the folder once for all files of a checkpoint. */
  write(data: PartData): void {
    const bytes = Buffer.from(`${JSON.stringify(data)}\n`)
    publish(this.#files, this.#path, bytes, 'later')
    this.written = { sha256: hash('sha256', bytes), bytes: bytes.length }
  }
}

const damagedPart = (): Error =>
  fail.damaged('collection_damaged', 'A collection file does not match its recorded hash.', {
    next: 'Run `sallyport state check`, then `sallyport state repair`.',
  })

/** The error for a collection file that should be there. */
export const missingPart = (): SallyportError =>
  fail.damaged('collection_missing', 'A collection file is missing.', {
    next: 'Run `sallyport state check`, then `sallyport state repair`.',
  })

const emptyPart = (collection: string, part: string): PartData => ({
  schema: 'sallyport.collection.v1', collection, part, sequence: 0, docs: {},
})

/** Documents of one partition; throws `PartMissing` or `damaged`/`collection_damaged`. */
export const readPart = (
  files: Files, places: Places, collection: string, part: string, entry: PartEntry,
): Record<string, unknown> => {
  const adapter = new SnapshotAdapter(files, places.part(collection, part, entry[0]), entry[1])
  const db = new LowSync<PartData>(adapter, emptyPart(collection, part))
  db.read()
  if (db.data.collection !== collection || db.data.part !== part) throw damagedPart()
  return db.data.docs
}

/** Writes one partition (not yet synced in its folder) and answers its manifest entry. */
export const writePart = (
  files: Files, places: Places, epoch: number, data: PartData,
): PartEntry => {
  const adapter = new SnapshotAdapter(files, places.part(data.collection, data.part, epoch))
  const db = new LowSync<PartData>(adapter, data)
  db.write()
  if (adapter.written === undefined) throw new TypeError('lowdb wrote nothing')
  const { sha256, bytes } = adapter.written
  return [epoch, sha256, bytes, Object.keys(data.docs).length]
}

/** Names of all collection files a manifest refers to. */
export const partNamesOf = (manifest: Manifest): Set<string> => {
  const names = new Set<string>()
  for (const [collection, entry] of Object.entries(manifest.collections)) {
    for (const [part, [epoch]] of Object.entries(entry.parts)) {
      names.add(partName(collection, part, epoch))
    }
  }
  return names
}

/** Partition of an id under a number of hex digits; '' is the whole collection. */
export const partOf = (id: string, digits: number): string =>
  digits === 0 ? '' : hash('sha256', id).slice(0, digits)
