import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { sha256Hex } from '../../src/base/canonical.js'
import { collections } from '../../src/governance/rows.js'
import {
  adoptStaged, dropStaged, fingerprintOf, openCredential, presence,
} from '../../src/governance/vault.js'
import { stageCredential } from '../support/vault.js'
import { World, type StateWorld } from '../world/world.js'

const ref = 'vault:alpha_text_api_key'
const key = (text: string): Buffer => Buffer.from(text)

const adopt = async (bench: StateWorld): Promise<void> => {
  const old = await bench.transact((tx, now) => adoptStaged(tx, now, ref))
  if (old !== null) bench.gov.store.artifacts.remove(old)
}

t.test('A-165 the key is under its name only, and shows as presence and fingerprint', async (t) => {
  const bench = await World.still(t).store()
  const secret = 'sk-live-0123456789abcdef'
  t.strictSame(presence(bench.view(), ref), {
    present: false, fingerprint: null, saved_at: null, staged: false,
  })
  await stageCredential(bench.gov, { ref, secret: key(secret) })
  await adopt(bench)
  const shown = presence(bench.view(), ref)
  t.matchStrict(shown, { present: true, fingerprint: /^[0-9a-f]{16}$/, staged: false })
  t.notOk(JSON.stringify(shown).includes(secret))
  t.equal(openCredential(bench.gov, ref).toString(), secret)
  const files = readdirSync(bench.gov.store.dir, { recursive: true, withFileTypes: true })
  for (const entry of files.filter((file) => file.isFile())) {
    const bytes = readFileSync(join(entry.parentPath, entry.name))
    t.notOk(bytes.includes(secret), entry.name)
  }
  t.throws(() => openCredential(bench.gov, 'vault:gateway_api_key'), {
    kind: 'blocked', code: 'credential_missing',
  })
})

t.test('A-038 the fingerprint changes exactly when the key does', async (t) => {
  const bench = await World.still(t).store()
  const { store } = bench.gov
  const secret = fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme-ascii' })
  fc.assert(
    fc.property(secret, secret, (a, b) => {
      const same = fingerprintOf(store, ref, key(a)) === fingerprintOf(store, ref, key(b))
      return same === (a === b)
    }),
    { seed: 11 },
  )
  const print = fingerprintOf(store, ref, key('abc'))
  t.not(print, fingerprintOf(store, 'vault:gateway_api_key', key('abc')), 'nor compares two names')
  t.not(print, sha256Hex('abc').slice(0, 16), 'nor can be guessed without the store’s key')
})

t.test('a staged key is not in use before it is adopted, and the old one is until then', async (t) => {
  const bench = await World.still(t).store()
  await stageCredential(bench.gov, { ref, secret: key('old-key') })
  t.hasStrict(presence(bench.view(), ref), { present: false, staged: true })
  t.throws(() => openCredential(bench.gov, ref), { code: 'credential_missing' })
  await adopt(bench)
  await stageCredential(bench.gov, { ref, secret: key('new-key') })
  t.equal(openCredential(bench.gov, ref).toString(), 'old-key')
  await adopt(bench)
  t.equal(openCredential(bench.gov, ref).toString(), 'new-key')
  t.equal(bench.gov.store.artifacts.list().length, 1, 'the replaced key’s bytes are gone')
})

t.test('a dropped staged key leaves the old one as it was', async (t) => {
  const bench = await World.still(t).store()
  await stageCredential(bench.gov, { ref, secret: key('old-key') })
  await adopt(bench)
  const before = bench.view().all(collections.credentials)
  await stageCredential(bench.gov, { ref, secret: key('new-key') })
  const dropped = await bench.transact((tx) => dropStaged(tx, ref))
  t.ok(dropped)
  if (dropped !== null) bench.gov.store.artifacts.remove(dropped)
  t.strictSame(bench.view().all(collections.credentials), before)
  t.equal(openCredential(bench.gov, ref).toString(), 'old-key')
  t.equal(await bench.transact((tx) => dropStaged(tx, ref)), null)
  await t.rejects(bench.transact((tx, now) => adoptStaged(tx, now, ref)), {
    kind: 'conflict', code: 'credential_not_staged',
  })
})

t.test('staging twice keeps the newest and forgets the bytes of the other', async (t) => {
  const bench = await World.still(t).store()
  await stageCredential(bench.gov, { ref, secret: key('one') })
  await stageCredential(bench.gov, { ref, secret: key('two') })
  t.equal(bench.gov.store.artifacts.list().length, 1)
  await adopt(bench)
  t.equal(openCredential(bench.gov, ref).toString(), 'two')
})

t.test('a key has 1 to 4096 bytes of printable ASCII without spaces', async (t) => {
  const bench = await World.still(t).store()
  for (const wrong of ['', 'x'.repeat(4097)]) {
    await t.rejects(stageCredential(bench.gov, { ref, secret: key(wrong) }), {
      kind: 'rejected', code: 'secret_length',
    })
  }
  for (const wrong of ['a b', 'a\n', '\r', 'a\u0000', '\u007f', 'schlüssel', '\t']) {
    await t.rejects(stageCredential(bench.gov, { ref, secret: key(wrong) }), {
      kind: 'rejected', code: 'secret_characters',
    })
  }
  t.strictSame(bench.gov.store.artifacts.list(), [], 'a refused key leaves no bytes')
  await t.resolves(stageCredential(bench.gov, { ref, secret: key('~'.repeat(4096)) }))
  await t.resolves(stageCredential(bench.gov, { ref, secret: key('!') }))
  const noReference = new TypeError('a credential reference is vault:<name>')
  await t.rejects(stageCredential(bench.gov, { ref: 'other', secret: key('x') }), noReference)
  for (const wrong of ['other', `${ref}+staged`, 'vault:', 'vault:A']) {
    t.throws(() => openCredential(bench.gov, wrong), noReference, wrong)
  }
})

t.test('a key that does not match its row is damage, not a key', async (t) => {
  const bench = await World.still(t).store()
  await stageCredential(bench.gov, { ref, secret: key('one') })
  await adopt(bench)
  const other = 'vault:gateway_api_key'
  await stageCredential(bench.gov, { ref: other, secret: key('two') })
  await bench.transact((tx) => {
    const row = tx.get(collections.credentials, ref)!
    const { artifact } = tx.get(collections.credentials, `${other}+staged`)!
    tx.put(collections.credentials, ref, { ...row, artifact })
  })
  t.throws(() => openCredential(bench.gov, ref), { kind: 'damaged', code: 'credential_altered' })
})

t.test('A-165 a key that is only staged is not opened, under whatever name its row lies', async (t) => {
  const bench = await World.still(t).store()
  await stageCredential(bench.gov, { ref, secret: key('sk-staged') })
  await adopt(bench)
  const row = bench.view().get(collections.credentials, ref)
  await bench.transact((tx) => {
    if (row !== undefined) tx.put(collections.credentials, ref, { ...row, staged: true })
  })
  t.throws(() => openCredential(bench.gov, ref), { code: 'credential_missing' })
})
