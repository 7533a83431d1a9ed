/** What is replaced goes aside whole or not at all. */
import { existsSync, readdirSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { SallyportError } from '../../src/base/errors.js'
import { unsettledFolders } from '../../src/state/care/aside.js'
import { backupState } from '../../src/state/care/backup.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import { nodeFiles, type Files } from '../../src/state/files.js'
import { fullAt } from '../support/state/full-disk.js'
import { placeOf, put, specs } from '../support/state/notes.js'
import { World } from '../world/world.js'

for (const what of ['repair', 'restore'] as const) {
  t.test(`whichever write of a ${what} fails, what it copied aside stays whole or not at all`, async (t) => {
    const world = await World.in(t).store()
    const { store } = world
    await put(store, 'a', 1)
    const backup = world.place.path('backup')
    await backupState(store, backup)
    store.close()
    const aside = join(store.dir, 'aside')
    const entries = (): readonly string[] => (existsSync(aside) ? readdirSync(aside) : [])
    const place = { ...placeOf(store), specs }
    const run = (files: Files): Promise<unknown> => (what === 'repair'
      ? repairState({ ...place, files, onLoss: async () => undefined })
      : restoreState({ ...place, files, backup }))
    const ended = (files: Files): Promise<string> =>
      run(files).then(() => 'done', (error: SallyportError) => error.code)
    const wholeAt = new Set<string>()
    let failures = 0
    for (let at = 1; at < 40; at += 1) {
      if (what === 'repair' && existsSync(store.places.state)) unlinkSync(store.places.state)
      const told = await ended(fullAt(at))
      for (const name of entries().filter((one) => !wholeAt.has(one))) {
        t.match(name, new RegExp(`^${what}-`), `write ${at}`)
        const held = readdirSync(join(aside, name))
        t.ok(held.includes('witness.log'), `write ${at}: ${name} holds ${held.join(', ')}`)
        wholeAt.add(name)
      }
      if (told === 'done') break
      t.equal(told, 'disk_full')
      failures += 1
    }
    t.ok(failures > 3 && wholeAt.size > 0)
    const unsettled = (): number => unsettledFolders(store.dir, nodeFiles).length
    for (const waiting of [1, 2]) {
      t.equal(await ended(nodeFiles), 'done')
      t.equal(unsettled(), what === 'repair' ? 0 : waiting, 'what a restore replaced waits')
    }
  })
}
