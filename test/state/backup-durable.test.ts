/** A backup that was acknowledged is whole after a power cut. */
import { dirname, join } from 'node:path'
import t from 'tap'
import { backupState, verifyBackup } from '../../src/state/care/backup.js'
import { ensureDirs, publish } from '../../src/state/files.js'
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

/** Local work and kept requests lie there, and others let go of some as soon as a copy begins. */
class Clearing extends MemFiles {
  cleared: readonly string[] = []

  override open(...of: Parameters<MemFiles['open']>): number {
    const [path] = of
    if (this.cleared.length > 0 && path.includes('/kept/')) {
      const gone = this.cleared
      this.cleared = []
      for (const one of gone) this.unlink(one)
    }
    return super.open(...of)
  }
}

const put = (files: MemFiles, path: string): void => {
  ensureDirs(files, dirname(path))
  publish(files, path, Buffer.from(path))
}

t.test('a backup is made while others clear what local work and kept requests have left', async (t) => {
  const files = new Clearing()
  const store = createStore({ ...site, files, lock: memoryLock(), profile: {} }) as FileStore
  await store.transact('step', (tx) => {
    tx.put(notes, 'n', { n: 1, text: 'x' })
    tx.mark({ policyRevision: 1 })
    tx.afterSync(() => store.witness.append('line'))
  })
  const at = (name: string): string => join(store.dir, name)
  const gone = ['stages/job_x/one', 'pending/two']
  const temporary = 'stages/job_x/.tmp-1-0123456789abcdef-1'
  for (const name of ['kept/first', 'stages/job_x/stays', temporary, ...gone]) put(files, at(name))
  files.cleared = gone.map(at)
  await backupState(store, '/tmp/copies/one')
  const names = verifyBackup(files, '/tmp/copies/one').files.map(([name]) => name)
  for (const name of [temporary, ...gone]) t.notOk(names.includes(name), name)
  for (const name of ['kept/first', 'stages/job_x/stays']) t.ok(names.includes(name), name)
  put(files, at('other/one'))
  files.cleared = [at('other/one')]
  await t.rejects(backupState(store, '/tmp/copies/two'), { code: 'io_failed' },
    'of another folder nothing may go')
  store.close()
})
