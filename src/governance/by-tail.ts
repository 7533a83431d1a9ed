/** The index through which a row is found by the end of its id, as lists show it. */
import { tailOf } from '../base/ids.js'
import type { Index } from '../state/types.js'

/**
 * Rows by the last digits of an id. Their owner is no part of the key: at eight digits few rows of
 * all owners share one, and whoever looks up sees which of them are theirs.
 */
export const byTail = <T>(idOf: (row: T) => string): Index<T> => ({
  name: 'tail', parts: 1,
  keysOf: (row) => {
    const tail = tailOf(idOf(row))
    return tail === null ? [] : [[tail]]
  },
})
