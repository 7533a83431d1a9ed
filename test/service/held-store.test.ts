/** One store that is lent to many requests, and closed behind the last that uses it. */
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { HeldStore } from '../../src/service/held-store.js'
import type { Store } from '../../src/state/types.js'
import { World } from '../world/world.js'

t.test('a store that is given up is closed once nobody uses it any more, and not before', async (t) => {
  const world = await World.still(t).state()
  const { stateDir, configDir } = world.place
  const held = new HeldStore({ stateDir, configDir })
  const closed: Store[] = []
  const noted = new Set<Store>()
  const lent = (store: Store): Store => {
    if (noted.has(store)) return store
    noted.add(store)
    const { close } = store
    store.close = () => {
      closed.push(store)
      close.call(store)
    }
    return store
  }
  let [first, other]: (Store | null)[] = [null, null]
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => { end = resolve })
  const long = held.use(async (store) => {
    first = lent(store)
    await ended
    t.strictSame(closed, [], 'it is in use')
    return first.read().sequence
  })
  held.renew()
  await held.use((store) => { other = lent(store) })
  await setImmediate()
  t.not(other, first, 'whoever comes next has a new one')
  t.strictSame(closed, [])
  end()
  t.ok(await long > 0)
  t.strictSame(closed, [first])
  held.close()
  t.strictSame(closed, [first, other])
})
