/** A store as one of several machines has it that share a state. */
import type { Store } from '../../src/state/types.js'

/** The store under the name of a machine; `dir`: its own folder, where it has another one. */
export const onMachine = (store: Store, machine: string, dir = store.dir): Store => {
  const own = new Map<string | symbol, unknown>([['machine', machine], ['dir', dir]])
  return new Proxy(store, {
    get: (target, name) => {
      if (own.has(name)) return own.get(name)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
