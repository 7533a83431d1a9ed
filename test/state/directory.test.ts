/** What a directory alone can be asked is refused by name where a state is kept elsewhere. */
import t from 'tap'
import { backupState } from '../../src/state/care/backup.js'
import { compactState } from '../../src/state/care/compact.js'
import { dropStored, sweepStored, sweepTemporaries } from '../../src/state/care/drop-stored.js'
import {
  dropAsides, finishedAsides, isFinishedAside,
} from '../../src/state/care/finished-asides.js'
import { foldMeanwhile, forgetRemoved, keepFewBlocks } from '../../src/state/care/forget.js'
import { keepUnreferenced } from '../../src/state/care/kept.js'
import type { Store } from '../../src/state/types.js'
import { World } from '../world/world.js'

const none = (): ReadonlySet<string> => new Set()

const asked: Readonly<Record<string, (store: Store, to: string) => unknown>> = {
  backupState: (store, to) => backupState(store, to),
  compactState: (store) => compactState(store),
  dropStored: (store) => dropStored(store, [], 'test'),
  sweepStored: (store) => sweepStored(store, none, 'test'),
  sweepTemporaries: (store) => sweepTemporaries(store),
  finishedAsides: (store) => finishedAsides(store, 0),
  isFinishedAside: (store) => isFinishedAside(store, 'repair-1'),
  dropAsides: (store) => dropAsides(store, [], 'test'),
  forgetRemoved: (store) => forgetRemoved(store, 'test'),
  keepUnreferenced: (store) => keepUnreferenced(store, none),
}

t.test('whatever a directory alone can be asked is state_elsewhere for a state that is in none', async (t) => {
  const { store } = await World.in(t).store()
  const elsewhere = Object.create(store, { keptIn: { value: 'elsewhere' } }) as Store
  const to = `${t.testdir()}/backup`
  for (const [name, ask] of Object.entries(asked)) {
    await t.rejects(async () => { await ask(elsewhere, to) }, {
      kind: 'rejected', code: 'state_elsewhere',
    }, name)
  }
  // Hints to save memory and a long log are for files; without any there is nothing to do.
  keepFewBlocks(elsewhere)
  t.equal(await foldMeanwhile(elsewhere, 'test'), undefined)
  t.equal((await compactState(store)).orphans_removed, 0)
})
