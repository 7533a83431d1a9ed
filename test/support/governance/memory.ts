/** A store of plain maps for rules that only need rows: checks every document like a real one. */
import * as v from 'valibot'
import { appendTo } from '../../../src/state/history/append.js'
import { entriesOf, isIndexCollection } from '../../../src/state/indexes.js'
import type { IndexCollection } from '../../../src/state/indexes.js'
import type {
  CollectionSpec, Entry, ofNow, RangeOptions, Tx, View,
} from '../../../src/state/types.js'

/** Some of sorted documents, as a store gives them. */
const rangeOf = <T>(
  all: readonly Entry<T>[], { prefix = '', after, limit, reverse = false }: RangeOptions,
): Entry<T>[] => {
  const found = all.filter(({ id }) => id.startsWith(prefix) &&
    (after === undefined || (reverse ? id < after : id > after)))
  return (reverse ? found.reverse() : found).slice(0, limit)
}

export class Memory {
  private documents = new Map<string, Map<string, unknown>>()

  view(): View {
    return this.open(this.documents)
  }

  /** Runs `fn` on a copy that replaces the state only when `fn` does not throw. */
  transact<T>(fn: (tx: Tx) => T): T {
    const copy = new Map([...this.documents].map(([name, docs]) => [name, new Map(docs)]))
    const result = fn(this.open(copy))
    this.documents = copy
    return result
  }

  private open(documents: Map<string, Map<string, unknown>>): Tx {
    const docsOf = (name: string): Map<string, unknown> => {
      const docs = documents.get(name) ?? new Map<string, unknown>()
      documents.set(name, docs)
      return docs
    }
    const all = <T>(spec: CollectionSpec<T>): Entry<T>[] =>
      [...docsOf(spec.name)]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([id, doc]) => ({ id, doc: doc as T }))
    const entries = (spec: IndexCollection): Entry<unknown>[] =>
      all(spec.rows).flatMap(({ id, doc }) => [...entriesOf(spec, doc, id)]).sort()
        .map((id) => ({ id, doc: {} }))
    const get = <T>(spec: CollectionSpec<T>, id: string): T | undefined =>
      docsOf(spec.name).get(id) as T | undefined
    const rows = {
      get,
      getMany: <T>(spec: CollectionSpec<T>, ids: readonly string[]) =>
        ids.map((id) => get(spec, id)),
      range: <T>(spec: CollectionSpec<T>, options: RangeOptions) =>
        rangeOf(isIndexCollection(spec) ? entries(spec) as Entry<T>[] : all(spec), options),
    }
    const tx: Omit<Tx, typeof ofNow> = {
      sequence: 1,
      all,
      ...rows,
      put: (spec, id, doc) => {
        docsOf(spec.name).set(id, structuredClone(v.parse(spec.schema, doc)))
      },
      remove: (spec, id) => {
        docsOf(spec.name).delete(id)
      },
      append: (spec, key, expected, entries) => appendTo({
        ...rows,
        write: ({ name }, id, text) => void docsOf(name).set(id, JSON.parse(text)),
      }, spec, key, expected, entries),
      mark: () => undefined,
      afterSync: () => undefined,
    }
    return tx as Tx
  }
}
