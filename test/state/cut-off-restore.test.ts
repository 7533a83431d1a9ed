/** A restore over a state that is there, cut off while it copies, and run again. */
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { SallyportError } from '../../src/base/errors.js'
import { backupState } from '../../src/state/care/backup.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import { nodeFiles, type Files } from '../../src/state/files.js'
import { kernelStateLock, type LockMaker } from '../../src/state/lock.js'
import { fullAt } from '../support/state/full-disk.js'
import { again, placeOf, publish, put, specs } from '../support/state/notes.js'
import { World } from '../world/world.js'

t.test('a restore that ends in the middle of a copy leaves no half of a file that the next one takes for whole', async (t) => {
  const world = await World.in(t).store()
  const { store } = world
  await put(store, 'a', 1)
  const stage = join(store.dir, 'stages', 'job_0190aaaa-0000-7000-8000-000000000001')
  mkdirSync(stage, { recursive: true })
  const whole = Buffer.alloc(3 * 1024 * 1024, 7)
  writeFileSync(join(stage, 'upload'), whole)
  const backup = world.place.path('backup')
  await backupState(store, backup)
  store.close()
  rmSync(join(store.dir, 'stages'), { recursive: true })
  const second = 1024 * 1024
  const ending: Files = {
    ...nodeFiles,
    write: (fd, bytes, position) => {
      if (position === second) throw new TypeError('the process ends')
      return nodeFiles.write(fd, bytes, position)
    },
  }
  const restore = (files: Files) => restoreState({ ...placeOf(store), backup, specs, files })
  await t.rejects(restore(ending), /process ends/)
  await restore(nodeFiles)
  t.ok(readFileSync(join(stage, 'upload')).equals(whole))
})

t.test('whichever write of a restore into a new place fails, nothing of it stays beside that place', async (t) => {
  const world = await World.in(t).store()
  const { store } = world
  await put(store, 'a', 1)
  const backup = world.place.path('backup')
  await backupState(store, backup)
  store.close()
  const places = { ...placeOf(store), dir: world.place.path('fresh') }
  let at = 1
  for (; ; at += 1) {
    const ended = await restoreState({ ...places, backup, specs, files: fullAt(at) })
      .then(() => null, (error: SallyportError) => error.code)
    t.strictSame(readdirSync(world.place.dir).filter((name) => name.includes('.new-')), [])
    if (existsSync(places.dir)) break
    t.equal(ended, 'disk_full', `write ${at}`)
  }
  t.ok(at > 4)
})

/** A lock that is taken once somebody else is done, who had it before. */
const takenBehind = (work: () => Promise<void>): LockMaker => {
  let ended: boolean | undefined
  return (path, clock) => {
    const lock = kernelStateLock(path, clock)
    const tryTake = (verb: string): boolean => {
      if (ended === undefined) {
        ended = false
        void work().then(() => { ended = true })
      }
      return ended && lock.tryTake(verb)
    }
    return {
      tryTake, give: () => lock.give(), holder: () => lock.holder(), close: () => lock.close(),
    }
  }
}

t.test('a restore that waited for the lock while others moved the anchor, and was cut off, is ended by a repair', async (t) => {
  const world = await World.in(t).store()
  const { store } = world
  await put(store, 'a', 1)
  const backup = world.place.path('backup')
  await backupState(store, backup)
  const lock = takenBehind(async () => {
    for (const revision of [1, 2, 3]) await publish(store, revision)
    store.close()
  })
  let known: number | undefined
  await t.rejects(restoreState({
    ...placeOf(store), backup, specs, lock,
    afterRestore: (_, { anchorPolicyRevision }) => {
      known = anchorPolicyRevision
      throw new TypeError('the process ends')
    },
  }), /process ends/)
  t.equal(known, 3, 'what is published then is above the revisions of meanwhile')
  const report = await repairState({ ...placeOf(store), specs, onLoss: (one) => publish(one, 4) })
  t.hasStrict(report, { done: [{ code: 'earlier_loss_settled' }] })
  t.equal(again(t, store).anchor().status, 'ok')
})
