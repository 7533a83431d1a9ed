/** A repair and a destruction that were acknowledged stay what they are after a power cut. */
import { join } from 'node:path'
import t from 'tap'
import { destroyState } from '../../src/state/care/destroy.js'
import { repairState } from '../../src/state/care/repair.js'
import { createStore, openStore, type FileStore } from '../../src/state/store.js'
import { site } from '../support/state/crash-script.js'
import { failure, memoryLock } from '../support/state/faults.js'
import { newestLog } from '../support/state/forge.js'
import { MemFiles } from '../support/state/mem-files.js'
import { notes } from '../support/state/notes.js'

const modes = ['kept', 'dropped', 'garbled'] as const

/** A state of three records on a disk in memory. */
const made = async <T extends MemFiles>(
  files: T,
): Promise<{ readonly files: T; readonly storeId: string; readonly stored: string }> => {
  const store = createStore({ ...site, files, lock: memoryLock(), profile: {} }) as FileStore
  for (const n of [1, 2, 3]) {
    await store.transact('step', (tx) => tx.put(notes, `n${n}`, { n, text: `text ${n}` }))
  }
  const { stored_sha256: stored } = store.artifacts.write('x', Buffer.from('y'))
  const { storeId } = store
  store.close()
  return { files, storeId, stored }
}

t.test('durability: a power cut right behind a repair takes no bit that it put right', async (t) => {
  const { files } = await made(new MemFiles())
  const log = newestLog(site.dir, files)
  const bytes = Buffer.from(files.contentOf(log))
  const at = bytes.indexOf('text 2')
  bytes[at] = (bytes[at] ?? 0) ^ 1
  files.overwrite(log, bytes)
  const { done } = await repairState({ ...site, files, lock: memoryLock() })
  t.ok(done.some(({ code }) => code === 'bits_mended'))
  for (const mode of modes) {
    const disk = files.crash(mode, 1)
    const store = openStore({ ...site, files: disk, lock: memoryLock(), mode: 'read' })
    t.strictSame([mode, store.health().damage], [mode, null])
    t.strictSame(store.read().get(notes, 'n2'), { n: 2, text: 'text 2' }, mode)
    store.close()
  }
})

/** A disk that gives nothing of one file back. */
class Worn extends MemFiles {
  worn = ''

  override open(...of: Parameters<MemFiles['open']>): number {
    const [path, intent] = of
    if (path === this.worn && intent === 'read') throw failure('EIO')
    return super.open(...of)
  }
}

t.test('durability: a power cut right behind a repair that gave a file up takes neither what it left of the file nor the file itself', async (t) => {
  const { files, stored } = await made(new Worn())
  const file = `artifacts/${stored.slice(0, 2)}/${stored}`
  const path = join(site.dir, file)
  const whole = files.contentOf(path)
  files.worn = path
  const { done } = await repairState({ ...site, files, lock: memoryLock(), lost: [file] })
  t.strictSame(done.map(({ code }) => code), ['unreadable_lost'])
  const aside = join(site.dir, 'aside')
  const [folder = ''] = files.list(aside)
  for (const mode of modes) {
    const disk = files.crash(mode, 1)
    t.ok(disk.contentOf(path).equals(Buffer.alloc(whole.length)), mode)
    t.ok(disk.contentOf(join(aside, folder, file.replaceAll('/', '-'))).equals(whole), mode)
  }
})

t.test('durability: a power cut while a state is destroyed brings nothing back that was gone before the note of it goes', async (t) => {
  const { files, storeId } = await made(new MemFiles())
  const left: Record<string, Set<string>> = {}
  await destroyState({
    ...site, files, lock: memoryLock(), storeId, lastLook: () => undefined,
    at: async (step) => {
      for (const seed of [1, 2, 3, 4]) {
        for (const mode of modes) {
          const disk = files.crash(mode, seed)
          for (const name of disk.list(site.dir)) (left[step] ??= new Set()).add(name)
        }
      }
    },
  })
  t.ok(left['begun']?.has('wal'))
  t.strictSame([...left['emptied'] ?? []].filter((name) => name !== 'lock' && name !== 'fold'),
    ['STATE'])
  t.equal(left['ended'], undefined, 'nor the note, once its end was told')
})
