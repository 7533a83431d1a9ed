/**
 * A checkpoint folds the log into snapshot files and begins a new log. Order: changed partitions,
 * each read back, the manifest, read back too, their folder, and only then the new log, whose
 * rename is the moment that counts. The generation before stays until the one after this.
 */
import { join } from 'node:path'
import * as v from 'valibot'
import { isoFromMs } from '../../base/clock.js'
import type { Files } from '../files.js'
import {
  isTemporary, publish, readWhole, removeFile, syncDir, writeTemporary,
} from '../files.js'
import { requireGenerationFolders } from '../folders.js'
import type { Generation, Overlay } from './generation.js'
import { textOf } from './generation.js'
import { fileBytesMax } from '../limits.js'
import { encodeLogHeader } from '../log/format.js'
import type { Places } from '../paths.js'
import { isPartName, logEpochs, manifestEpochs } from '../paths.js'
import type { CollectionEntry, Manifest, PartEntry } from './snapshot.js'
import {
  encodeManifest, manifestShape, partNamesOf, partOf, readManifest, readPartTexts, unreadable,
  writePart,
} from './snapshot.js'

/** Total bytes of a growing collection from which it is split by one, then two hex digits. */
const splitBytes: readonly number[] = [512 * 1024, 8 * 1024 * 1024]

/** How many hex digits split a growing collection of so many bytes. */
export const splitDigits = (bytes: number): 0 | 1 | 2 =>
  splitBytes.filter((limit) => bytes > limit).length as 0 | 1 | 2

/** What is stored and what the log adds: a bulk load must not end in one partition of megabytes. */
const digitsFor = (overlay: Overlay, entry: CollectionEntry | undefined): 0 | 1 | 2 => {
  if (overlay.kind === 1) return 0
  const parts = Object.values(entry?.parts ?? {})
  let bytes = parts.reduce((sum, [, , size]) => sum + size, 0)
  for (const version of overlay.versions.values()) {
    if (!version.removed) bytes += textOf(version).length
  }
  return Math.max(entry?.digits ?? 0, splitDigits(bytes)) as 0 | 1 | 2
}

/** Newest texts of the partitions that the log has touched, or of all when they are re-split. */
const foldCollection = (
  files: Files, places: Places, generation: Generation, collection: string, overlay: Overlay,
  digits: 0 | 1 | 2,
): Map<string, Map<string, string>> => {
  const entry = generation.manifest.collections[collection]
  const folded = new Map<string, Map<string, string>>()
  const textsIn = (part: string): Map<string, string> => {
    const known = entry?.parts[part]
    if (known === undefined) return new Map<string, string>()
    return readPartTexts(files, places, collection, part, known)
  }
  const partFor = (part: string): Map<string, string> => {
    let texts = folded.get(part)
    if (texts === undefined) {
      texts = entry?.digits === digits ? textsIn(part) : new Map()
      folded.set(part, texts)
    }
    return texts
  }
  if (entry !== undefined && entry.digits !== digits) {
    for (const part of Object.keys(entry.parts)) {
      for (const [id, text] of textsIn(part)) partFor(partOf(id, digits)).set(id, text)
    }
  }
  for (const [id, version] of overlay.versions) {
    const texts = partFor(partOf(id, digits))
    if (version.removed) texts.delete(id)
    else texts.set(id, textOf(version))
  }
  return folded
}

const writeCollection = (
  files: Files, places: Places, generation: Generation, epoch: number, collection: string,
  overlay: Overlay,
): CollectionEntry => {
  const before = generation.manifest.collections[collection]
  const digits = digitsFor(overlay, before)
  const parts: Record<string, PartEntry> = before?.digits === digits ? { ...before.parts } : {}
  const { sequence } = generation
  const folded = foldCollection(files, places, generation, collection, overlay, digits)
  for (const [part, texts] of folded) {
    if (texts.size === 0) delete parts[part]
    else {
      const schema = 'sallyport.collection.v1'
      parts[part] = writePart(files, places, epoch, { schema, collection, part, sequence, texts })
    }
  }
  return { kind: overlay.kind, digits, parts }
}

/** Publishes a manifest and the empty log that builds on it. */
export interface NextGeneration {
  readonly manifest: Manifest
  /** Called right before the new log is renamed into place: from there on failure is ambiguous. */
  readonly committing: () => void
}

/**
 * Writes manifest and log of an epoch whose partition files are written already; publishing the
 * manifest also makes their names durable, since they lie in one folder.
 */
export const publishGeneration = (
  files: Files, places: Places, { manifest, committing }: NextGeneration,
): void => {
  const { bytes, sha256 } = encodeManifest(manifest)
  publish(files, places.manifest(manifest.epoch), bytes)
  if (readManifest(files, places.manifest(manifest.epoch), sha256) === undefined) throw unreadable()
  const header = encodeLogHeader({
    schema: 'sallyport.log.v1',
    format_version: manifest.format_version,
    store_id: manifest.store_id,
    epoch: manifest.epoch,
    manifest_sha256: sha256,
    base_sequence: manifest.sequence,
    base_chain: manifest.chain,
  })
  const temporary = writeTemporary(files, places.wal, header)
  committing()
  files.rename(temporary, places.log(manifest.epoch))
  syncDir(files, places.wal)
}

/** Folds a fully read, undamaged generation into the next one. The lock must be held. */
export const checkpoint = (
  files: Files, places: Places, generation: Generation, nowMs: number, committing: () => void,
): void => {
  const epoch = generation.epoch + 1
  const collections = { ...generation.manifest.collections }
  for (const [collection, overlay] of generation.overlays) {
    const entry = writeCollection(files, places, generation, epoch, collection, overlay)
    if (Object.keys(entry.parts).length === 0) delete collections[collection]
    else collections[collection] = entry
  }
  const manifest: Manifest = {
    ...generation.manifest,
    epoch,
    sequence: generation.sequence,
    chain: generation.chain,
    marks: generation.marks.slice(-2),
    written_at: isoFromMs(nowMs),
    collections,
  }
  publishGeneration(files, places, { manifest, committing })
}

/**
 * What may go: everything older than the generation before the given epoch, and leftovers. Only
 * files go, and only under names that this program makes: anything else belongs to somebody.
 */
export const collectGarbage = (files: Files, places: Places, epoch: number): number => {
  requireGenerationFolders(files, places)
  const logs = logEpochs(files.list(places.wal))
  const before = logs.filter((other) => other < epoch).at(-1)
  const keep = new Set([epoch, ...(before === undefined ? [] : [before])])
  const names = new Set<string>()
  for (const kept of keep) {
    const manifest = looseManifest(files, places.manifest(kept))
    // Without a readable manifest nothing is known to be unused, so nothing goes.
    if (manifest === undefined) return 0
    for (const name of partNamesOf(manifest)) names.add(name)
  }
  let removed = 0
  const drop = (path: string): void => {
    if (files.stat(path)?.kind !== 'file') return
    removeFile(files, path)
    removed += 1
  }
  for (const other of logs) if (other < epoch && !keep.has(other)) drop(places.log(other))
  const entries = files.list(places.collections)
  const manifests = manifestEpochs(entries)
  for (const other of manifests) if (!keep.has(other)) drop(places.manifest(other))
  for (const name of entries) {
    const ours = isPartName(name) || isTemporary(name)
    if (ours && !names.has(name)) drop(join(places.collections, name))
  }
  for (const name of files.list(places.wal)) if (isTemporary(name)) drop(join(places.wal, name))
  if (removed > 0) {
    syncDir(files, places.wal)
    syncDir(files, places.collections)
  }
  return removed
}

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
