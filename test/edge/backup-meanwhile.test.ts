/** A backup beside an upload whose record is refused meanwhile. */
import { backupWhole } from '../../src/fabric/state-care.js'
import { discardStored } from '../../src/governance/artifacts.js'
import { FileStore } from '../../src/state/file-store.js'
import { nodeFiles, type Files } from '../../src/state/files.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

t.test('S-204 a backup calls no state damaged because a refused upload was discarded while it copied', async (t) => {
  const world = await World.in(t).state().session()
  const uploading = world.open('write')
  const { stateDir: dir, configDir } = world.place
  let lists = 0
  let discarded = 0
  let stored = ''
  // Stored before the second list of the folder, and discarded between that and its copy.
  const files: Files = {
    ...nodeFiles,
    list: (folder) => {
      if (folder.endsWith('/artifacts') && (lists += 1) === 2) {
        stored = uploading.artifacts.write('svc.edge.capture.v1', Buffer.from('private'))
          .stored_sha256
      }
      return nodeFiles.list(folder)
    },
    stat: (file) => {
      const facts = nodeFiles.stat(file)
      if (stored === '' || !file.endsWith(stored)) return facts
      discardStored(uploading, stored)
      stored = ''
      discarded += 1
      return facts
    },
  }
  const store = new FileStore({ dir, configDir, mode: 'write', files })
  t.teardown(() => store.close())
  const report = await backupWhole(store, world.place.path('kept'), false)
  t.strictSame([report.loss ?? null, discarded], [null, 1])
})
