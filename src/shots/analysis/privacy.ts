/**
 * The gate of the local bytes (S-019, S-021): a regular file inside the folder, read once, of the
 * very content that was observed, an image of a size that is sent. The buffer that was judged is
 * the buffer that goes out; nothing is read a second time.
 */
import { lstatSync } from 'node:fs'
import { sha256Hex } from '../../base/canonical.js'
import type { SallyportError } from '../../base/errors.js'
import { readImageFacts } from '../../images/facts.js'
import type { Fingerprint } from '../../images/types.js'
import type { Examiner } from '../scan/types.js'
import type { StoredCaptures } from '../../observations/captures.js'
import type { View } from '../../state/types.js'
import { captureUnreadable, fromDevice } from '../constants.js'
import { isWithheld, sealedBytes } from '../captures/sealed-bytes.js'
import type { ShotsContext } from '../context.js'
import { isRecursive, savedSettings } from '../source/settings.js'
import { hasSize, integrityOf } from './integrity.js'
import { latin1Of, pathBelow } from '../scan/names.js'
import { exactStamp, readOnce, type ReadFacts } from '../scan/read-once.js'
import type { CaptureOf, Observation } from '../observations/observation-rows.js'

/** The file that was read, and what it was then. */
interface FileSource {
  /** Name below the folder, as bytes of latin1. */
  readonly name: string
  readonly facts: Pick<ReadFacts, 'bytes' | 'modifiedNs' | 'inode'>
}

/** The stored capture that was opened, and where it is asked after again. */
interface CaptureSource {
  readonly shelf: StoredCaptures
  readonly edge: CaptureOf
  readonly sha256: string
}

/** Where the bytes of an image were read. */
export type ImageSource = FileSource | CaptureSource

/** Whether it is what a device captured. */
export const isCapture = (source: ImageSource): source is CaptureSource => 'shelf' in source

/** What the gate says of an observation's file. */
export type PrivacyVerdict =
  /** It may go out once it was looked into; see `lookInto`. */
  | {
    readonly kind: 'ready'; readonly bytes: Buffer; readonly mime: 'image/png' | 'image/jpeg'
    readonly source: ImageSource
    /** Null where it was not looked into, or could not be. */
    readonly fingerprint: Fingerprint | null
  }
  /** The content is at none of its paths any more (S-154). */
  | { readonly kind: 'source_missing' }
  /** It is there and may not go out, or cannot be read now. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** The disk does not give a capture now: nothing is known of it, and nothing is written down. */
  | { readonly kind: 'unread'; readonly error: SallyportError }

/** An image that passed the gate of local bytes. */
export type ReadyImage = Extract<PrivacyVerdict, { kind: 'ready' }>

/** What kind of picture bytes are; `refused`: why they are none that is shown or sent, or null. */
export const shownAs = (
  bytes: Uint8Array,
): { readonly refused: string | null; readonly mime: ReadyImage['mime'] } => {
  const facts = readImageFacts(bytes)
  const { format, reason } = facts
  const mime = format === 'png' ? 'image/png' : 'image/jpeg'
  if (reason !== null) return { refused: `image_${reason}`, mime }
  if (format === null) return { refused: 'image_not_an_image', mime }
  return { refused: hasSize(facts) ? null : 'image_damaged', mime }
}

const verdictOf = (bytes: Buffer, source: ImageSource): PrivacyVerdict => {
  const { refused, mime } = shownAs(bytes)
  return refused === null
    ? { kind: 'ready', bytes, mime, source, fingerprint: null }
    : { kind: 'refused', reason: refused }
}

/**
 * Looks into an image that would go out: one that is damaged or cut stays here, unless a person
 * released it by name.
 */
export const lookInto = async (
  verdict: PrivacyVerdict, examiner: Examiner, released: boolean,
): Promise<PrivacyVerdict> => {
  if (verdict.kind !== 'ready' || released) return verdict
  const examined = await examiner.examine(verdict.bytes)
  const reason = integrityOf(examined, verdict.bytes)
  return reason === null
    ? { ...verdict, fingerprint: examined.fingerprint } : { kind: 'refused', reason }
}

/** Whether the settings of now select a name: below folders only with `recursive`. */
const isNameSelected = (name: string, recursive: boolean): boolean =>
  recursive || !name.includes('/')

/** The same of what was read; what a device captured lies in no folder. */
export const isSelected = (source: ImageSource, recursive: boolean): boolean =>
  isCapture(source) || isNameSelected(source.name, recursive)

/** Whether some recorded path of a row is selected. */
export const isRowSelected = ({ paths }: Pick<Observation, 'paths'>, recursive: boolean): boolean =>
  paths.some(({ name }) => isNameSelected(latin1Of(name), recursive))

/**
 * Reads the image of a row: the first of its recorded paths, of those that are selected, whose
 * bytes still have its hash. Where a file is there and cannot be read, that is told rather than
 * that it is missing. What a device captured lies in no folder, and none is looked into for it.
 */
export const readForUpload = (
  row: Observation, nowMs: number, recursive: boolean,
): PrivacyVerdict => {
  if (row.edge !== undefined) return { kind: 'refused', reason: fromDevice }
  if (!isRowSelected(row, recursive)) return { kind: 'refused', reason: 'recursive_off' }
  let unreadable: string | null = null
  const selected = row.paths.filter(({ name }) => isNameSelected(latin1Of(name), recursive))
  for (const { name } of selected.reverse()) {
    const bytesName = latin1Of(name)
    const read = readOnce(row.root, bytesName, nowMs)
    if (read.kind === 'read' && sha256Hex(read.bytes) === row.sha256) {
      return verdictOf(read.bytes, { name: bytesName, facts: read.facts })
    }
    if (read.kind === 'unavailable' && read.reason === 'file_unreadable') {
      unreadable = read.reason
    }
  }
  return unreadable === null
    ? { kind: 'source_missing' } : { kind: 'refused', reason: unreadable }
}

/** Opens the sealed upload that a capture is: its very bytes, hashed once more. */
const readCapture = async (
  ctx: Reading, edge: CaptureOf, sha256: string,
): Promise<PrivacyVerdict> => {
  const shelf = await ctx.captures()
  try {
    const bytes = sealedBytes(ctx.gov.store, shelf, edge.artifact_id)
    return bytes === null || sha256Hex(bytes) !== sha256
      ? { kind: 'refused', reason: captureUnreadable } : verdictOf(
        Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), { shelf, edge, sha256 })
  } catch (error) {
    if (isWithheld(error)) return { kind: 'unread', error }
    throw error
  }
}

/** What images are read with. */
type Reading = Pick<ShotsContext, 'gov' | 'captures'>

/** Reads the image of a row where it is: the sealed upload of a capture, else a file as above. */
export const readImage = async (
  ctx: Reading, row: Observation, recursive: boolean,
): Promise<PrivacyVerdict> => (row.edge === undefined
  ? readForUpload(row, ctx.gov.clock.wallMs(), recursive)
  : readCapture(ctx, row.edge, row.sha256))

/** The image of a row as it is now; null where it may not go out or is not there. */
export const readyNow = async (ctx: Reading, row: Observation): Promise<ReadyImage | null> => {
  const recursive = isRecursive(savedSettings(ctx.gov.store.read()))
  const verdict = await readImage(ctx, row, recursive)
  return verdict.kind === 'ready' ? verdict : null
}

const isGone = (folder: string, name: string): boolean => {
  try {
    lstatSync(pathBelow(folder, name))
    return false
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    return code === 'ENOENT' || code === 'ENOTDIR'
  }
}

/** Whether there is no file under any recorded path of a row; reads no content. */
export const isSourceGone = (
  { root, paths, edge }: Pick<Observation, 'root' | 'paths' | 'edge'>,
): boolean => edge === undefined && paths.every(({ name }) => isGone(root, latin1Of(name)))

/** Whether the file under its name is still the one that was read: size, time and inode. */
export const isUnchanged = (folder: string, { name, facts }: FileSource): boolean => {
  const now = exactStamp(folder, name)
  return now !== null && now.bytes === facts.bytes && now.inode === String(facts.inode)
    && now.modifiedNs === String(facts.modifiedNs)
}

/** Whether a view still has the capture that was opened. */
const isStored = (view: View, { shelf, edge, sha256 }: CaptureSource): boolean =>
  shelf.standing(view, edge.artifact_id)?.sha256 === sha256

/** Whether what was read is still there, a capture by the rows of a view. */
export const isStillThere = (view: View, folder: string, source: ImageSource): boolean =>
  (isCapture(source) ? isStored(view, source) : isUnchanged(folder, source))
