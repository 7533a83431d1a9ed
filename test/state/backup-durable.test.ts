/** A backup that was acknowledged is whole after a power cut. */
import t from 'tap'
import { backupState, verifyBackup } from '../../src/state/care/backup.js'
import { createStore, type FileStore } from '../../src/state/store.js'
import { site } from '../support/state/crash-script.js'
import { memoryLock } from '../support/state/faults.js'
import { MemFiles } from '../support/state/mem-files.js'
import { notes } from '../support/state/notes.js'

t.test('durability: a power cut right behind a backup takes no name and no byte of it', async (t) => {
  const files = new MemFiles()
  const store = createStore({ ...site, files, lock: memoryLock(), profile: {} }) as FileStore
  for (let n = 1; n < 4; n += 1) {
    await store.transact('step', (tx) => {
      tx.put(notes, `n${n}`, { n, text: 'x' })
      tx.mark({ policyRevision: n })
      tx.afterSync(() => store.witness.append(`line ${n}`))
    })
    store.artifacts.write('x', Buffer.from(`y${n}`))
    await store.exclusive('fold', () => store.checkpoint())
  }
  const made = await backupState(store, '/tmp/copies/one')
  store.close()
  for (const mode of ['kept', 'dropped', 'garbled'] as const) {
    const facts = verifyBackup(files.crash(mode, 1), '/tmp/copies/one')
    t.equal(facts.files.length, made.files, mode)
    t.equal(facts.sequence, made.sequence, mode)
  }
})
