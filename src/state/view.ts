/** What callers see of the documents: a moment of the store, and a transaction on top of one. */
import * as v from 'valibot'
import type { SallyportError } from '../base/errors.js'
import { fail } from '../base/errors.js'
import { canonicalText } from './log/canonical-text.js'
import { ioFailure } from './files.js'
import type { Generation, Version } from './snapshot/generation.js'
import { documentOf } from './snapshot/generation.js'
import type { Change, PartitionKind } from './log/record.js'
import { isCollectionName, isDocumentId } from './log/record.js'
import { PartMissing, missingPart } from './snapshot/snapshot.js'
import type { CollectionSpec, Tx, View } from './types.js'

/** What a view needs of its store. */
export interface ViewHost {
  /** The newest generation, when the view's own files have been replaced. */
  refresh(): Generation
  /** Learns of an error before it is thrown: met damage refuses later writes. */
  met(error: SallyportError): SallyportError
}

/** A moment that can move on only while nobody has looked at it yet. */
export class StoreView implements View {
  #generation: Generation
  #sequence: number
  #touched = false
  readonly #host: ViewHost

  constructor(generation: Generation, host: ViewHost) {
    this.#generation = generation
    this.#sequence = generation.sequence
    this.#host = host
  }

  get sequence(): number {
    return this.#sequence
  }

  get<T>(spec: CollectionSpec<T>, id: string): T | undefined {
    return this.#look((generation, sequence) => {
      const version = generation.find(spec.name, id, sequence)
      return version === undefined ? undefined : documentOf(spec, version)
    })
  }

  all<T>(spec: CollectionSpec<T>): readonly { readonly id: string; readonly doc: T }[] {
    return this.#look((generation, sequence) =>
      sortedDocuments(spec, generation.findAll(spec.name, sequence)))
  }

  #look<R>(how: (generation: Generation, sequence: number) => R): R {
    for (;;) {
      try {
        const found = how(this.#generation, this.#sequence)
        this.#touched = true
        return found
      } catch (error) {
        if (error instanceof PartMissing) this.#moveOn()
        else throw this.#host.met(ioFailure(error, 'reading a collection'))
      }
    }
  }

  /** Another process has checkpointed twice since: begin again, or say that it is too late. */
  #moveOn(): void {
    const newest = this.#host.refresh()
    if (newest.epoch === this.#generation.epoch) {
      throw this.#host.met(missingPart())
    }
    if (this.#touched) {
      throw fail.failed('view_expired', 'The state was compacted twice while it was being read.', {
        next: 'Run the command again.',
      })
    }
    this.#generation = newest
    this.#sequence = newest.sequence
  }
}

const byId = (a: readonly [string, unknown], b: readonly [string, unknown]): number =>
  a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0

const sortedDocuments = <T>(
  spec: CollectionSpec<T>, versions: ReadonlyMap<string, Version>,
): { readonly id: string; readonly doc: T }[] =>
  [...versions].sort(byId).map(([id, version]) => ({ id, doc: documentOf(spec, version) }))

interface OwnChanges {
  readonly kind: PartitionKind
  /** Canonical JSON by id; null removes. */
  readonly texts: Map<string, string | null>
}

/** What a mark tells the anchor beside its place in the log. */
export type MarkFacts = NonNullable<Parameters<Tx['mark']>[0]>

/** A transaction's own changes over the moment it began at. */
export class StoreTx implements Tx {
  readonly #view: StoreView
  readonly #own = new Map<string, OwnChanges>()
  #open = true
  /** Set by `mark`. */
  marked: MarkFacts | undefined
  readonly effects: (() => void)[] = []

  constructor(view: StoreView) {
    this.#view = view
  }

  get sequence(): number {
    return this.#view.sequence
  }

  get<T>(spec: CollectionSpec<T>, id: string): T | undefined {
    const own = this.#own.get(spec.name)?.texts.get(id)
    if (own === undefined) return this.#view.get(spec, id)
    return own === null ? undefined : documentOf(spec, versionOf(own))
  }

  all<T>(spec: CollectionSpec<T>): readonly { readonly id: string; readonly doc: T }[] {
    const own = this.#own.get(spec.name)
    if (own === undefined) return this.#view.all(spec)
    const found = this.#view.all(spec).filter(({ id }) => !own.texts.has(id))
    for (const [id, text] of own.texts) {
      if (text !== null) found.push({ id, doc: documentOf(spec, versionOf(text)) })
    }
    return found.sort((a, b) => (a.id < b.id ? -1 : 1))
  }

  put<T>(spec: CollectionSpec<T>, id: string, doc: T): void {
    if (!v.is(spec.schema, doc) || doc === null || doc === undefined) throw badDocument(spec, doc)
    this.#change(spec, id, canonicalText(doc))
  }

  remove<T>(spec: CollectionSpec<T>, id: string): void {
    this.#change(spec, id, null)
  }

  #change<T>(spec: CollectionSpec<T>, id: string, text: string | null): void {
    if (!this.#open) throw new TypeError('the transaction has ended')
    if (!isDocumentId(id)) throw new TypeError('a document id must be 1 to 512 characters')
    let own = this.#own.get(spec.name)
    if (own === undefined) {
      if (!isCollectionName(spec.name)) throw new TypeError('not a collection name')
      const kind = spec.partition === 'one' ? 1 : 256
      own = { kind, texts: new Map() }
      this.#own.set(spec.name, own)
    }
    own.texts.set(id, text)
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
      for (const [id, text] of own.texts) {
        changes.push({ collection, kind: own.kind, id, text })
      }
    }
    return changes
  }
}

const versionOf = (text: string): Version =>
  ({
    sequence: 0, removed: false, source: text, doc: undefined, checked: undefined,
    before: undefined,
  })

const badDocument = <T>(spec: CollectionSpec<T>, doc: unknown): Error => {
  const { issues } = v.safeParse(spec.schema, doc)
  const key = issues?.[0].path?.[0]?.key
  const field = typeof key === 'string' && /^[a-z_]{1,40}$/.test(key) ? key : ''
  return fail.failed('invalid_document', `A document of ${spec.name} breaks its shape.`, {
    next: 'This is a defect of the program; nothing was written.',
    details: { collection: spec.name, field },
  })
}
