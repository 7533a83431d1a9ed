/** Which records of a store changed something, and whether the anchor moved with them. */
import type { Gov } from '../../src/governance/context.js'
import type { Store } from '../../src/state/types.js'
import type { Place } from '../world/place.js'
import { anchorOf } from './anchor.js'

/** One record that changed what is watched. */
export interface NotedRecord {
  readonly verb: string
  /** Whether an old copy of the state is known for one since. */
  readonly moved: boolean
}

/** A context whose records are noted where they change what `watched` gives. */
export const notedRecords = (
  gov: Gov, place: Place, watched: () => unknown,
): { readonly gov: Gov, readonly records: readonly NotedRecord[] } => {
  const records: NotedRecord[] = []
  const seen = (): string => JSON.stringify(watched())
  const transact: Store['transact'] = async (verb, ...more) => {
    const [anchor, before] = [anchorOf(place), seen()]
    const given = await gov.store.transact(verb, ...more)
    if (seen() !== before) records.push({ verb, moved: anchorOf(place) !== anchor })
    return given
  }
  const store = new Proxy<Store>(gov.store, {
    get: (target, name) => {
      if (name === 'transact') return transact
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) as unknown : value
    },
  })
  return { gov: { ...gov, store }, records }
}
