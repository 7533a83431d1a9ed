/**
 * A derived list of the files that are known, so that a tick over 100,000 of them reads no row.
 * The rows stay the truth: an entry is written only for a file that a committed row was seen for,
 * a miss looks at the row, and the whole list is thrown away unless it fits the store that reads
 * it. It is bound to the store, the folder, the log's sequence and the newest receipt (so that it
 * never outlives a restore), and to the counts of rows that must be looked at again: images that
 * were missed at their place, and archived ones.
 */
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { digestOf } from '../../base/canonical.js'
import type { View } from '../../state/types.js'
import { receiptOf } from '../receipts/append.js'
import { receiptCollections, receiptHeadId } from '../receipts/receipt-rows.js'
import { shotCollections as c } from '../observations/observation-rows.js'
import type { Listing } from './walk.js'

/** With 1 files were known that led to what was never analysed in another folder. */
const magic = Buffer.from('SPSHOTX2', 'latin1')
const sumBytes = 32
const headBytesMax = 4_096
/** Two words of the name's hash, then the four numbers of its stamp. */
const entryBytes = 8 + 32

const bindingShape = v.strictObject({
  store_id: v.string(),
  root_digest: v.string(),
  sequence: v.number(),
  receipt_number: v.number(),
  receipt_sha256: v.string(),
  /** Rows of the folder that are `source_missing` and not archived, and archived rows. */
  missing: v.number(),
  archived: v.number(),
})
/** What an index must fit to be believed. */
type IndexBinding = v.InferOutput<typeof bindingShape>

/** Folder of what scans keep for their own speed. */
export const scanRunDir = (runDir: string): string => join(runDir, 'shots')

const indexPath = (runDir: string, folderDigest: string): string =>
  join(scanRunDir(runDir), `known-${folderDigest}`)

/** Rows of a folder that hide behind a known file: missed at their place, and archived. */
export interface HiddenRows {
  readonly missing: number
  readonly archived: number
}

/** How many there are. */
export const hiddenRows = (view: View, folderDigest: string): HiddenRows => {
  let missing = 0
  for (const { doc } of view.all(c.counts)) {
    const counted = doc.root_digest === folderDigest && !doc.archived
      && doc.classification === 'source_missing'
    if (counted) missing += doc.count
  }
  return { missing, archived: view.get(c.folders, folderDigest)?.archived ?? 0 }
}

/**
 * What an index written now is bound to; null while there is no receipt. `hidden` is of when its
 * marks were made: a row that was missed since then is behind a file which they call known.
 */
export const bindingOf = (
  view: View, storeId: string, folderDigest: string, hidden: HiddenRows,
): IndexBinding | null => {
  const head = view.get(receiptCollections.head, receiptHeadId)
  if (head === undefined || head.sha256 === null) return null
  return {
    store_id: storeId,
    root_digest: folderDigest,
    sequence: view.sequence,
    receipt_number: head.number,
    receipt_sha256: head.sha256,
    ...hidden,
  }
}

/** Whether other rows hide by now than when an index was begun. */
export const hidesOthers = (view: View, folderDigest: string, hidden: HiddenRows): boolean => {
  const { missing, archived } = hiddenRows(view, folderDigest)
  return hidden.missing !== missing || hidden.archived !== archived
}

/** Whether the store that `view` shows came out of the one that the index was written over. */
const fits = (
  binding: IndexBinding, view: View, storeId: string, folderDigest: string,
): boolean => {
  if (binding.store_id !== storeId || binding.root_digest !== folderDigest) return false
  if (binding.sequence > view.sequence) return false
  const receipt = receiptOf(view, binding.receipt_number)
  if (receipt === undefined || digestOf(receipt) !== binding.receipt_sha256) return false
  return !hidesOthers(view, folderDigest, binding)
}

/** Two 32-bit hashes of a name at once. */
const hashInto = (name: string, out: Uint32Array, at: number): void => {
  let a = 0x811c9dc5
  let b = 0x9e3779b9
  for (let i = 0; i < name.length; i += 1) {
    const code = name.charCodeAt(i)
    a = Math.imul(a ^ code, 0x01000193)
    b = Math.imul(b ^ code, 0x85ebca6b)
    b ^= b >>> 13
  }
  a ^= a >>> 16
  out[at] = Math.imul(a, 0x7feb352d) >>> 0
  out[at + 1] = Math.imul(b ^ (b >>> 15), 0xc2b2ae35) >>> 0
}

/** Where a stamp has the time of the last change. */
const changeAt = 2

/** What the index says of a file. */
export type Looked = 'known' | 'touched' | 'unknown'

/** Marks of the files of a walk. */
export const marks = { unknown: 0, known: 1, touched: 2 } as const

/** Known files of one folder, by name and stamp. */
export class KnownIndex {
  readonly #hashes: Uint32Array
  readonly #stamps: Float64Array
  readonly #slots: Int32Array
  readonly #probe = new Uint32Array(2)

  constructor(hashes: Uint32Array, stamps: Float64Array) {
    this.#hashes = hashes
    this.#stamps = stamps
    const count = hashes.length / 2
    let size = 16
    while (size < count * 2) size *= 2
    this.#slots = new Int32Array(size).fill(-1)
    for (let entry = 0; entry < count; entry += 1) {
      let slot = (hashes[entry * 2] as number) & (size - 1)
      while (this.#slots[slot] !== -1) slot = (slot + 1) & (size - 1)
      this.#slots[slot] = entry
    }
  }

  get count(): number {
    return this.#hashes.length / 2
  }

  /** Whether this file of a walk is one that a committed row was seen for. */
  has(listing: Listing, file: number): boolean {
    return this.look(listing, file) === 'known'
  }

  /** The same; `touched`: only the time of its last change is another one. */
  look(listing: Listing, file: number): Looked {
    hashInto(listing.nameOf(file), this.#probe, 0)
    const a = this.#probe[0] as number
    const b = this.#probe[1] as number
    const mask = this.#slots.length - 1
    for (let slot = a & mask; this.#slots[slot] !== -1; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot] as number
      const same = this.#hashes[entry * 2] === a && this.#hashes[entry * 2 + 1] === b
      if (same) return this.#compare(entry * 4, listing.stamps, file * 4)
    }
    return 'unknown'
  }

  #compare(mine: number, theirs: Float64Array, at: number): Looked {
    const own = this.#stamps
    const touchedAtMost = own[mine] === theirs[at] && own[mine + 1] === theirs[at + 1]
      && own[mine + 3] === theirs[at + 3]
    if (!touchedAtMost) return 'unknown'
    return own[mine + changeAt] === theirs[at + changeAt] ? 'known' : 'touched'
  }
}

const sumOf = (bytes: Uint8Array): Buffer => createHash('sha256').update(bytes).digest()

const padded = (length: number): number => (length + 7) & ~7

const parse = (
  bytes: Buffer, fitting: (binding: IndexBinding) => boolean,
): KnownIndex | null => {
  const headAt = magic.length + sumBytes + 8
  if (bytes.length < headAt || !bytes.subarray(0, magic.length).equals(magic)) return null
  const rest = bytes.subarray(magic.length + sumBytes)
  const headLength = rest.readUInt32LE(0)
  const count = rest.readUInt32LE(4)
  if (headLength > headBytesMax) return null
  const dataAt = headAt + padded(headLength)
  if (bytes.length !== dataAt + count * entryBytes) return null
  if (!sumOf(rest).equals(bytes.subarray(magic.length, magic.length + sumBytes))) return null
  const head = v.safeParse(
    bindingShape, JSON.parse(bytes.toString('utf8', headAt, headAt + headLength)))
  if (!head.success || !fitting(head.output)) return null
  // A copy of its own begins at a multiple of eight, which the arrays need.
  const data = new Uint8Array(bytes.subarray(dataAt)).buffer
  return new KnownIndex(
    new Uint32Array(data, count * 32, count * 2), new Float64Array(data, 0, count * 4))
}

/** The index of a folder where there is one that fits; anything else is as if it were not there. */
export const loadKnownIndex = (
  runDir: string, view: View, storeId: string, folderDigest: string,
): KnownIndex | null => {
  try {
    const bytes = readFileSync(indexPath(runDir, folderDigest))
    return parse(bytes, (binding) => fits(binding, view, storeId, folderDigest))
  } catch {
    return null
  }
}

/**
 * Writes the index of a folder: the files of a walk that `known` marks. One that was touched and
 * not read yet is kept as such: with no time of its last change. A disk that takes no byte leaves
 * none, which only costs the next tick its time.
 */
export const writeKnownIndex = (
  runDir: string, binding: IndexBinding, listing: Listing, known: Uint8Array,
): void => {
  let count = 0
  for (const mark of known) if (mark !== marks.unknown) count += 1
  const head = Buffer.from(JSON.stringify(binding))
  const dataAt = magic.length + sumBytes + 8 + padded(head.length)
  const bytes = Buffer.alloc(dataAt + count * entryBytes)
  magic.copy(bytes)
  bytes.writeUInt32LE(head.length, magic.length + sumBytes)
  bytes.writeUInt32LE(count, magic.length + sumBytes + 4)
  head.copy(bytes, magic.length + sumBytes + 8)
  const stamps = new Float64Array(count * 4)
  const hashes = new Uint32Array(count * 2)
  let entry = 0
  for (let file = 0; file < listing.count; file += 1) {
    if (known[file] === marks.unknown) continue
    stamps.set(listing.stamps.subarray(file * 4, file * 4 + 4), entry * 4)
    if (known[file] === marks.touched) stamps[entry * 4 + changeAt] = Number.NaN
    hashInto(listing.nameOf(file), hashes, entry * 2)
    entry += 1
  }
  Buffer.from(stamps.buffer).copy(bytes, dataAt)
  Buffer.from(hashes.buffer).copy(bytes, dataAt + count * 32)
  sumOf(bytes.subarray(magic.length + sumBytes)).copy(bytes, magic.length)
  const path = indexPath(runDir, binding.root_digest)
  const fresh = `${path}.${process.pid}`
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    writeFileSync(fresh, bytes, { mode: 0o600 })
    renameSync(fresh, path)
  } catch {
    rmSync(fresh, { force: true })
  }
}

/** Has the next scan of a folder look at every row. */
export const dropKnownIndex = (runDir: string, folderDigest: string): void => {
  try {
    rmSync(indexPath(runDir, folderDigest), { force: true })
  } catch {
    // Whoever cannot remove it cannot write there, either.
  }
}
