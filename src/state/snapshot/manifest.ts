/**
 * The manifest: which sorted runs hold every document up to one record of the log. The newest true
 * one decides, with every log after it. A small file, kept through lowdb by an adapter of ours that
 * syncs, renames and believes nothing whose digest it has not compared.
 */
import { LowSync, type SyncAdapter } from 'lowdb'
import * as v from 'valibot'
import { shapeCheck } from '../../base/compiled-shape.js'
import { count } from '../../base/schema.js'
import { canonicalJson, sha256Hex } from '../../base/canonical.js'
import { fail, type SallyportError } from '../../base/errors.js'
import { publish, readWhole, unlessUntrue, type Files } from '../files.js'
import { fileBytesMax } from '../limits.js'
import { mendLine } from '../log/mend.js'
import { segmentShape, type SegmentFacts } from '../segments/build.js'
import { stateFileShape } from '../state-file.js'

const sha = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

/** A record that an old copy of the store must not be able to forget. */
export const markShape = v.strictObject({
  number: count,
  sequence: count,
  chain: sha,
  policy_revision: v.nullable(count),
})
export type Mark = v.InferOutput<typeof markShape>

const runShape = v.strictObject({
  id: count,
  level: count,
  /** Sorted and not overlapping. */
  files: v.array(segmentShape),
})
export type Run = v.InferOutput<typeof runShape>

const mergeShape = v.strictObject({
  /** The highest level of the inputs. */
  level: count,
  /** Runs that are read as one, newest first. */
  inputs: v.array(count),
  /** What was written so far. */
  files: v.array(segmentShape),
  /** The last key that is done; null where none is. */
  after: v.nullable(v.strictTuple([v.string(), v.string()])),
})
/** A merge under way. */
export type Merge = v.InferOutput<typeof mergeShape>

/** Shape of a manifest. */
export const manifestShape = v.strictObject({
  schema: v.literal('sallyport.manifest.v2'),
  format_version: count,
  store_id: v.string(),
  number: count,
  /** The last log whose records are in the runs. */
  epoch: count,
  /** True where no fold made it: it is in force with the log that names its SHA-256. */
  founding: v.boolean(),
  /** The last record that the runs include, and the chain after it. */
  sequence: count,
  chain: sha,
  /** The last two marks, so that the anchor can be compared after a fold. */
  marks: v.array(markShape),
  /**
   * Above 0 after a restore or a loss: later marks are numbered above it, and until the anchor
   * has moved beyond it the store counts as behind.
   */
  mark_floor: count,
  written_at: v.string(),
  /** A second copy of STATE, for repair. */
  state: stateFileShape,
  next_run: count,
  /** Newest first; levels never fall. */
  runs: v.array(runShape),
  merges: v.array(mergeShape),
})
export type Manifest = v.InferOutput<typeof manifestShape>

const checksumBytes = 66

/** Bytes of a manifest file: canonical JSON, a space, its SHA-256, a newline. */
export const encodeManifest = (manifest: Manifest): Buffer => {
  const text = canonicalJson(manifest)
  return Buffer.from(`${text} ${sha256Hex(text)}\n`)
}

const isManifest = shapeCheck(manifestShape)

/** Digests of the files from which manifests were read: making their text again takes longer. */
const digests = new WeakMap<Manifest, string>()

/** Reads a manifest's bytes; undefined when a byte of them is untrue. */
const decodeManifest = (bytes: Buffer): Manifest | undefined => {
  const text = bytes.toString('utf8', 0, Math.max(0, bytes.length - checksumBytes))
  if (!Buffer.from(`${text} ${sha256Hex(text)}\n`).equals(bytes)) return undefined
  const parsed: unknown = JSON.parse(text)
  if (!isManifest(parsed)) return undefined
  digests.set(parsed, sha256Hex(bytes))
  return parsed
}

/** SHA-256 of a manifest file, by which a log names the manifest that it was founded with. */
export const manifestDigest = (manifest: Manifest): string =>
  digests.get(manifest) ?? sha256Hex(encodeManifest(manifest))

/** lowdb's storage as needed here: self-checked, uniquely named, synced, never half replaced. */
class ManifestAdapter implements SyncAdapter<Manifest> {
  readonly #files: Files
  readonly #path: string

  constructor(files: Files, path: string) {
    this.#files = files
    this.#path = path
  }

  read(): Manifest | null {
    const bytes = readWhole(this.#files, this.#path, fileBytesMax.manifest)
    return bytes === undefined ? null : (decodeManifest(bytes) ?? null)
  }

  write(manifest: Manifest): void {
    publish(this.#files, this.#path, encodeManifest(manifest))
  }
}

/** The manifest at a path; undefined when it is missing or untrue. */
export const readManifest = (files: Files, path: string): Manifest | undefined =>
  new ManifestAdapter(files, path).read() ?? undefined

/** The manifest at a path; undefined also where something else stands there. */
export const looseManifest = (files: Files, path: string): Manifest | undefined =>
  unlessUntrue(() => readManifest(files, path))

/** The untrue manifest at a path with one flipped bit put right; undefined where none does it. */
export const mendedManifest = (files: Files, path: string): Manifest | undefined => {
  const bytes = unlessUntrue(() => readWhole(files, path, fileBytesMax.manifest))
  const mended = bytes === undefined ? undefined : mendLine(bytes)
  return mended === undefined ? undefined : decodeManifest(mended)
}

/** Puts a manifest that was told otherwise in the place of its file, byte for byte. */
export const putManifest = (files: Files, path: string, manifest: Manifest): void =>
  publish(files, path, encodeManifest(manifest))

/** The error for a snapshot that does not read as it was written. */
export const unreadable = (): SallyportError =>
  fail.failed('snapshot_unreadable', 'A new snapshot could not be read back.', {
    next: 'Check the disk, then run `sallyport state check`.',
  })

/** The error for a snapshot file that should be there. */
export const missingFile = (): SallyportError =>
  fail.damaged('collection_missing', 'A snapshot file is missing.', {
    next: 'Run `sallyport state check`, then `sallyport state repair`.',
  })

/** Publishes a manifest and reads it back; durable when it returns. */
export const writeManifest = (files: Files, path: string, manifest: Manifest): void => {
  new LowSync<Manifest>(new ManifestAdapter(files, path), manifest).write()
  const again = readManifest(files, path)
  if (again === undefined || !encodeManifest(again).equals(encodeManifest(manifest))) {
    throw unreadable()
  }
}

/** Every segment file that a manifest names, those of merges under way too. */
export const segmentsIn = ({ runs, merges }: Manifest): readonly SegmentFacts[] =>
  [...runs, ...merges].flatMap(({ files }) => files)

export const bytesOf = ({ files }: { readonly files: readonly SegmentFacts[] }): number =>
  files.reduce((sum, { bytes }) => sum + bytes, 0)
