import t from 'tap'
import { fail } from '../../src/base/errors.js'
import { stateRules } from '../../src/fabric/state-rules.js'
import type { Store } from '../../src/state/types.js'

/** A store with one artifact, whose opening ends in `error`. */
const storeOf = (error: Error): Store => {
  const doc = { label: 'x', ref: {} }
  const view = {
    all: () => [],
    range: ({ name }: { readonly name: string }) => name === 'artifacts' ? [{ id: 'a', doc }] : [],
    get: () => undefined,
  }
  const artifacts = {
    verify: () => {
      throw error
    },
  }
  return { read: () => view, artifacts } as unknown as Store
}

t.test('an artifact that cannot be read is no damage: what the disk says is thrown', async (t) => {
  const { openArtifacts } = await stateRules()
  const untrue = fail.damaged('artifact_damaged', 'It is untrue.')
  t.hasStrict(openArtifacts(storeOf(untrue)), [{ code: 'artifact_damaged', severity: 'damage' }])
  const refused = fail.failed('io_failed', 'The disk reported an error.')
  t.throws(() => openArtifacts(storeOf(refused)), refused)
})
