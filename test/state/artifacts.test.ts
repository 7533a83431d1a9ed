import t from 'tap'
import {
  existsSync, mkdirSync, readFileSync, readdirSync, symlinkSync, utimesSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { sha256Hex } from '../../src/base/canonical.js'
import { compactState } from '../../src/state/care/compact.js'
import { again, errorOf } from '../support/state/notes.js'
import { World } from '../world/world.js'

const label = 'test.input.v1'
const secret = Buffer.from('what only the owner may read')

t.test('an artifact comes back whole, is stored sealed under its own digest, mode 600', async (t) => {
  const { store } = await World.in(t).store()
  const ref = store.artifacts.write(label, secret)
  t.equal(ref.sha256, sha256Hex(secret))
  t.equal(ref.bytes, secret.length)
  t.strictSame(store.artifacts.list(), [ref.stored_sha256])
  const path = join(store.dir, 'artifacts', ref.stored_sha256.slice(0, 2), ref.stored_sha256)
  t.equal(sha256Hex(readFileSync(path)), ref.stored_sha256)
  t.notMatch(readFileSync(path, 'latin1'), 'only the owner')
  t.strictSame(store.artifacts.read(label, ref), secret)
  t.strictSame(again(t, store).artifacts.read(label, ref), secret)
})

t.test('equal content is stored twice unless it is sealed deterministically', async (t) => {
  const { store } = await World.in(t).store()
  const [a, b] = [store.artifacts.write(label, secret), store.artifacts.write(label, secret)]
  t.not(a.stored_sha256, b.stored_sha256)
  const options = { deterministic: true }
  const c = store.artifacts.write(label, secret, options)
  const d = store.artifacts.write(label, secret, options)
  t.strictSame(c, d)
  t.equal(store.artifacts.list().length, 3)
  t.strictSame(store.artifacts.read(label, c), secret)
  const other = store.artifacts.write('other', secret, options)
  t.not(other.stored_sha256, c.stored_sha256)
})

t.test('another label, a missing file and any flipped byte refuse to open', async (t) => {
  const { store } = await World.in(t).store()
  const ref = store.artifacts.write(label, secret)
  t.hasStrict(errorOf(() => store.artifacts.read('other', ref)), { kind: 'damaged' })
  const wrong = { ...ref, sha256: sha256Hex('x') }
  t.hasStrict(errorOf(() => store.artifacts.read(label, wrong)), { kind: 'damaged' })
  t.hasStrict(errorOf(() => store.artifacts.read(label, { ...ref, bytes: 1 })), { kind: 'damaged' })
  t.hasStrict(errorOf(() => store.artifacts.read(label, { ...ref, stored_sha256: '../x' })), {
    kind: 'damaged',
  })
  const path = join(store.dir, 'artifacts', ref.stored_sha256.slice(0, 2), ref.stored_sha256)
  const bytes = readFileSync(path)
  for (let at = 0; at < bytes.length; at += 7) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ 0x10
    writeFileSync(path, flipped)
    t.hasStrict(errorOf(() => store.artifacts.read(label, ref)), { code: 'artifact_damaged' })
  }
  store.artifacts.remove(ref.stored_sha256)
  t.hasStrict(errorOf(() => store.artifacts.read(label, ref)), {
    kind: 'blocked', code: 'evidence_missing',
  })
  store.artifacts.remove(ref.stored_sha256)
  t.throws(() => store.artifacts.remove('../STATE'), new TypeError('not a stored artifact name'))
})

t.test('a folder that is a link is not written through', async (t) => {
  const { store } = await World.in(t).store()
  const outside = join(store.dir, '..')
  mkdirSync(join(outside, 'target'))
  for (let i = 0; i < 256; i += 1) {
    const shard = i.toString(16).padStart(2, '0')
    symlinkSync(join(outside, 'target'), join(store.dir, 'artifacts', shard))
  }
  t.hasStrict(errorOf(() => store.artifacts.write(label, secret)), {
    kind: 'damaged', code: 'folder_replaced',
  })
  t.strictSame(readdirSync(join(outside, 'target')), [])
})

t.test('a sweep removes only old files that no record refers to', async (t) => {
  const { store } = await World.in(t).store()
  const [kept, orphan, young] = ['a', 'b', 'c'].map((text) =>
    store.artifacts.write(label, Buffer.from(text)))
  if (!kept || !orphan || !young) throw new Error('three were written')
  const pathOf = (name: string): string => join(store.dir, 'artifacts', name.slice(0, 2), name)
  const shard = join(store.dir, 'artifacts', kept.stored_sha256.slice(0, 2))
  const leftover = join(shard, '.tmp-1-0123456789abcdef-1')
  writeFileSync(leftover, 'half')
  const old = new Date(Date.now() - 3_600_000)
  for (const path of [pathOf(kept.stored_sha256), pathOf(orphan.stored_sha256), leftover]) {
    utimesSync(path, old, old)
  }
  const report = await compactState(store, () => new Set([kept.stored_sha256]))
  t.equal(report.orphans_removed, 2)
  t.notOk(existsSync(leftover))
  t.strictSame([...store.artifacts.list()].sort(),
    [kept.stored_sha256, young.stored_sha256].sort())
  const untouched = await compactState(store)
  t.equal(untouched.orphans_removed, 0)
})

t.test('a damaged copy under the name of a deterministic artifact is not adopted', async (t) => {
  const { store } = await World.in(t).store()
  const ref = store.artifacts.write(label, secret, { deterministic: true })
  const path = join(store.dir, 'artifacts', ref.stored_sha256.slice(0, 2), ref.stored_sha256)
  writeFileSync(path, 'other')
  const error = errorOf(() => store.artifacts.write(label, secret, { deterministic: true }))
  t.hasStrict(error, { code: 'artifact_damaged' })
})
