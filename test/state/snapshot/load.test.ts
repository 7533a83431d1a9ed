/** Which generation is read: none of a format that is to be changed first. */
import t from 'tap'
import { formatVersion } from '../../../src/state/paths.js'
import { firstManifest, publishFounded } from '../../../src/state/snapshot/founding.js'
import { createStore, openStore, type FileStore } from '../../../src/state/store.js'
import { site } from '../../support/state/crash-script.js'
import { memoryLock } from '../../support/state/faults.js'
import { MemFiles } from '../../support/state/mem-files.js'
import { errorOf } from '../../support/state/notes.js'

for (const isLost of [false, true]) {
  const from = isLost ? 'the copy beside its log' : 'its manifest'
  t.test(`durability 12: a founded generation of an older format is not read from ${from}`, (t) => {
    const files = new MemFiles()
    const options = { ...site, files, lock: memoryLock() }
    const store = createStore({ ...options, profile: {} }) as FileStore
    store.close()
    publishFounded(files, store.places, {
      ...firstManifest(store.state), format_version: formatVersion - 1, number: 2, epoch: 1,
    })
    if (isLost) files.unlink(store.places.manifest(2))
    for (const mode of ['read', 'write'] as const) {
      t.hasStrict(errorOf(() => openStore({ ...options, mode })),
        { kind: 'blocked', code: 'state_too_old' })
    }
    t.end()
  })
}
