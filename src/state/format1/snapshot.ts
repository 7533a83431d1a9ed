/**
 * Format 1, for reading only: one file per collection or partition and one manifest per epoch that
 * names each file's hash and the record that the whole includes.
 */
import { hash } from 'node:crypto'
import * as v from 'valibot'
import { count } from '../../base/fields.js'
import { fail, SallyportError } from '../../base/errors.js'
import type { Files } from '../files.js'
import { readWhole } from '../files.js'
import { fileBytesMax } from '../limits.js'
import type { Places } from '../paths.js'
import { manifestNumbers } from '../paths.js'
import { markShape } from '../snapshot/manifest.js'
import { stateFileShape } from '../state-file.js'

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

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

/** A partition file that is no longer there: a newer generation has replaced it. */
export class PartMissing extends Error {}

/** Text of a partition file, its length and hash compared; throws `PartMissing` or `damaged`. */
const partText = (files: Files, path: string, [, sha256, length]: PartEntry): string => {
  let bytes: Buffer | undefined
  try {
    bytes = readWhole(files, path, length)
  } catch (error) {
    if (error instanceof SallyportError && error.code === 'file_too_large') throw damagedPart()
    throw error
  }
  if (bytes === undefined) throw new PartMissing()
  if (hash('sha256', bytes) !== sha256) throw damagedPart()
  return bytes.toString('utf8')
}

const damagedPart = (): Error =>
  fail.damaged('collection_damaged', 'A collection file does not match its recorded hash.', {
    next: 'Run `sallyport state check`, then `sallyport state repair`.',
  })

/** Documents of one partition; throws `PartMissing` or `damaged`/`collection_damaged`. */
export const readPart = (
  files: Files, places: Places, collection: string, part: string, entry: PartEntry,
): Record<string, unknown> => {
  const data = JSON.parse(partText(files, places.part(collection, part, entry[0]), entry)) as
    PartData
  if (data.collection !== collection || data.part !== part || !('docs' in data)) throw damagedPart()
  return data.docs
}

/** JSON text of each document of one partition, without parsing any; errors as `readPart`. */
export const readPartTexts = (
  files: Files, places: Places, collection: string, part: string, entry: PartEntry,
): Map<string, string> => {
  const path = places.part(collection, part, entry[0])
  const [head = '', ...lines] = partText(files, path, entry).split('\n')
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

/** Partition of an id under a number of hex digits; '' is the whole collection. */
export const partOf = (id: string, digits: number): string =>
  digits === 0 ? '' : hash('sha256', id).slice(0, digits)

/** A manifest whose shape is right, whatever its hash. */
export const looseManifest = (files: Files, path: string): Manifest | undefined => {
  try {
    const bytes = readWhole(files, path, fileBytesMax.manifest)
    const parsed = v.safeParse(manifestShape, JSON.parse(bytes?.toString('utf8') ?? ''))
    return parsed.success ? parsed.output : undefined
  } catch {
    return undefined
  }
}

/** Whether a directory holds a generation of this format. */
export const hasFormat1 = (files: Files, places: Places): boolean =>
  files.stat(places.collections)?.kind === 'dir' &&
  manifestNumbers(files.list(places.collections)).some((epoch) =>
    looseManifest(files, places.manifest(epoch)) !== undefined)
