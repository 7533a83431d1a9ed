/** A shared state over a place in this process, with somebody signed in on its first machine. */
import type { Teardown } from '../../world/place.js'
import { World } from '../../world/world.js'
import { collections } from '../../../src/governance/rows.js'
import type { OpenOptions } from '../../../src/state/store.js'
import { replicas } from './replicas.js'

interface Test extends Teardown {
  testdir(): string
}

/** The replica, who is signed in there, and the server; `next` joins another machine. */
export const signedIn = async (t: Test, options: Partial<OpenOptions> = {}) => {
  const world = await World.in(t).state({ owner: 'ada' }).session()
  const session = world.session()
  const { store, next, server } = await replicas(t, options)
  await store.transact('test', (tx) => {
    const { principal, root } = session
    tx.put(collections.principals, principal.principal_id, principal)
    tx.put(collections.roots, root.root_id, root)
  })
  return { gov: { ...world.gov, store }, session, store, next, server }
}
