/**
 * One moment of the store in memory: a manifest, its runs, and the records of every log after it.
 * Versions of a document are chained by sequence, so that a view keeps seeing its own moment while
 * later records arrive. The runs' files are held open, so that no fold takes them away.
 */
import type { GenericSchema } from 'valibot'
import { shapeCheck } from '../../base/compiled-shape.js'
import { fail } from '../../base/errors.js'
import type { Files } from '../files.js'
import { bindingOf, recordHeaderBytes, type LogBinding, type LogHeader } from '../log/format.js'
import { canonicalText } from '../log/canonical-text.js'
import { bytesInFile, scanLog, type TailKind } from '../log/scan.js'
import { logFormatOf, type Places } from '../paths.js'
import { decodePayload, opsIn, type RecordPayload } from '../log/record.js'
import { mergeRows, withoutRemoved } from '../segments/merge.js'
import type { Bounds, StoredRow } from '../segments/read-segment.js'
import { IdOrder } from './id-order.js'
import type { Manifest, Mark } from './manifest.js'
import type { Lease } from './pool.js'
import type { CollectionSpec } from '../types.js'

/** Canonical JSON in the bytes of a record: kept off the heap until the document is wanted. */
interface TextSpan {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
}

/** One document at one moment; `before` is how it was until `sequence`. */
export interface Version {
  readonly sequence: number
  readonly removed: boolean
  /** Canonical JSON, kept until the document is first wanted. */
  source: string | TextSpan | undefined
  doc: unknown
  /** The schema it was last checked against. */
  checked: GenericSchema | undefined
  readonly before: Version | undefined
}

export const versionOf = (text: string): Version => ({
  sequence: 0, removed: false, source: text, doc: undefined, checked: undefined, before: undefined,
})

/** JSON text of a version; canonical where its document was not made a later one. */
export const textOf = ({ source, doc }: Version): string => {
  if (source === undefined) return canonicalText(doc)
  if (typeof source === 'string') return source
  return source.bytes.toString('utf8', source.start, source.end)
}

/** Documents of one collection that the logs have touched, newest versions by id. */
type Overlay = Map<string, Version>

/** How the log goes on after its last true record. */
type LogTail = TailKind | 'bad_payload'

interface LateRecord {
  readonly sequence: number
  readonly bytes: Buffer
}

export const freezeDeep = (value: unknown): void => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return
  Object.freeze(value)
  for (const member of Object.values(value)) freezeDeep(member)
}

/** A document of a version, checked against the schema and frozen. */
export const documentOf = <T>(spec: CollectionSpec<T>, version: Version): T => {
  if (version.source !== undefined) {
    version.doc = JSON.parse(textOf(version))
    version.source = undefined
  }
  if (version.checked !== spec.schema) {
    if (spec.upgrade !== undefined) version.doc = spec.upgrade(version.doc)
    if (!shapeCheck(spec.schema)(version.doc)) throw damagedDocument(spec.name)
    freezeDeep(version.doc)
    version.checked = spec.schema
  }
  return version.doc as T
}

const damagedDocument = (collection: string): Error =>
  fail.damaged('document_damaged', `A stored document of ${collection} breaks its shape.`, {
    next: 'Run `sallyport state check`.', details: { collection },
  })

/** A log that is open for reading. */
export interface OpenLog {
  readonly header: LogHeader
  readonly fd: number
  readonly inode: number
  /** Bytes of its first line. */
  readonly start: number
}

/** The version of a document at a moment, or undefined where it came later. */
const versionAt = (newest: Version | undefined, sequence: number): Version | undefined => {
  let version = newest
  while (version !== undefined && version.sequence > sequence) version = version.before
  return version
}

/** How many rows of the runs are kept at hand: what one operation asks for again and again. */
const foundMax = 64

/** The state as far as it has been read. */
export class Generation {
  readonly manifest: Manifest
  readonly lease: Lease
  readonly #overlays = new Map<string, Overlay>()
  /** By collection, of those that a range was asked of. */
  readonly #orders = new Map<string, IdOrder>()
  /** Records of this process that no version has been made of yet, oldest first. */
  #late: LateRecord[] = []
  /** Rows of the runs that were asked for lately, also those that are not there. */
  readonly #found = new Map<string, { readonly row: StoredRow | undefined }>()
  sequence: number
  chain: string
  /** Another object behind each record: what is known of the rows is known of these alone. */
  rows: object = {}
  /** Marks, oldest first, at least one. */
  marks: Mark[]
  /** The newest log, open for reading; undefined where it is gone. */
  log: OpenLog | undefined
  /** Number of the newest log. */
  epoch: number
  logPath: string
  /** Where the log of the next epoch will appear. */
  nextLogPath: string
  binding: LogBinding
  /** Where the records begin in the newest log. */
  start = 0
  /** End of the last true record in the newest log. */
  end = 0
  tail: LogTail = 'clean'
  /** Epoch of the log that took over from this one, once it is sealed; see `rotate.ts`. */
  sealedFor: number | undefined
  readonly #files: Files
  readonly #places: Places

  constructor(files: Files, places: Places, manifest: Manifest, lease: Lease) {
    this.#files = files
    this.#places = places
    this.manifest = manifest
    this.lease = lease
    this.sequence = manifest.sequence
    this.chain = manifest.chain
    this.marks = [...manifest.marks]
    this.epoch = manifest.epoch + 1
    this.logPath = places.log(this.epoch)
    this.nextLogPath = places.log(this.epoch + 1)
    const format = logFormatOf(manifest.format_version)
    this.binding = { storeId: manifest.store_id, epoch: this.epoch, format }
  }

  /** Goes on in the next log; the one before is read to its end. */
  enter(log: OpenLog): void {
    this.closeLog()
    this.log = log
    this.epoch = log.header.epoch
    this.logPath = this.#places.log(this.epoch)
    this.nextLogPath = this.#places.log(this.epoch + 1)
    this.binding = bindingOf(log.header)
    this.start = log.start
    this.end = log.start
    this.tail = 'clean'
    this.sealedFor = undefined
  }

  /** Reads the newest log from the last true record on; true when it held new records. */
  readTail(size: number): boolean {
    if (this.log === undefined || size <= this.end) {
      this.tail = 'clean'
      return false
    }
    const start = this.end
    let bad = false
    const tail = scanLog(
      this.binding, bytesInFile(this.#files, this.log.fd, start, size), this, (record) => {
        const payload = decodePayload(record.payload)
        bad = payload === undefined
        if (payload === undefined) return false
        this.end = start + record.end
        if (payload.next_epoch !== undefined) {
          this.sealedFor = payload.next_epoch
          return true
        }
        this.#apply(record.sequence, record.chain, payload)
        return true
      })
    this.tail = bad ? 'bad_payload' : tail
    return bad || this.end > start
  }

  #apply(sequence: number, chain: string, payload: RecordPayload): void {
    if (this.#late.length > 0) this.#applyLate()
    for (const [collection, , id, ...rest] of payload.ops) {
      this.#put(sequence, collection, id, rest.length === 0, undefined, rest[0])
    }
    this.#advance(sequence, chain, payload.mark)
  }

  /**
   * Takes over a record that this process has just made durable. Versions are made from it only
   * when somebody looks: a bulk writer that reads nothing pays for none.
   */
  applyOwn(
    sequence: number, { bytes, chain }: { readonly bytes: Buffer; readonly chain: string },
    mark: RecordPayload['mark'],
  ): void {
    this.#late.push({ sequence, bytes })
    this.#advance(sequence, chain, mark)
    this.end += bytes.length
  }

  #applyLate(): void {
    for (const { sequence, bytes } of this.#late) {
      for (const { collection, id, start, end } of opsIn(bytes, recordHeaderBytes)) {
        const removed = start === end
        const source = removed ? undefined : { bytes, start, end }
        this.#put(sequence, collection, id, removed, source, undefined)
      }
    }
    this.#late = []
  }

  /** What the logs have touched, by collection. */
  get overlays(): ReadonlyMap<string, Overlay> {
    if (this.#late.length > 0) this.#applyLate()
    return this.#overlays
  }

  #advance(sequence: number, chain: string, mark: RecordPayload['mark']): void {
    this.sequence = sequence
    this.chain = chain
    this.rows = {}
    if (mark !== undefined) this.marks.push({ ...mark, sequence, chain })
  }

  #put(
    sequence: number, collection: string, id: string, removed: boolean,
    source: Version['source'], doc: unknown,
  ): void {
    let overlay = this.#overlays.get(collection)
    if (overlay === undefined) {
      overlay = new Map()
      this.#overlays.set(collection, overlay)
    }
    const before = overlay.get(id)
    if (before === undefined) this.#orders.get(collection)?.add(id)
    overlay.set(id, { sequence, removed, source, doc, checked: undefined, before })
  }

  /** The version of a document at a moment; undefined when there was none. */
  find(collection: string, id: string, sequence: number): Version | undefined {
    const version = versionAt(this.overlays.get(collection)?.get(id), sequence)
    if (version !== undefined) return version.removed ? undefined : version
    const row = this.#stored(collection, id)
    return row === undefined || row.text === null ? undefined : keptVersion(row, row.text)
  }

  /** The same of some documents of a collection, in the order of their ids as they are given. */
  findMany(collection: string, ids: readonly string[], sequence: number): (Version | undefined)[] {
    const overlay = this.overlays.get(collection)
    const found: (Version | undefined)[] = []
    const stored: { readonly id: string; readonly at: number }[] = []
    for (const [at, id] of ids.entries()) {
      const version = versionAt(overlay?.get(id), sequence)
      found.push(version?.removed === true ? undefined : version)
      if (version === undefined) stored.push({ id, at })
    }
    stored.sort(byPlace)
    const rows = this.lease.table.findMany(stored.map(({ id }) => ({ collection, id })))
    for (const [n, { at }] of stored.entries()) {
      const row = rows[n]
      if (row !== undefined && row.text !== null) found[at] = keptVersion(row, row.text)
    }
    return found
  }

  /** The row at a key of the runs, which stay as they are: asked for again, it is the same. */
  #stored(collection: string, id: string): StoredRow | undefined {
    const key = `${collection}\0${id}`
    const known = this.#found.get(key)
    if (known !== undefined) return known.row
    const row = this.lease.table.find({ collection, id })
    if (this.#found.size >= foundMax) this.#found.clear()
    this.#found.set(key, { row })
    return row
  }

  /** Versions of a collection at a moment whose keys lie within bounds, in order or in reverse. */
  * scan(
    collection: string, bounds: Bounds, sequence: number, reverse: boolean,
  ): Generator<readonly [string, Version]> {
    const own = this.#ownRows(collection, bounds, sequence, reverse)
    const rows = mergeRows([own, this.lease.table.scan(bounds, reverse)], reverse)
    for (const row of withoutRemoved(rows)) yield [row.id, keptVersion(row, row.text ?? '')]
  }

  * #ownRows(
    collection: string, bounds: Bounds, sequence: number, reverse: boolean,
  ): Generator<StoredRow> {
    const overlay = this.overlays.get(collection)
    if (overlay === undefined) return
    for (const id of this.#idsWithin(overlay, collection, bounds, reverse)) {
      const version = versionAt(overlay.get(id), sequence)
      if (version === undefined) continue
      yield { collection, id, text: version.removed ? null : '', version }
    }
  }

  #idsWithin(
    overlay: Overlay, collection: string, bounds: Bounds, reverse: boolean,
  ): readonly string[] {
    let order = this.#orders.get(collection)
    if (order === undefined) {
      order = new IdOrder()
      this.#orders.set(collection, order)
    }
    const ids = order.within(overlay, collection, bounds)
    return reverse ? ids.toReversed() : ids
  }

  /** Rows of all logs at a moment, sorted; null texts for what they removed. */
  rowsUpTo(sequence: number): StoredRow[] {
    const rows: StoredRow[] = []
    for (const collection of [...this.overlays.keys()].sort()) {
      for (const [id, newest] of [...this.overlays.get(collection) ?? []].sort(byId)) {
        const version = versionAt(newest, sequence)
        if (version === undefined) continue
        rows.push({ collection, id, text: version.removed ? null : textOf(version) })
      }
    }
    return rows
  }

  /** Closes the log. The files of the runs stay open as long as a view may read them. */
  closeLog(): void {
    if (this.log !== undefined) this.#files.close(this.log.fd)
    this.log = undefined
  }
}

const byId = (a: readonly [string, unknown], b: readonly [string, unknown]): number =>
  a[0] < b[0] ? -1 : 1

const byPlace = (a: { readonly id: string }, b: { readonly id: string }): number =>
  (a.id < b.id ? -1 : Number(a.id > b.id))

/** The version that was made of a row before, or one that is kept with it. */
const keptVersion = (row: StoredRow, text: string): Version => {
  row.version ??= versionOf(text)
  return row.version as Version
}
