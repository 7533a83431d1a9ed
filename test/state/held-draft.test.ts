/** A draft in memory, and what is written through drafts, takes nothing once it is over. */
import t from 'tap'
import { HeldDraft } from '../../src/state/held-draft.js'
import { createStore } from '../../src/state/store.js'
import { site } from '../support/state/crash-script.js'
import { memoryLock } from '../support/state/faults.js'
import { MemFiles } from '../support/state/mem-files.js'

const bytes = Buffer.from('content')
const refusal = new TypeError('the artifact is published or abandoned')

const made = () => {
  const files = new MemFiles()
  const { artifacts } = createStore({ ...site, files, lock: memoryLock(), profile: {} })
  const held = { bytes: 0, bytesMax: 1_000 }
  const folder = { files, dir: `${site.dir}/artifacts`, durable: new Set<string>() }
  return { artifacts, held, draft: new HeldDraft(folder, held) }
}

for (const end of ['publish', 'abandon'] as const) {
  t.test(`behind its ${end} a draft in memory takes and publishes nothing`, (t) => {
    const { artifacts, held, draft } = made()
    draft.append(bytes)
    draft[end]()
    const before = artifacts.list()
    t.equal(before.length, end === 'publish' ? 1 : 0)
    t.throws(() => draft.append(bytes), refusal)
    t.throws(() => draft.publish(), refusal)
    t.strictSame([artifacts.list(), held.bytes], [before, 0])
    t.end()
  })
}

t.test('a pack that is finished or abandoned takes no body and is finished once', (t) => {
  const { artifacts } = made()
  for (const end of ['finish', 'abandon'] as const) {
    const pack = artifacts.writePack('x')
    pack.add('one', bytes)
    pack[end]()
    t.throws(() => pack.add('two', bytes), refusal)
    t.throws(() => pack.finish(), refusal)
  }
  t.equal(artifacts.list().length, 1)
  t.end()
})
