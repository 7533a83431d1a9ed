/** A state of a format that this program does not know is refused before anything is touched. */
import t from 'tap'
import { repairState } from '../../src/state/care/repair.js'
import { formatVersion, oldestFormatVersion } from '../../src/state/paths.js'
import { encodeStateFile, looseStateFile } from '../../src/state/state-file.js'
import { createStore, type FileStore } from '../../src/state/store.js'
import { site } from '../support/state/crash-script.js'
import { memoryLock } from '../support/state/faults.js'
import { MemFiles } from '../support/state/mem-files.js'

for (const [format, code] of [
  [formatVersion + 1, 'state_too_new'], [oldestFormatVersion - 1, 'state_too_old'],
] as const) {
  t.test(`a repair of a state that is ${code} takes no lock and writes nothing`, async (t) => {
    const files = new MemFiles()
    const options = { ...site, files, lock: memoryLock() }
    const { places, state } = createStore({ ...options, profile: {} }) as FileStore
    files.overwrite(places.state, encodeStateFile({ ...state, format_version: format }))
    const refusal = { kind: 'blocked', code }
    t.throws(() => looseStateFile(files, places.state), refusal)
    const before = files.list(site.dir)
    const lock = (): never => t.fail('it asks for a lock') as never
    await t.rejects(repairState({ ...options, lock }), refusal)
    t.strictSame(files.list(site.dir), before)
  })
}
