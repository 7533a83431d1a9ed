/**
 * The gate of the local bytes (S-019, S-021): a regular file inside the folder, read once, of the
 * very content that was observed, an image of a size that is sent. The buffer that was judged is
 * the buffer that goes out; nothing is read a second time.
 */
import { lstatSync } from 'node:fs'
import { sha256Hex } from '../../base/canonical.js'
import { readImageFacts } from '../../images/facts.js'
import type { Fingerprint } from '../../images/types.js'
import type { Examiner } from '../scan/types.js'
import type { ShotsContext } from '../context.js'
import { isRecursive, savedSettings } from '../source/settings.js'
import { hasSize, integrityOf } from './integrity.js'
import { latin1Of, pathBelow } from '../scan/names.js'
import { exactStamp, readOnce, type ReadFacts } from '../scan/read-once.js'
import type { Observation } from '../observations/observation-rows.js'

/** The file that was read, and what it was then. */
interface ImageSource {
  /** Name below the folder, as bytes of latin1. */
  readonly name: string
  readonly facts: Pick<ReadFacts, 'bytes' | 'modifiedNs' | 'inode'>
}

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

const judge = (bytes: Buffer, source: ImageSource): PrivacyVerdict => {
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
export const isSelected = (name: string, recursive: boolean): boolean =>
  recursive || !name.includes('/')

/** Whether some recorded path of a row is selected. */
export const isRowSelected = ({ paths }: Pick<Observation, 'paths'>, recursive: boolean): boolean =>
  paths.some(({ name }) => isSelected(latin1Of(name), recursive))

/**
 * Reads the image of a row: the first of its recorded paths, of those that are selected, whose
 * bytes still have its hash. Where a file is there and cannot be read, that is told rather than
 * that it is missing.
 */
export const readForUpload = (
  row: Observation, nowMs: number, recursive: boolean,
): PrivacyVerdict => {
  if (!isRowSelected(row, recursive)) return { kind: 'refused', reason: 'recursive_off' }
  let unreadable: string | null = null
  const selected = row.paths.filter(({ name }) => isSelected(latin1Of(name), recursive))
  for (const { name } of selected.reverse()) {
    const bytesName = latin1Of(name)
    const read = readOnce(row.root, bytesName, nowMs)
    if (read.kind === 'read' && sha256Hex(read.bytes) === row.sha256) {
      return judge(read.bytes, { name: bytesName, facts: read.facts })
    }
    if (read.kind === 'unavailable' && read.reason === 'file_unreadable') {
      unreadable = read.reason
    }
  }
  return unreadable === null
    ? { kind: 'source_missing' } : { kind: 'refused', reason: unreadable }
}

/** The image of a row as its file is now; null where it may not go out or is not there. */
export const readyNow = (
  { gov }: Pick<ShotsContext, 'gov'>, row: Observation,
): ReadyImage | null => {
  const recursive = isRecursive(savedSettings(gov.store.read()))
  const verdict = readForUpload(row, gov.clock.wallMs(), recursive)
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
export const isSourceGone = ({ root, paths }: Pick<Observation, 'root' | 'paths'>): boolean =>
  paths.every(({ name }) => isGone(root, latin1Of(name)))

/** Whether the file under its name is still the one that was read: size, time and inode. */
export const isUnchanged = (folder: string, { name, facts }: ImageSource): boolean => {
  const now = exactStamp(folder, name)
  return now !== null && now.bytes === facts.bytes && now.inode === String(facts.inode)
    && now.modifiedNs === String(facts.modifiedNs)
}
