/** Writing down what came of a contact while others hold the lock, or somebody stops. */
import t from 'tap'
import { fail } from '../../src/base/errors.js'
import { silentObserver } from '../../src/base/observer.js'
import { persist } from '../../src/contact/persist.js'
import type { Gov } from '../../src/governance/context.js'
import { stillClock } from '../support/clock.js'

const missed = {
  lock_held: () => fail.locked('lock_held', 'Held.'),
  lock_wait_stopped: () => fail.cancelled('lock_wait_stopped', 'Stopped.'),
  place_unreachable: () => fail.locked('place_unreachable', 'Away.'),
  place_restless: () => fail.locked('place_restless', 'Others write.'),
}

/** A store whose first tries end so; gives what was tried. */
const storeOf = (ends: readonly (() => Error)[]) => {
  const clock = stillClock()
  const tried: number[] = []
  const transact = async (_verb: string, fn: (tx: never) => unknown): Promise<unknown> => {
    tried.push(clock.monotonicMs())
    const end = ends[tried.length - 1]
    if (end !== undefined) throw end()
    return fn({} as never)
  }
  const gov = {
    store: { transact }, clock, observer: silentObserver, face: 'cli',
  } as unknown as Gov
  return { gov, tried, leftMs: (of: number) => () => of - clock.monotonicMs() }
}

t.test('neither a held lock nor a stop while it is waited for costs what came of a contact', async (t) => {
  const { gov, tried, leftMs } = storeOf([
    missed.lock_held, missed.lock_wait_stopped, missed.lock_held,
  ])
  t.equal(await persist(gov, 'test', leftMs(1_000), () => 'written'), 'written')
  t.strictSame(tried, [0, 50, 100, 150])
})

t.test('it is tried for as long as time is left, and any other error goes on up at once', async (t) => {
  for (const [code, error] of Object.entries(missed)) {
    const { gov, tried, leftMs } = storeOf(Array.from({ length: 9 }, () => error))
    await t.rejects(persist(gov, 'test', leftMs(120), () => 'written'), { code })
    t.strictSame(tried, [0, 50, 100, 120], code)
  }
  const { gov, tried, leftMs } = storeOf([() => fail.cancelled('other', 'Another end.')])
  await t.rejects(persist(gov, 'test', leftMs(1_000), () => 'written'), { code: 'other' })
  t.equal(tried.length, 1)
})
