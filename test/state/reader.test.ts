/** The page on the state's bytes is enough: by it alone a reader finds documents and contents. */
import t from 'tap'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { edgeLabel } from '../../src/edge/constants.js'
import { edgeCollections } from '../../src/edge/edge-rows.js'
import { registerArtifact } from '../../src/governance/artifacts.js'
import { collections } from '../../src/governance/rows.js'
import { compactState } from '../../src/state/care/compact.js'
import { forgetRemoved } from '../../src/state/care/forget.js'
import { repairState } from '../../src/state/care/repair.js'
import type { FileStore } from '../../src/state/store.js'
import type { ArtifactRef, Artifacts } from '../../src/state/types.js'
import { flipBit, newestLog } from '../support/state/forge.js'
import type { CollectionSpec } from '../../src/state/types.js'
import { append, steps, stepsFrom } from '../support/state/histories.js'
import { again, items, notes, placeOf, put } from '../support/state/notes.js'
import { question } from '../world/alpha.js'
import { World, type AlphaWorld } from '../world/world.js'

const reader = join(dirname(fileURLToPath(import.meta.url)), '..', 'support', 'state', 'reader.py')

const hasPython = spawnSync('python3', ['--version']).error === undefined
const needsPython = { skip: hasPython ? false : 'needs the program python3' }
const maxBuffer = 1e8

/** What the program reads, and what the other reader does. */
const both = (store: FileStore): readonly [unknown, unknown] => {
  const view = store.read()
  const specs: readonly CollectionSpec<unknown>[] = [notes, items, steps.entries, steps.heads]
  const documents = specs.flatMap((spec) =>
    view.all(spec).map(({ id, doc }) => [spec.name, id, doc]))
  const child = spawnSync('python3', ['-B', reader, store.dir], { maxBuffer })
  if (child.status !== 0) return [null, child.stderr.toString()]
  const found = JSON.parse(child.stdout.toString()) as { documents: string[][]; sequence: number }
  const sorted = (rows: readonly unknown[]): string[] =>
    rows.map((row) => JSON.stringify(row)).sort()
  return [
    { sequence: view.sequence, documents: sorted(documents) },
    { ...found, documents: sorted(found.documents) },
  ]
}

t.test('a reader in Python that was written by docs/dev/state-format.md agrees with the program', needsPython, async (t) => {
  const { store } = await World.in(t).store()
  const agree = (what: string): void => {
    const [ours, theirs] = both(store)
    t.strictSame(theirs, ours, what)
  }
  agree('a new store')
  for (let n = 0; n < 7; n += 1) {
    await store.transact('fill', (tx) => {
      for (let i = 0; i < 60; i += 1) {
        tx.put(items, `i"${(i * 7 + n) % 90}/ü\u{1f600}`, { n: i, text: 'x\\"\n'.repeat(i) })
      }
      if (n > 2) tx.remove(items, `i"${n}/ü\u{1f600}`)
    })
    await put(store, `n${n}`, n)
    await append(store, `k${n % 2}`, stepsFrom(n, 20, 'ü"\n'))
    if (n < 6) await store.exclusive('fold', () => store.checkpoint())
  }
  agree('folded and merged, with records behind')
  await store.exclusive('rotate', () => store.rotate())
  await put(store, 'last', 1)
  agree('two logs')
  await compactState(store)
  agree('one run')
  await store.transact('drop', (tx) => {
    for (const { id } of tx.range(items, { limit: 20 })) tx.remove(items, id)
  })
  await forgetRemoved(store, 'prune')
  agree('rows removed and forgotten')
  await put(store, 'more', 2)
  flipBit(newestLog(store.dir), 20, 1)
  store.close()
  await repairState(placeOf(store))
  const repaired = again(t, store)
  const [ours, theirs] = both(repaired)
  t.strictSame(theirs, ours, 'founded by a repair')
})

/** What the other reader opens: bytes in hex, of a pack those of each body by its name. */
type Opened = string | Readonly<Record<string, string>>

interface Found {
  readonly profile: { readonly name: string }
  readonly mark: number
  readonly witnessed: number
  readonly contents: readonly (readonly [string, string, Opened])[]
}

const piece = 256 * 1024
const label = 'svc.test.content.v1'
const bytesOf = (length: number, seed: number): Buffer =>
  Buffer.from(Array.from({ length }, (_, n) => (n * 31 + (n >> 8) * seed) & 255))

const streamed = (artifacts: Artifacts, content: Buffer, type = label): ArtifactRef => {
  const writer = artifacts.writeStream(type)
  writer.write(content)
  return writer.finish()
}

/** Content of each way to seal it, with what has to come out. */
const sealEach = (artifacts: Artifacts): readonly (readonly [ArtifactRef, Opened])[] => {
  const small = Buffer.from('Equal content, equal bytes: \u{1f600}\n')
  const pack = artifacts.writePack(label)
  const bodies = Object.fromEntries([0, 1, 900].map((n) => [`body ${n}`, bytesOf(n, n)]))
  for (const [name, body] of Object.entries(bodies)) pack.add(name, body)
  const hex = (bytes: Buffer): string => bytes.toString('hex')
  return [
    [artifacts.write(label, small), hex(small)],
    [artifacts.write(label, small, { deterministic: true }), hex(small)],
    [pack.finish(), Object.fromEntries(Object.entries(bodies).map(([n, b]) => [n, hex(b)]))],
    ...[0, piece, piece + 7].map((length, seed) => {
      const content = bytesOf(length, seed)
      return [streamed(artifacts, content), hex(content)] as const
    }),
  ]
}

const opened = (place: Pick<AlphaWorld['place'], 'stateDir' | 'configDir'>): Found => {
  const child = spawnSync('python3', ['-B', reader, place.stateDir, place.configDir], { maxBuffer })
  if (child.status !== 0) throw new Error(child.stderr.toString())
  return JSON.parse(child.stdout.toString()) as Found
}

t.test('with the key the same reader opens every sealed content, the profile, the anchor and the vault', needsPython, async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const { place, gov: { store: { artifacts } } } = world
  t.equal((await world.ask()).status, 0)
  const sealed = sealEach(artifacts)
  const capture = bytesOf(40, 3)
  const ref = streamed(artifacts, capture, edgeLabel)
  const ids = await world.transact((tx, now) => {
    tx.put(edgeCollections.artifacts, 'edge_art_test', {
      artifact_id: 'edge_art_test', device_id: 'edge_dev_test', owner: 'test', request_id: 'test',
      sequence: 1, source: null, source_path: null, mime: 'image/png', purpose: 'screenshot',
      policy: { cloud_egress: false, model_egress: false }, captured_at: now, received_at: now, ref,
    })
    return sealed.map(([one]) => registerArtifact(tx, now, {
      label, ref: one, owner: 'test', taskId: null, adopted: true,
    }).artifact_id)
  })
  const { contents, profile, mark, witnessed } = opened(place)
  const told = (collection: string, id: string): Opened | undefined =>
    contents.find(([where, name]) => where === collection && name === id)?.[2]
  t.strictSame(ids.map((id) => told('artifacts', id)), sealed.map(([, content]) => content))
  t.equal(told('edge_artifacts', 'edge_art_test'), capture.toString('hex'))
  const view = world.view()
  const texts = view.all(collections.artifacts).filter(({ doc }) => doc.label !== label)
  t.equal(texts.length, 2, 'question and answer')
  for (const { id, doc } of texts) {
    t.equal(told('artifacts', id), artifacts.read(doc.label, doc.ref).toString('hex'))
  }
  t.ok(contents.some(([, , content]) => typeof content === 'string'
    && Buffer.from(content, 'hex').includes(question)), 'the question is read')
  const key = readFileSync(place.path('key'), 'utf8').trim()
  t.equal(told('credentials', 'vault:alpha_text_api_key'), Buffer.from(key).toString('hex'))
  t.equal(profile.name, 'sandbox')
  t.equal(witnessed, view.all(collections.policy).length)
  t.ok(mark > witnessed, 'publications and contacts are marks')
})

t.test('the same reader opens nothing under a key, and believes no anchor, of which a digit is another', needsPython, async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const { configDir } = world.place
  t.equal(typeof opened(world.place).mark, 'number')
  for (const [end, what] of [['.anchor', 'anchor'], ['.key', 'profile']] as const) {
    const path = join(configDir, 'keys', `${world.gov.store.storeId}${end}`)
    const before = readFileSync(path, 'latin1')
    writeFileSync(path, before.replace(/[0-9](?=[^0-9\0]*(?:\0|$))/g, (digit) =>
      digit === '0' ? '1' : '0'))
    t.throws(() => opened(world.place), { message: `untrue: ${what}\n` })
    writeFileSync(path, before)
  }
})
