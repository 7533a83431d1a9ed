import type { CollectionSpec, Entry, RangeOptions, Tx } from '../../../src/state/types.js'

/** Rows in memory, for rules that only get, put, remove and walk them. */
export const rowsInMemory = (): Tx => {
  const rows = new Map<string, Map<string, unknown>>()
  const of = (name: string): Map<string, unknown> => {
    const found = rows.get(name) ?? new Map<string, unknown>()
    rows.set(name, found)
    return found
  }
  const range = <T>(spec: CollectionSpec<T>, { limit, reverse }: RangeOptions): Entry<T>[] => {
    const ids = [...of(spec.name).keys()].sort()
    if (reverse === true) ids.reverse()
    return ids.slice(0, limit ?? ids.length)
      .map((id) => ({ id, doc: of(spec.name).get(id) as T }))
  }
  const tx: Pick<Tx, 'get' | 'put' | 'remove' | 'range' | 'all'> = {
    get: <T>(spec: CollectionSpec<T>, id: string) => of(spec.name).get(id) as T | undefined,
    put: (spec, id, doc) => void of(spec.name).set(id, doc),
    remove: (spec, id) => void of(spec.name).delete(id),
    range,
    all: (spec) => range(spec, {}),
  }
  return tx as Tx
}
