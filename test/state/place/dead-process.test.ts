/** What a process of a machine had at the place when it died, told there by the next one. */
import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { closingsDone } from '../../../src/state/place/closings.js'
import type { PlacedStore } from '../../../src/state/place/placed-store.js'
import { openingAny, openStore } from '../../../src/state/store.js'
import { memoryPlace, type MemoryServer } from '../../support/place/memory.js'
import { replicas } from '../../support/place/replicas.js'

/** The next process of the same machine looks. */
const nextLooks = async (
  t: Test, store: PlacedStore, server: MemoryServer, meanwhile = (): void => undefined,
): Promise<void> => {
  const { dir, replica: { keyPlaces: { configDir } }, settings: { machine } } = store
  const place = memoryPlace(server, () => machine)
  const { giveFence } = place
  place.giveFence = async (...given) => {
    meanwhile()
    await giveFence(...given)
  }
  const opened = await openingAny(() => openStore({ dir, configDir, mode: 'write', place }))
  t.teardown(() => opened.close())
  await opened.fresh()
}

/** Its process is dead: nobody has a lock on a file that was copied. */
const die = (store: PlacedStore, ...names: readonly string[]): void => {
  const path = join(store.dir, 'run', ...names)
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
}

t.test('A-167 the first look of a process says which requests of its machine nobody sends any more', async (t) => {
  const { store, server } = await replicas(t)
  const operation = `op_${randomUUID()}`
  const guard = await store.holds.hold('operation', operation)
  const fence = store.holds.fence({ operation, task: null, principal: null, pid: 1 }, [guard])
  await fence.take(new AbortController().signal)
  fence.note('begun')
  await nextLooks(t, store, server)
  t.hasStrict(server.fences, [{ operation, taken: true, closed: false }], 'somebody has it')
  die(store, 'ops', operation)
  die(store, 'fence', operation)
  await nextLooks(t, store, server)
  t.hasStrict(server.fences, [{ operation, taken: false, closed: true }])
  t.notOk(existsSync(join(store.dir, 'run', 'fence', operation)))
})

t.test('a sweep of what dead processes left tells the place first: nobody else could tell it', async (t) => {
  const { store, server } = await replicas(t)
  const operation = `op_${randomUUID()}`
  const guard = await store.holds.hold('operation', operation)
  const fence = store.holds.fence({ operation, task: null, principal: null, pid: 1 }, [guard])
  await fence.take(new AbortController().signal)
  die(store, 'ops', operation)
  die(store, 'fence', operation)
  const path = join(store.dir, 'run', 'fence', operation)
  server.isAway = true
  store.holds.sweep()
  await closingsDone()
  t.ok(existsSync(path), 'what was not told stays')
  server.isAway = false
  store.holds.sweep()
  await closingsDone()
  t.hasStrict(server.fences, [{ operation, taken: false, closed: true }])
  t.notOk(existsSync(path))
})

t.test('a process that dies while another one\'s fences are told is told of by the next look', async (t) => {
  const { store, server } = await replicas(t)
  const [first, second] = [`op_${randomUUID()}`, `op_${randomUUID()}`]
  for (const operation of [first, second]) {
    const guard = await store.holds.hold('operation', operation)
    const fence = store.holds.fence({ operation, task: null, principal: null, pid: 1 }, [guard])
    await fence.take(new AbortController().signal)
  }
  const openThere = () => server.fences.filter(({ closed }) => !closed)
    .map(({ operation }) => operation)
  const dies = (operation: string): void => {
    die(store, 'ops', operation)
    die(store, 'fence', operation)
  }
  dies(first)
  let hasDied = false
  await nextLooks(t, store, server, () => {
    if (!hasDied) dies(second)
    hasDied = true
  })
  t.strictSame(openThere(), [second])
  t.ok(existsSync(join(store.dir, 'run', 'fence', second)), 'it was not told of yet')
  await nextLooks(t, store, server)
  t.strictSame(openThere(), [])
})

t.test('what a dead process held at the place is free for every machine once the next one of its own has looked', async (t) => {
  const { store, next, server } = await replicas(t)
  const other = await next()
  const [dead, alive] = [`op_${randomUUID()}`, `op_${randomUUID()}`]
  await store.holds.hold('operation', dead)
  const kept = await store.holds.hold('operation', alive)
  const clock = store.replica.clock
  await store.holds.lane({ priority: 'normal', clock, deadlineMs: clock.monotonicMs() + 60_000 })
  await store.holds.tryTurn('analyze')
  const live = (): readonly string[] => server.leases.map(({ name }) => name).sort()
  const all = [`hold/${alive}`, `hold/${dead}`, 'lane', 'turn/analyze'].sort()
  await nextLooks(t, store, server)
  t.strictSame(live(), all, 'who lives keeps what it has')
  die(store, 'ops', dead)
  die(store, 'lane', 'holder')
  die(store, 'shots', 'job-analyze')
  await other.fresh()
  t.strictSame(live(), all, 'another machine cannot tell')
  await nextLooks(t, store, server)
  t.strictSame(live(), [`hold/${alive}`])
  const guard = await other.holds.hold('operation', dead)
  guard.release()
  kept.release()
})

t.test('a name of a lease that the place made up leads to no file, and ends nothing', async (t) => {
  const { store, server } = await replicas(t)
  const { settings: { machine } } = store
  const names = ['hold/../../lock', 'turn/../x', 'hold/', 'other/x', `hold/${'a'.repeat(201)}`]
  for (const name of names) {
    server.leases.push({ name, machine, token: randomUUID(), until: Date.now() + 60_000 })
  }
  await nextLooks(t, store, server)
  t.strictSame(server.leases.map(({ name }) => name), names)
})
