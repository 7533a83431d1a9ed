/** What another machine does once the leases of this one have run out: its runs count as dead. */
import { recoverState } from '../../src/fabric/recovery.js'
import type { Store } from '../../src/state/types.js'
import type { Stateful } from '../world/state.js'

/** Recovers the state as if no operation were held by anybody. */
export const takenForDead = async ({ gov }: Pick<Stateful, 'gov'>): Promise<void> => {
  const holds = { isHeld: () => false, sweep: () => undefined }
  const store = new Proxy<Store>(gov.store, {
    get: (target, name) => {
      if (name === 'holds') return holds
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) as unknown : value
    },
  })
  await recoverState({ ...gov, store })
}
