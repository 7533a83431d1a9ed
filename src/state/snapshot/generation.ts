/**
 * One generation of the store in memory: a manifest, the partitions loaded so far, and the records
 * of its log. Versions of a document are chained by sequence, so that a view keeps seeing its own
 * moment while later records arrive.
 */
import type { GenericSchema } from 'valibot'
import * as v from 'valibot'
import { fail } from '../../base/errors.js'
import type { Files } from '../files.js'
import type { LogBinding, LogHeader } from '../log/format.js'
import { recordFrameBytes, recordHeaderBytes } from '../log/format.js'
import type { TailKind } from '../log/scan.js'
import { bytesInFile, scanLog } from '../log/scan.js'
import type { Places } from '../paths.js'
import { partName } from '../paths.js'
import type { Change, EncodedPayload, PartitionKind, RecordPayload } from '../log/record.js'
import { decodePayload } from '../log/record.js'
import type { Manifest, Mark } from './snapshot.js'
import { partOf, readPart } from './snapshot.js'
import type { CollectionSpec } from '../types.js'

/** Canonical JSON in the bytes of a record: kept off the heap until the document is wanted. */
export interface TextSpan {
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

/** JSON text of a version. */
export const textOf = ({ source, doc }: Version): string => {
  if (source === undefined) return JSON.stringify(doc)
  if (typeof source === 'string') return source
  return source.bytes.toString('latin1', source.start, source.end)
}

/** Documents of one snapshot partition, as parsed; versions are made when wanted. */
export interface LoadedPart {
  readonly docs: Readonly<Record<string, unknown>>
  readonly versions: Map<string, Version>
}

/** Partitions by file name; files never change, so generations share them. */
export type PartCache = Map<string, LoadedPart>

/** Documents of one collection that the log has touched. */
export interface Overlay {
  readonly kind: PartitionKind
  readonly versions: Map<string, Version>
}

/** How the log goes on after its last true record. */
export type LogTail = TailKind | 'bad_payload'

interface LateRecord {
  readonly sequence: number
  readonly bytes: Buffer
  readonly spans: readonly number[]
  readonly targets: readonly Omit<Change, 'text'>[]
}

const freezeDeep = (value: unknown): void => {
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
    if (!v.is(spec.schema, version.doc)) throw damagedDocument(spec.name)
    freezeDeep(version.doc)
    version.checked = spec.schema
  }
  return version.doc as T
}

const damagedDocument = (collection: string): Error =>
  fail.damaged('document_damaged', `A stored document of ${collection} breaks its shape.`, {
    next: 'Run `sallyport state check`.', details: { collection },
  })

/** The state of one epoch as far as it has been read. */
export class Generation {
  readonly binding: LogBinding
  readonly #overlays = new Map<string, Overlay>()
  /** Records of this process that no version has been made of yet, oldest first. */
  #late: LateRecord[] = []
  sequence: number
  chain: string
  /** Marks, oldest first, at least one. */
  marks: Mark[]
  /** Where the records begin in the log file. */
  readonly start: number
  /** End of the last true record in the log file. */
  end: number
  tail: LogTail = 'clean'
  /** Epoch of the log that took over from this one, once it is sealed; see `seal.ts`. */
  sealedFor: number | undefined
  readonly logPath: string
  /** Where the log of the next epoch will appear. */
  readonly nextLogPath: string
  readonly #files: Files
  readonly #places: Places
  readonly #cache: PartCache

  constructor(
    files: Files, places: Places, cache: PartCache,
    readonly header: LogHeader, readonly manifest: Manifest,
    /** The log file, open for reading. */
    readonly fd: number, readonly inode: number, headerEnd: number,
  ) {
    this.#files = files
    this.#places = places
    this.#cache = cache
    this.binding = { storeId: header.store_id, epoch: header.epoch }
    this.logPath = places.log(header.epoch)
    this.nextLogPath = places.log(header.epoch + 1)
    this.sequence = header.base_sequence
    this.chain = header.base_chain
    this.marks = [...manifest.marks]
    this.start = headerEnd
    this.end = headerEnd
  }

  get epoch(): number {
    return this.header.epoch
  }

  /** Reads the log from the last true record on; true when it held new records. */
  readTail(size: number): boolean {
    if (size <= this.end) {
      this.tail = 'clean'
      return false
    }
    const start = this.end
    let bad = false
    const tail = scanLog(
      this.binding, bytesInFile(this.#files, this.fd, start, size), this, (record) => {
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
    for (const [collection, kind, id, ...rest] of payload.ops) {
      this.#put(sequence, collection, kind, id, rest.length === 0, undefined, rest[0])
    }
    this.#advance(sequence, chain, payload.mark)
  }

  /**
   * Takes over a record that this process has just made durable. Versions are made from it only
   * when somebody looks: a bulk writer that reads nothing pays for none.
   */
  applyOwn(
    sequence: number, record: { readonly bytes: Buffer; readonly chain: string },
    changes: readonly Change[], encoded: EncodedPayload, mark: RecordPayload['mark'],
  ): void {
    const { bytes, chain } = record
    // In plain ASCII a position in the text is a position in the bytes, and the texts can go.
    const plain = bytes.length - recordFrameBytes === encoded.text.length
    if (plain) {
      this.#late.push({
        sequence,
        bytes,
        spans: encoded.spans,
        targets: changes.map(({ collection, kind, id }) => ({ collection, kind, id })),
      })
    } else {
      this.#applyLate()
      for (const { collection, kind, id, text } of changes) {
        this.#put(sequence, collection, kind, id, text === null, text ?? undefined, undefined)
      }
    }
    this.#advance(sequence, chain, mark)
    this.end += bytes.length
  }

  #applyLate(): void {
    for (const { sequence, bytes, spans, targets } of this.#late) {
      targets.forEach(({ collection, kind, id }, i) => {
        const start = recordHeaderBytes + (spans[2 * i] ?? 0)
        const end = recordHeaderBytes + (spans[2 * i + 1] ?? 0)
        const removed = start === end
        const source = removed ? undefined : { bytes, start, end }
        this.#put(sequence, collection, kind, id, removed, source, undefined)
      })
    }
    this.#late = []
  }

  /** What the log has touched, by collection. */
  get overlays(): ReadonlyMap<string, Overlay> {
    if (this.#late.length > 0) this.#applyLate()
    return this.#overlays
  }

  #advance(sequence: number, chain: string, mark: RecordPayload['mark']): void {
    this.sequence = sequence
    this.chain = chain
    if (mark !== undefined) this.marks.push({ ...mark, sequence, chain })
  }

  #put(
    sequence: number, collection: string, kind: PartitionKind, id: string, removed: boolean,
    source: Version['source'], doc: unknown,
  ): void {
    let overlay = this.#overlays.get(collection)
    if (overlay === undefined) {
      overlay = { kind, versions: new Map() }
      this.#overlays.set(collection, overlay)
    }
    const before = overlay.versions.get(id)
    overlay.versions.set(id, { sequence, removed, source, doc, checked: undefined, before })
  }

  /** The version of a document at a moment; undefined when there was none. */
  find(collection: string, id: string, sequence: number): Version | undefined {
    let version = this.overlays.get(collection)?.versions.get(id)
    while (version !== undefined && version.sequence > sequence) version = version.before
    if (version !== undefined) return version.removed ? undefined : version
    const entry = this.manifest.collections[collection]
    if (entry === undefined) return undefined
    const loaded = this.loadPart(collection, partOf(id, entry.digits))
    return loaded === undefined ? undefined : versionIn(loaded, id)
  }

  /** Every version of a collection at a moment, by id, in no order. */
  findAll(collection: string, sequence: number): Map<string, Version> {
    const found = new Map<string, Version>()
    const entry = this.manifest.collections[collection]
    for (const part of Object.keys(entry?.parts ?? {})) {
      const loaded = this.loadPart(collection, part)
      if (loaded === undefined) continue
      for (const id of Object.keys(loaded.docs)) {
        const version = versionIn(loaded, id)
        if (version !== undefined) found.set(id, version)
      }
    }
    for (const [id, newest] of this.overlays.get(collection)?.versions ?? []) {
      let version: Version | undefined = newest
      while (version !== undefined && version.sequence > sequence) version = version.before
      if (version === undefined) continue
      if (version.removed) found.delete(id)
      else found.set(id, version)
    }
    return found
  }

  /** A snapshot partition; undefined when the collection has none of that name. */
  loadPart(collection: string, part: string): LoadedPart | undefined {
    const entry = this.manifest.collections[collection]?.parts[part]
    if (entry === undefined) return undefined
    const name = partName(collection, part, entry[0])
    const known = this.#cache.get(name)
    if (known !== undefined) return known
    const docs = readPart(this.#files, this.#places, collection, part, entry)
    const loaded: LoadedPart = { docs, versions: new Map() }
    this.#cache.set(name, loaded)
    return loaded
  }

  close(): void {
    this.#files.close(this.fd)
  }
}

const versionIn = (loaded: LoadedPart, id: string): Version | undefined => {
  const known = loaded.versions.get(id)
  if (known !== undefined) return known
  if (!Object.hasOwn(loaded.docs, id)) return undefined
  const version: Version = {
    sequence: 0, removed: false, source: undefined, doc: loaded.docs[id], checked: undefined,
    before: undefined,
  }
  loaded.versions.set(id, version)
  return version
}
