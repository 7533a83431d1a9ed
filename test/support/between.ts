/** What happens between a look at the rows and the record that rests on it. */
import type { Gov } from '../../src/governance/context.js'
import type { Tx } from '../../src/state/types.js'

/** A context in which `change` happens between the look at the rows and the first record. */
export const betweenLookAndRecord = (gov: Gov, change: () => Promise<unknown>): Gov => {
  const real = gov.store
  let first = true
  const store = new Proxy(real, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name)
      if (name !== 'transact') return typeof value === 'function' ? value.bind(target) : value
      return async (verb: string, fn: (tx: Tx) => unknown) => {
        if (first) await change()
        first = false
        return real.transact(verb, fn)
      }
    },
  })
  return { ...gov, store }
}
