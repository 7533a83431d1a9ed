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
import { canonicalJson, sha256Hex } from '../../base/canonical.js'
import { fail, SallyportError } from '../../base/errors.js'
import type { Files } from '../files.js'
import { publish, readWhole } from '../files.js'
import { fileBytesMax } from '../limits.js'
import type { Places } from '../paths.js'
import { partName } from '../paths.js'
import { stateFileShape } from '../state-file.js'

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))

/** A record that an old copy of the store must not be able to forget. */
export const markShape = v.strictObject({
  number: count,
  sequence: count,
  chain: sha,
  policy_revision: v.nullable(count),
})
/** A mark. */
export type Mark = v.InferOutput<typeof markShape>

/** One partition file: epoch of its name, SHA-256, bytes, documents. */
const partEntryShape = v.strictTuple([count, sha, count, count])
/** Where a partition lies and what it must be. */
export type PartEntry = v.InferOutput<typeof partEntryShape>

const collectionEntryShape = v.strictObject({
  /** `1`: always one file; `256`: grows. */
  kind: v.picklist([1, 256]),
  /** Hex digits of the id's SHA-256 that name a partition: 0, 1 or 2. */
  digits: v.picklist([0, 1, 2]),
  parts: v.record(v.string(), partEntryShape),
})
/** How a collection is split, and its files. */
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
/** What a manifest says. */
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
  const bytes = readWhole(files, path, fileBytesMax.manifest)
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

/** A partition to be written: JSON text by id, so that a fold parses no document. */
export interface PartTexts extends Omit<PartData, 'docs'> {
  texts: ReadonlyMap<string, string>
}

/** A partition file that is no longer there: a newer generation has replaced it. */
export class PartMissing extends Error {}

/** Bytes of a partition file: JSON with one document a line, ids ascending. */
const encodePart = ({ texts, ...head }: PartTexts): Buffer => {
  const ids = [...texts.keys()].sort()
  const lines = ids.map((id) => `${JSON.stringify(id)}:${texts.get(id) ?? 'null'}`)
  return Buffer.from(`${JSON.stringify(head).slice(0, -1)},"docs":{\n${lines.join(',\n')}\n}}\n`)
}

/** lowdb's storage as needed here: hashed, uniquely named, synced, never half replaced. */
class SnapshotAdapter implements SyncAdapter<PartData | PartTexts> {
  readonly #files: Files
  readonly #path: string
  readonly #expected: PartEntry | undefined
  /** SHA-256 and length of what was written last. */
  written: { readonly sha256: string; readonly bytes: number } | undefined

  /** `expected` names the SHA-256 and the length that a read demands. */
  constructor(files: Files, path: string, expected?: PartEntry) {
    this.#files = files
    this.#path = path
    this.#expected = expected
  }

  read(): PartData {
    return JSON.parse(this.readText()) as PartData
  }

  /** The file's text, its hash compared. */
  readText(): string {
    const [, sha256, length = 0] = this.#expected ?? []
    const bytes = this.#bytes(length)
    if (bytes === undefined) throw new PartMissing()
    if (hash('sha256', bytes) !== sha256) throw damagedPart()
    return bytes.toString('utf8')
  }

  /** At most `length` bytes: a longer file is untrue, and is not read. */
  #bytes(length: number): Buffer | undefined {
    try {
      return readWhole(this.#files, this.#path, length)
    } catch (error) {
      if (error instanceof SallyportError && error.code === 'file_too_large') throw damagedPart()
      throw error
    }
  }

  /** Writes and reads back; the caller syncs the folder once for all files of a checkpoint. */
  write(data: PartData | PartTexts): void {
    if (!('texts' in data)) throw new TypeError('a partition is written from texts')
    const bytes = encodePart(data)
    publish(this.#files, this.#path, bytes, 'later')
    const again = readWhole(this.#files, this.#path, bytes.length)
    if (again === undefined || !again.equals(bytes)) throw unreadable()
    this.written = { sha256: hash('sha256', bytes), bytes: bytes.length }
  }
}

const damagedPart = (): Error =>
  fail.damaged('collection_damaged', 'A collection file does not match its recorded hash.', {
    next: 'Run `sallyport state check`, then `sallyport state repair`.',
  })

/** The error for a snapshot that does not read as it was written. */
export const unreadable = (): SallyportError =>
  fail.failed('snapshot_unreadable', 'A new snapshot could not be read back.', {
    next: 'Check the disk, then run `sallyport state check`.',
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
  const adapter = new SnapshotAdapter(files, places.part(collection, part, entry[0]), entry)
  const db = new LowSync<PartData | PartTexts>(adapter, emptyPart(collection, part))
  db.read()
  const { data } = db
  if (data.collection !== collection || data.part !== part || !('docs' in data)) throw damagedPart()
  return data.docs
}

/** JSON text of each document of one partition, without parsing any; errors as `readPart`. */
export const readPartTexts = (
  files: Files, places: Places, collection: string, part: string, entry: PartEntry,
): Map<string, string> => {
  const adapter = new SnapshotAdapter(files, places.part(collection, part, entry[0]), entry)
  const [head = '', ...lines] = adapter.readText().split('\n')
  if (!head.endsWith(',"docs":{')) throw damagedPart()
  const facts = JSON.parse(`${head.slice(0, -',"docs":{'.length)}}`) as PartData
  if (facts.collection !== collection || facts.part !== part) throw damagedPart()
  const texts = new Map<string, string>()
  for (const line of lines) {
    if (!line.startsWith('"')) continue
    const colon = idEnd(line)
    const end = line.endsWith(',') ? line.length - 1 : line.length
    texts.set(JSON.parse(line.slice(0, colon)) as string, line.slice(colon + 1, end))
  }
  if (texts.size !== entry[3]) throw damagedPart()
  return texts
}

/** Where the colon after the id of a line stands; an id may hold colons and escaped quotes. */
const idEnd = (line: string): number => {
  let at = line.indexOf('"', 1)
  while (isEscaped(line, at)) at = line.indexOf('"', at + 1)
  return at + 1
}

const isEscaped = (line: string, at: number): boolean => {
  let slashes = 0
  while (line[at - 1 - slashes] === '\\') slashes += 1
  return slashes % 2 === 1
}

/** Writes one partition (not yet synced in its folder) and answers its manifest entry. */
export const writePart = (
  files: Files, places: Places, epoch: number, data: PartTexts,
): PartEntry => {
  const adapter = new SnapshotAdapter(files, places.part(data.collection, data.part, epoch))
  const db = new LowSync<PartData | PartTexts>(adapter, data)
  db.write()
  if (adapter.written === undefined) throw new TypeError('lowdb wrote nothing')
  const { sha256, bytes } = adapter.written
  return [epoch, sha256, bytes, data.texts.size]
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
