import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { fail } from '../../src/base/errors.js'
import {
  adoptArtifact, discardUnnamed, dropArtifact, openArtifactPack, readArtifact, referencedArtifacts,
  registerArtifact, requireArtifact,
} from '../../src/governance/artifacts.js'
import { collections } from '../../src/governance/rows.js'
import { stateRules } from '../../src/fabric/state-rules.js'
import { stageCredential } from '../support/vault.js'
import { World, type StateWorld } from '../world/world.js'

const label = 'svc.alpha.text.input.v1'

const stored = (bench: StateWorld, text: string, adopted = true) => {
  const ref = bench.gov.store.artifacts.write(label, Buffer.from(text))
  return bench.transact((tx, now) =>
    registerArtifact(tx, now, { label, ref, owner: 'prn_1', taskId: null, adopted }))
}

t.test('content is read back exactly, under its own label only', async (t) => {
  const bench = await World.still(t).store()
  const row = await stored(bench, 'what is a tide?')
  const read = (id: string, as = label): Buffer => readArtifact(bench.gov, bench.view(), id, as)
  t.equal(read(row.artifact_id).toString(), 'what is a tide?')
  t.throws(() => read(row.artifact_id, 'svc.alpha.text.answer.v1'), {
    kind: 'not_found', code: 'artifact_not_found',
  })
  t.throws(() => read('art_x'), { kind: 'not_found', code: 'artifact_not_found' })
  t.notOk(JSON.stringify(row).includes('tide'))
})

t.test('an artifact that is held back is not readable before it is adopted', async (t) => {
  const bench = await World.still(t).store()
  const { artifact_id: id } = await stored(bench, 'an answer', false)
  t.throws(() => readArtifact(bench.gov, bench.view(), id, label), {
    kind: 'not_found', code: 'artifact_not_found',
  })
  t.equal(readArtifact(bench.gov, bench.view(), id, label, { held: true }).toString(), 'an answer')
  await bench.transact((tx) => adoptArtifact(tx, id))
  t.equal(readArtifact(bench.gov, bench.view(), id, label).toString(), 'an answer')
})

t.test('A-100 content that is not what its row says is never given out', async (t) => {
  const bench = await World.still(t).store()
  const row = await stored(bench, 'an answer')
  for (const change of [{ sha256: 'a'.repeat(64) }, { bytes: row.ref.bytes + 1 }]) {
    await bench.transact((tx) => tx.put(collections.artifacts, row.artifact_id, {
      ...row, ref: { ...row.ref, ...change },
    }))
    t.throws(() => readArtifact(bench.gov, bench.view(), row.artifact_id, label), {
      kind: 'damaged', code: 'artifact_damaged',
    }, JSON.stringify(change))
  }
})

t.test('bodies of a pack are read by its row alone: adopted, under its own label', async (t) => {
  const bench = await World.still(t).store()
  const writer = bench.gov.store.artifacts.writePack(label)
  for (const name of ['a', 'b']) writer.add(name, Buffer.from(`the body ${name}`))
  const ref = writer.finish()
  const { artifact_id: id } = await bench.transact((tx, now) =>
    registerArtifact(tx, now, { label, ref, owner: 'prn_1', taskId: null, adopted: false }))
  const missing = { kind: 'not_found', code: 'artifact_not_found' }
  t.throws(() => openArtifactPack(bench.gov, bench.view(), id, label), missing)
  openArtifactPack(bench.gov, bench.view(), id, label, { held: true }).close()
  await bench.transact((tx) => adoptArtifact(tx, id))
  t.throws(() => openArtifactPack(bench.gov, bench.view(), id, 'svc.alpha.text.answer.v1'), missing)
  const pack = openArtifactPack(bench.gov, bench.view(), id, label)
  t.equal(pack.read('b').toString(), 'the body b')
  pack.close()
  const { openArtifacts } = await stateRules()
  t.strictSame(openArtifacts(bench.gov.store), [], 'a check opens it, piece by piece')
  await bench.transact((tx) => tx.put(collections.artifacts, id, {
    ...requireArtifact(tx, id), ref: { ...ref, bytes: 1 },
  }))
  t.hasStrict(openArtifacts(bench.gov.store), [{ code: 'artifact_damaged', subject: id }])
})

t.test('only what was not adopted can be dropped', async (t) => {
  const bench = await World.still(t).store()
  const held = await stored(bench, 'held', false)
  const kept = await stored(bench, 'kept')
  t.equal(await bench.transact((tx) => dropArtifact(tx, held.artifact_id)), held.ref.stored_sha256)
  t.equal(await bench.transact((tx) => dropArtifact(tx, held.artifact_id)), null)
  await t.rejects(bench.transact((tx) => dropArtifact(tx, kept.artifact_id)), {
    kind: 'conflict', code: 'artifact_adopted',
  })
})

t.test('an id is registered once', async (t) => {
  const bench = await World.still(t).store()
  const row = await stored(bench, 'one')
  const { artifact_id: artifactId, ref, owner } = row
  const again = { artifactId, label, ref, owner, taskId: null, adopted: true }
  await t.rejects(bench.transact((tx, now) => registerArtifact(tx, now, again)), {
    kind: 'conflict', code: 'artifact_exists',
  })
})

t.test('A-100 an input artifact that was altered is detected when it is read', async (t) => {
  const bench = await World.still(t).store()
  const row = await stored(bench, 'what is a tide?')
  const entry = readdirSync(bench.gov.store.dir, { recursive: true, withFileTypes: true })
    .find((file) => file.isFile() && file.name.includes(row.ref.stored_sha256))
  const file = join(entry!.parentPath, entry!.name)
  const bytes = readFileSync(file)
  bytes[bytes.length - 1]! ^= 1
  writeFileSync(file, bytes)
  t.throws(() => readArtifact(bench.gov, bench.view(), row.artifact_id, label),
    { code: 'artifact_damaged' })
})

t.test('a row that names other content than the stored one is damage', async (t) => {
  const bench = await World.still(t).store()
  const ref = bench.gov.store.artifacts.write(label, Buffer.from('one'))
  const forged = { ...ref, sha256: 'a'.repeat(64) }
  const row = await bench.transact((tx, now) =>
    registerArtifact(tx, now, { label, ref: forged, owner: 'x', taskId: null, adopted: true }))
  t.throws(() => readArtifact(bench.gov, bench.view(), row.artifact_id, label),
    { code: 'artifact_damaged' })
})

t.test('what rows refer to is known, secrets included', async (t) => {
  const bench = await World.still(t).store()
  const row = await stored(bench, 'one')
  const secret = Buffer.from('key')
  const { artifact } = await stageCredential(bench.gov, { ref: 'vault:x', secret })
  bench.gov.store.artifacts.write(label, Buffer.from('orphan'))
  const names = [...referencedArtifacts(bench.view())].sort()
  t.strictSame(names, [row.ref.stored_sha256, artifact.stored_sha256].sort())
})

t.test('what a record may name stays; what no try, or an earlier one alone, has named goes', async (t) => {
  const { gov: { store } } = await World.still(t).store()
  const outcome = async (
    ...runs: readonly (readonly ('names' | 'names not' | 'throws')[])[]
  ): Promise<readonly [told: string, isThere: boolean]> => {
    const { stored_sha256: name } = store.artifacts.write('label', Buffer.from(runs.join()))
    const told = await discardUnnamed(store, [null, name], async (tried) => {
      const run = tried((named, _tx, what: readonly string[]) => {
        if (what.includes('names')) named()
        if (what.includes('throws')) throw fail.partial('commit_unknown', 'Nobody answered.')
        return 'done'
      })
      return runs.map((what) => run(store.rehearse(), what)).at(-1)!
    }).catch((error: Error) => error.message)
    return [told, store.artifacts.list().includes(name)]
  }
  t.strictSame(await outcome(['names']), ['done', true])
  t.strictSame(await outcome(['names not']), ['done', false])
  t.strictSame(await outcome(['throws']), ['Nobody answered.', false])
  t.strictSame(await outcome(['names', 'throws']), ['Nobody answered.', true], 'it may stand')
  t.strictSame(await outcome(['names'], ['names not']), ['done', false], 'the last run counts')
  t.strictSame(await outcome(['names'], ['throws']), ['Nobody answered.', false])
})
