/** What a process of a machine was sending when it died, told to the place by the next one. */
import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openingAny, openStore } from '../../../src/state/store.js'
import type { Store } from '../../../src/state/types.js'
import { memoryPlace } from '../../support/place/memory.js'
import { replicas } from '../../support/place/replicas.js'

t.test('A-167 the first look of a process says which requests of its machine nobody sends any more', async (t) => {
  const { store, server } = await replicas(t)
  const operation = `op_${randomUUID()}`
  const facts = { operation, task: null, principal: null, pid: process.pid }
  const guard = await store.holds.hold('operation', operation)
  const fence = store.holds.fence(facts, [guard])
  await fence.take(new AbortController().signal)
  fence.note('begun')
  t.hasStrict(server.fences, [{ operation, taken: true, closed: false }])
  const next = async (): Promise<Store> => {
    const { dir, replica: { keyPlaces: { configDir } }, settings: { machine } } = store
    const place = memoryPlace(server, () => machine)
    const opened = await openingAny(() => openStore({ dir, configDir, mode: 'write', place }))
    t.teardown(() => opened.close())
    return opened
  }
  await (await next()).fresh()
  t.hasStrict(server.fences, [{ taken: true, closed: false }], 'somebody has it')
  // As the death of its process does, this says nothing to the place about the fence: nobody has
  // a lock on a file that was copied.
  guard.release()
  const path = join(store.dir, 'run', 'fence', operation)
  copyFileSync(path, `${path}.copy`)
  renameSync(`${path}.copy`, path)
  await (await next()).fresh()
  t.hasStrict(server.fences, [{ taken: false, closed: true }])
  t.notOk(existsSync(path))
})
