/** A code host that is no host of this machine, for what is asked of those alone. */
import { codehostBase, type CodehostContext } from '../../../src/codehost/context.js'
import { deploymentProfile } from '../../../src/governance/profile.js'
import { createHttpsClient } from '../../../src/net/client.js'
import type { Store } from '../../../src/state/types.js'
import { shipped } from './producing.js'
import type { Working } from './working.js'

const elsewhere = (store: Store): Store => new Proxy(store, {
  get: (target, name) => {
    if (name === 'profile') return { ...deploymentProfile(target), loopback: false }
    const value: unknown = Reflect.get(target, name, target)
    return typeof value === 'function' ? value.bind(target) : value
  },
})

/** What works with the code host of a world as it would where its profile is of another machine. */
export const remote = (at: Working): CodehostContext => {
  const client = createHttpsClient({
    clock: at.clock, env: {}, execArgv: [], ca: [at.sandbox.caPem], loopbackOnly: true,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  return {
    gov: { ...at.gov, store: elsewhere(at.gov.store) }, signal: new AbortController().signal,
    baseUrl: codehostBase(at.gov), client: async () => client, producer: { helper: shipped() },
  }
}
