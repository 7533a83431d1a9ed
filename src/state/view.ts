/** What callers see of the documents: a moment of the store, and a transaction on top of one. */
import * as v from 'valibot'
import { canonicalJson } from '../base/canonical.js'
import { shapeCheck } from '../base/compiled-shape.js'
import { fail, type SallyportError } from '../base/errors.js'
import { canonicalCopy } from './log/canonical-text.js'
import { ioFailure } from './files.js'
import { appendTo } from './history/append.js'
import { isHistoryName } from './history/spec.js'
import { entriesOf, entryDocument, indexCollections, type IndexCollection } from './indexes.js'
import { mergeRows, withoutRemoved } from './segments/merge.js'
import { isWithin } from './segments/read-segment.js'
import type { Row } from './segments/row.js'
import { boundsIn } from './segments/table.js'
import {
  documentOf, freezeDeep, versionOf, type Generation, type Version,
} from './snapshot/generation.js'
import {
  isCollectionName, isDocumentId, type Change, type Content, type PartitionKind,
} from './log/record.js'
import type {
  CollectionSpec, Entry, HistoryHead, HistorySpec, ofNow, RangeOptions, Tx, View,
} from './types.js'
/** What a view needs of its store. */
interface ViewHost {
  /** Learns of an error before it is thrown: met damage refuses later writes. */
  met(error: SallyportError): SallyportError
}

function* firstOf<T>(values: Iterable<T>, limit = Number.POSITIVE_INFINITY): Generator<T> {
  let left = limit
  if (left <= 0) return
  for (const value of values) {
    yield value
    left -= 1
    if (left <= 0) return
  }
}

/** One moment of the store. */
export class StoreView implements View {
  readonly #generation: Generation
  readonly sequence: number
  readonly rows: object
  readonly #host: ViewHost

  constructor(generation: Generation, host: ViewHost) {
    this.#generation = generation
    this.sequence = generation.sequence
    this.rows = generation.rows
    this.#host = host
  }

  get<T>(spec: CollectionSpec<T>, id: string): T | undefined {
    return this.#look(() => {
      const version = this.#generation.find(spec.name, id, this.sequence)
      return version === undefined ? undefined : documentOf(spec, version)
    })
  }

  getMany<T>(spec: CollectionSpec<T>, ids: readonly string[]): readonly (T | undefined)[] {
    return this.#look(() =>
      this.#generation.findMany(spec.name, ids, this.sequence).map((version) =>
        version === undefined ? undefined : documentOf(spec, version)))
  }

  all<T>(spec: CollectionSpec<T>): readonly Entry<T>[] {
    return this.range(spec, {})
  }

  range<T>(spec: CollectionSpec<T>, options: RangeOptions): readonly Entry<T>[] {
    const { limit } = options
    return this.#look(() =>
      Array.from(firstOf(this.scan(spec.name, options), limit), ([id, version]) =>
        ({ id, doc: documentOf(spec, version) })))
  }

  /** Versions in the order of a range, as they are asked for; damage is thrown as it is met. */
  scan(collection: string, options: RangeOptions): Generator<readonly [string, Version]> {
    const { reverse = false } = options
    const bounds = boundsIn(collection, options)
    return this.#generation.scan(collection, bounds, this.sequence, reverse)
  }

  #look<R>(how: () => R): R {
    try {
      return how()
    } catch (error) {
      throw this.#host.met(ioFailure(error, 'reading a collection'))
    }
  }
}

interface OwnChanges {
  readonly kind: PartitionKind
  /** By id; null removes. */
  readonly contents: Map<string, Content | null>
}

/** What a document becomes: a copy of it, which no later change of the caller's own reaches. */
const contentOf = (doc: unknown): Content => {
  const copy = canonicalCopy(doc)
  return copy === undefined ? textContent(canonicalJson(doc)) : { doc: copy, text: undefined }
}
const textContent = (text: string): Content => ({ doc: undefined, text })

/** A document of a transaction's own: it was checked when it was put. */
const ownDocument = <T>(spec: CollectionSpec<T>, { doc, text }: Content): T => {
  if (text !== undefined) return documentOf(spec, versionOf(text))
  freezeDeep(doc)
  return doc as T
}

/** The document of every entry of an index. */
const entryContent: Content = { doc: entryDocument, text: undefined }

/** Entries of one row in one index: as they are stored, and as this transaction leaves them. */
interface OwnEntries {
  readonly stored: ReadonlySet<string>
  now: ReadonlySet<string>
}

/** A row of a range: this transaction's own, or a stored one. */
interface Merged<T> extends Row {
  readonly content?: Content | null
  readonly doc?: T
}

/** What a mark tells the anchor beside its place in the log. */
type MarkFacts = NonNullable<Parameters<Tx['mark']>[0]>

/** A transaction's own changes over the moment it began at. */
export class StoreTx implements Tx {
  readonly #view: StoreView
  readonly #own = new Map<string, OwnChanges>()
  /** By index and id of the row. */
  readonly #entries = new Map<string, OwnEntries>()
  #open = true
  /** Set by `mark`. */
  marked: MarkFacts | undefined
  readonly effects: (() => void)[] = []
  declare readonly [ofNow]: true

  constructor(view: StoreView) {
    this.#view = view
  }

  get sequence(): number {
    return this.#view.sequence
  }

  /** Those of the moment it began at, until it changes anything. */
  get rows(): object | undefined {
    return this.#own.size === 0 ? this.#view.rows : undefined
  }

  get<T>(spec: CollectionSpec<T>, id: string): T | undefined {
    const own = this.#own.get(spec.name)?.contents.get(id)
    if (own === undefined) return this.#view.get(spec, id)
    return own === null ? undefined : ownDocument(spec, own)
  }

  /** One after the other: a transaction that is rehearsed finds what it read before at hand. */
  getMany<T>(spec: CollectionSpec<T>, ids: readonly string[]): readonly (T | undefined)[] {
    return ids.map((id) => this.get(spec, id))
  }

  all<T>(spec: CollectionSpec<T>): readonly Entry<T>[] {
    return this.range(spec, {})
  }

  range<T>(spec: CollectionSpec<T>, options: RangeOptions): readonly Entry<T>[] {
    const own = this.#own.get(spec.name)
    if (own === undefined) return this.#view.range(spec, options)
    const { limit, reverse = false } = options
    const bounds = boundsIn(spec.name, options)
    const rows = [...own.contents]
      .map(([id, content]) => ({ collection: spec.name, id, text: content && '', content }))
      .filter((row) => isWithin(row, bounds))
      .sort((a, b) => ((a.id < b.id) === reverse ? 1 : -1))
    // So many of the stored ones as this transaction may have removed.
    const more = limit === undefined ? {} : { limit: limit + rows.length }
    const stored = this.#view.range(spec, { ...options, ...more })
      .map(({ id, doc }) => ({ collection: spec.name, id, text: '', doc }))
    const found = withoutRemoved(mergeRows<Merged<T>>([rows, stored], reverse))
    return Array.from(firstOf(found, limit), ({ id, content, doc }) =>
      ({ id, doc: content ? ownDocument(spec, content) : doc as T }))
  }

  put<T>(spec: CollectionSpec<T>, id: string, doc: T): void {
    refuseHistory(spec.name)
    if (!shapeCheck(spec.schema)(doc) || doc === null || doc === undefined) {
      throw badDocument(spec, doc)
    }
    this.#change(spec, id, contentOf(doc))
    this.#index(spec, id, doc)
  }

  remove<T>(spec: CollectionSpec<T>, id: string): void {
    refuseHistory(spec.name)
    this.#change(spec, id, null)
    this.#index(spec, id, undefined)
  }

  append<T>(
    spec: HistorySpec<T>, key: string, expected: HistoryHead, entries: readonly T[],
  ): HistoryHead {
    const at = {
      get: this.get.bind(this),
      range: this.range.bind(this),
      write: (rows: CollectionSpec<never>, id: string, text: string) =>
        this.#change(rows, id, textContent(text)),
    }
    return appendTo(at, spec, key, expected, entries)
  }

  #change<T>(spec: CollectionSpec<T>, id: string, content: Content | null): void {
    if (!this.#open) throw new TypeError('the transaction has ended')
    if (!isDocumentId(id)) throw new TypeError('a document id must be 1 to 512 characters')
    this.#ownOf(spec).set(id, content)
  }

  /** What this transaction leaves of a collection. */
  #ownOf<T>(spec: CollectionSpec<T>): OwnChanges['contents'] {
    let own = this.#own.get(spec.name)
    if (own === undefined) {
      if (!isCollectionName(spec.name)) throw new TypeError('not a collection name')
      const kind = spec.partition === 'one' ? 1 : 256
      own = { kind, contents: new Map() }
      this.#own.set(spec.name, own)
    }
    return own.contents
  }

  /** Keeps the entries of a row in every index: what it was found under goes, unless it stays. */
  #index<T>(spec: CollectionSpec<T>, id: string, doc: T | undefined): void {
    for (const collection of indexCollections(spec)) {
      const entries = this.#entriesOf(spec, collection, id)
      const next: ReadonlySet<string> =
        doc === undefined ? new Set() : entriesOf(collection, doc, id)
      for (const entry of entries.now) {
        if (!next.has(entry)) this.#enter(collection, entry, entries, null)
      }
      for (const entry of next) {
        if (!entries.now.has(entry)) this.#enter(collection, entry, entries, entryContent)
      }
      entries.now = next
    }
  }

  #entriesOf<T>(spec: CollectionSpec<T>, collection: IndexCollection, id: string): OwnEntries {
    const key = `${collection.name}/${id}`
    let entries = this.#entries.get(key)
    if (entries === undefined) {
      const before = this.#view.get(spec, id)
      const stored: ReadonlySet<string> =
        before === undefined ? new Set() : entriesOf(collection, before, id)
      entries = { stored, now: stored }
      this.#entries.set(key, entries)
    }
    return entries
  }

  /** Writes or removes one entry; what is stored so already is not written again. */
  #enter(
    collection: IndexCollection, entry: string, { stored }: OwnEntries, content: Content | null,
  ): void {
    if (stored.has(entry) === (content !== null)) this.#ownOf(collection).delete(entry)
    else this.#change(collection, entry, content)
  }

  mark(facts: MarkFacts = {}): void {
    this.marked = { ...this.marked, ...facts }
  }

  afterSync(effect: () => void): void {
    this.effects.push(effect)
  }

  /** Ends the transaction and answers its changes, last one per document. */
  finish(): Change[] {
    this.#open = false
    const changes: Change[] = []
    for (const [collection, own] of this.#own) {
      for (const [id, content] of own.contents) {
        changes.push({ collection, kind: own.kind, id, content })
      }
    }
    return changes
  }
}

/** A defect of the caller: an entry is never replaced or removed, and a head moves by append. */
const refuseHistory = (collection: string): void => {
  if (isHistoryName(collection)) throw new TypeError('a history changes only by an append')
}

const badDocument = <T>(spec: CollectionSpec<T>, doc: unknown): Error => {
  const { issues } = v.safeParse(spec.schema, doc)
  const key = issues?.[0].path?.[0]?.key
  const field = typeof key === 'string' && /^[a-z_]{1,40}$/.test(key) ? key : ''
  return fail.failed('invalid_document', `A document of ${spec.name} breaks its shape.`, {
    next: 'This is a defect of the program; nothing was written.',
    details: { collection: spec.name, field },
  })
}
