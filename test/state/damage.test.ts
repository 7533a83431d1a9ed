import {
  existsSync, readFileSync, readdirSync, rmSync, truncateSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '../../src/base/errors.js'
import { checkState } from '../../src/state/care/check.js'
import { repairState } from '../../src/state/care/repair.js'
import { formatVersion, placesOf } from '../../src/state/paths.js'
import { firstManifest, publishFounded } from '../../src/state/snapshot/founding.js'
import { looseStateFile } from '../../src/state/state-file.js'
import { openStore } from '../../src/state/store.js'
import { MemFiles } from '../support/state/mem-files.js'
import { memoryLock } from '../support/state/faults.js'
import {
  fingerprintOf, flipBit, forgeLogHeader, forgePayload, forgeRecord, forgeState, newestLog,
  truncateTo,
} from '../support/state/forge.js'
import { again, errorOf, notes, numbers, placeOf, put, specs } from '../support/state/notes.js'
import { t } from '../support/tests-in-slices.js'
import { createStore } from '../../src/state/store.js'
import { World } from '../world/world.js'

const place = { dir: '/tmp/state', configDir: '/tmp/config' }

/** A store in memory with three records, and what the notes are after each. */
const threeSteps = async () => {
  const files = new MemFiles()
  const common = { ...place, files, lock: memoryLock() }
  const store = createStore({ ...common, profile: {} })
  const states: string[] = [JSON.stringify({})]
  for (const [id, n] of [['a', 1], ['b', 2], ['a', 3]] as const) {
    await store.transact('step', (tx) => tx.put(notes, id, { n, text: '' }))
    states.push(JSON.stringify(numbers(store)))
  }
  store.close()
  const path = newestLog('/tmp/state', files)
  const fd = files.open(path, 'read')
  const bytes = Buffer.alloc(files.fstat(fd).size)
  files.read(fd, bytes, 0)
  return { files, path, bytes, states }
}

const outcomeOf = async (
  files: MemFiles,
): Promise<{ readonly read: string; readonly write: string }> => {
  const options = { ...place, files, lock: memoryLock() }
  let store
  try {
    store = openStore({ ...options, mode: 'write' })
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return { read: error.code, write: error.kind }
  }
  const read = JSON.stringify(numbers(store))
  const write = await put(store, 'z', 9).then(() => 'ok', (error) => String(error.kind))
  return { read, write }
}

t.test('durability 6 and 11: a log cut at any byte reads as a moment it was at', async (t) => {
  const { files, path, bytes, states } = await threeSteps()
  const header = bytes.indexOf(0x0a) + 1
  const wrong: string[] = []
  let cut = 0
  for (let size = 0; size <= bytes.length; size += 1) {
    const disk = files.clone()
    disk.overwrite(path, bytes.subarray(0, size))
    const { read, write } = await outcomeOf(disk)
    const fine = size < header ? write === 'damaged' : states.includes(read) && write === 'ok'
    if (!fine) wrong.push(`${size}: ${read} ${write}`)
    if (disk.stat('/tmp/state/aside') !== undefined) cut += 1
  }
  t.strictSame(wrong, [])
  t.ok(cut > 100, 'torn tails were copied aside before they were cut')
})

t.test('durability 11: any flipped bit of a log refuses writes and loses nothing silently', async (t) => {
  const { files, path, bytes, states } = await threeSteps()
  const wrong: string[] = []
  for (let at = 0; at < bytes.length; at += 1) {
    // Another bit from byte to byte, and the one that makes a letter a capital.
    for (const bit of new Set([at % 8, 5])) {
      const disk = files.clone()
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit)
      disk.overwrite(path, flipped)
      const { read, write } = await outcomeOf(disk)
      const readable = states.includes(read) || read === 'no_valid_generation'
      if (write !== 'damaged' || !readable) wrong.push(`${at}.${bit}: ${read} ${write}`)
    }
  }
  t.strictSame(wrong, [])
})

t.test('repair puts one flipped bit of a record right, byte for byte, and loses nothing', async (t) => {
  const { files, path, bytes, states } = await threeSteps()
  const wrong: string[] = []
  for (let at = bytes.indexOf(0x0a) + 1; at < bytes.length; at += 1) {
    const disk = files.clone()
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ (1 << at % 8)
    disk.overwrite(path, flipped)
    const { loss, done } = await repairState({ ...place, files: disk, lock: memoryLock() })
    const codes = done.map(({ code }) => code).join()
    const same = disk.contentOf(path).equals(bytes)
    const { read, write } = await outcomeOf(disk)
    const fine = read === states.at(-1) && write === 'ok' && loss.records_after === null
    if (!same || !fine || codes !== 'bits_mended') wrong.push(`${at}: ${codes} ${read} ${write}`)
  }
  t.strictSame(wrong, [])
})

t.test('durability 6: a torn last record is copied aside, cut and reported', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await put(store, 'b', 2)
  const path = newestLog(store.dir)
  truncateTo(path, readFileSync(path).length - 3)
  const opened = again(t, store, 'write')
  t.strictSame(numbers(opened), { a: 1 })
  t.hasStrict(opened.health().notices, [{ code: 'log_torn' }], 'told until it is cut')
  await put(opened, 'c', 3)
  t.strictSame(numbers(opened), { a: 1, c: 3 })
  t.hasStrict(opened.health().notices, [{ code: 'torn_tail_cut' }])
  const [aside] = readdirSync(join(store.dir, 'aside'))
  t.match(aside, /^torn-/)
  t.ok(checkState(placeOf(store)).ok)
})

t.test('durability 6: a whole but untrue last record refuses writes and keeps reads', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await put(store, 'b', 2)
  const path = newestLog(store.dir)
  flipBit(path, readFileSync(path).length - 70, 3)
  const opened = again(t, store, 'write')
  t.strictSame(numbers(opened), { a: 1 })
  t.hasStrict(opened.health().damage, { code: 'log_ambiguous', severity: 'damage' })
  await t.rejects(put(opened, 'c', 3), {
    kind: 'damaged', code: 'log_ambiguous', next: /state check.*state repair/,
  })
})

t.test('durability 6: damage before true records refuses writes and keeps reads', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const end = readFileSync(newestLog(store.dir)).length
  await put(store, 'b', 2)
  await put(store, 'c', 3)
  flipBit(newestLog(store.dir), end + 60, 0)
  const opened = again(t, store, 'write')
  t.strictSame(numbers(opened), { a: 1 })
  await t.rejects(put(opened, 'd', 4), { kind: 'damaged', code: 'log_damaged' })
  const report = checkState(placeOf(store))
  t.hasStrict(report, { ok: false, problems: [{ code: 'log_damaged', severity: 'damage' }] })
})

t.test('damage of a collection file refuses writes once it is met', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await store.exclusive('fold', () => store.checkpoint())
  flipBit(join(store.dir, 'collections', '000000000002.1.seg'), 9, 1)
  const opened = again(t, store, 'write')
  await t.rejects(opened.transact('x', (tx) => tx.get(notes, 'a')), { code: 'collection_damaged' })
  await t.rejects(put(opened, 'b', 1), { kind: 'damaged', code: 'collection_damaged' })
  t.hasStrict(errorOf(() => opened.read().get(notes, 'a')), { kind: 'damaged' })
  t.hasStrict(checkState(placeOf(store)).problems[0], {
    code: 'collection_damaged', subject: '000000000002.1.seg',
  })
})

t.test('a missing collection file is damage, not an empty collection', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await store.exclusive('fold', () => store.checkpoint())
  const path = join(store.dir, 'collections', '000000000002.1.seg')
  writeFileSync(join(store.dir, '..', 'kept'), readFileSync(path))
  const { unlinkSync } = await import('node:fs')
  unlinkSync(path)
  const opened = again(t, store, 'write')
  t.hasStrict(errorOf(() => opened.read().get(notes, 'a')), {
    kind: 'damaged', code: 'collection_missing',
  })
  t.notOk(checkState(placeOf(store)).ok)
})

t.test('durability 4: a damaged newest generation is passed over for reads, never for writes', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await store.exclusive('fold', () => store.checkpoint())
  flipBit(store.places.manifest(2), 30, 2)
  const opened = again(t, store, 'write')
  t.strictSame(numbers(opened), { a: 1 })
  await t.rejects(put(opened, 'b', 1), { kind: 'damaged', code: 'generation_damaged' })
})

t.test('a process that found damage sees the repair of another one', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await store.exclusive('fold', () => store.checkpoint())
  const bytes = readFileSync(store.places.manifest(2))
  flipBit(store.places.manifest(2), 30, 2)
  const opened = again(t, store, 'write')
  t.ok(opened.health().damage)
  writeFileSync(store.places.manifest(2), bytes)
  await put(opened, 'b', 1)
  t.equal(opened.health().damage, null)
})

t.test('durability 11: true records that break a rule are met by the rule, not the checksum', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  forgeRecord(store.dir, [{ collection: 'notes', id: 'a', doc: { n: 'no', text: '' } }])
  t.hasStrict(
    errorOf(() => store.read().get(notes, 'a')), { kind: 'damaged', code: 'document_damaged' }
  )
  const report = checkState({ ...placeOf(store), specs })
  t.hasStrict(report.problems, [{ code: 'document_damaged', subject: 'notes' }])
})

t.test('a true record that is no record refuses writes', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  forgePayload(store.dir, '{"ops":"none"}')
  const opened = again(t, store, 'write')
  t.strictSame(numbers(opened), { a: 1 })
  await t.rejects(put(opened, 'b', 1), { kind: 'damaged', code: 'log_bad_payload' })
})

t.test('a STATE file with an untrue byte, or of a later format, is refused clearly', async (t) => {
  const { store } = await World.in(t).store()
  const path = join(store.dir, 'STATE')
  const bytes = readFileSync(path)
  for (let at = 0; at < bytes.length; at += 11) {
    const flipped = Buffer.from(bytes)
    flipped[at] = (flipped[at] ?? 0) ^ 4
    writeFileSync(path, flipped)
    t.hasStrict(errorOf(() => again(t, store)), { kind: 'damaged', code: 'state_file_damaged' })
  }
  writeFileSync(path, bytes)
  forgeState(store.dir, { format_version: 99 })
  t.hasStrict(errorOf(() => again(t, store)), { kind: 'blocked', code: 'state_too_new' })
})

t.test('what a later program wrote is no damage to a check, however it looks', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  forgeState(store.dir, { format_version: 99 })
  writeFileSync(newestLog(store.dir), 'another form\n')
  t.hasStrict(checkState({ ...placeOf(store), specs }), {
    ok: false, store_id: store.storeId, problems: [{ code: 'state_too_new', severity: 'blocked' }],
  })
})

/** A later format, and one that no step leads on from, in a manifest or in its copy of STATE. */
const unknownFormats = [99, 1].flatMap((version) => [
  { version, where: 'the copy of a lost STATE', manifest: formatVersion, copy: version },
  { version, where: 'a manifest', manifest: version, copy: formatVersion },
])

for (const { version, where, manifest, copy } of unknownFormats) {
  t.test(`a repair changes nothing where ${where} names format ${version}`, async (t) => {
    const { files } = await threeSteps()
    const places = placesOf('/tmp/state')
    const state = looseStateFile(files, places.state)
    if (state === undefined) throw new Error('STATE is gone')
    publishFounded(files, places, {
      ...firstManifest({ ...state, format_version: copy }),
      format_version: manifest, number: 2, epoch: 1,
    })
    if (copy === version) files.unlink(places.state)
    const listed = (): readonly (readonly string[])[] =>
      ['/tmp/state', places.wal, places.collections].map((folder) => files.list(folder))
    const before = listed()
    await t.rejects(repairState({ ...place, files, lock: memoryLock() }), {
      kind: 'blocked', code: version > formatVersion ? 'state_too_new' : 'state_too_old',
    })
    t.strictSame(listed(), before)
  })
}

for (const kept of ['wal', 'collections', 'artifacts', 'witness.log']) {
  t.test(`where STATE alone is gone there is a state all the same: ${kept}`, async (t) => {
    const { store } = await World.in(t).store()
    await put(store, 'a', 1)
    store.witness.append('line')
    store.close()
    for (const name of readdirSync(store.dir)) {
      if (name !== kept) rmSync(join(store.dir, name), { recursive: true })
    }
    const refusal = { kind: 'damaged', code: 'state_file_damaged', message: /missing/ }
    for (const mode of ['read', 'write'] as const) {
      t.matchStrict(errorOf(() => again(t, store, mode)), refusal)
    }
    t.hasStrict(checkState(placeOf(store)).problems, [{ code: 'state_file_damaged' }])
    rmSync(join(store.dir, kept), { recursive: true })
    t.hasStrict(errorOf(() => again(t, store)), { kind: 'no_state' })
    t.hasStrict(errorOf(() => checkState(placeOf(store))), { kind: 'no_state' })
  })
}

t.test('a changed profile does not match its seal', async (t) => {
  const { store } = await World.in(t).store()
  const { digestOf } = await import('../../src/base/canonical.js')
  const profile = { schema: 'test.profile.v1', name: 'other' }
  forgeState(store.dir, { profile, profile_digest: digestOf(profile) })
  const opened = again(t, store)
  t.hasStrict(errorOf(() => opened.profile), { kind: 'damaged', code: 'profile_damaged' })
  t.hasStrict(checkState(placeOf(store)).problems, [{ code: 'profile_damaged' }])
})

t.test('a log that names another store or another base is no generation of this one', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const log = newestLog(store.dir)
  const sound = readFileSync(log)
  for (const other of [
    { store_id: '00000000-0000-4000-8000-000000000001' }, { base_sequence: 7 },
    { base_chain: 'f'.repeat(64) },
  ]) {
    forgeLogHeader(log, other)
    t.hasStrict(errorOf(() => again(t, store)), {
      kind: 'damaged', code: 'no_valid_generation',
    }, JSON.stringify(other))
    writeFileSync(log, sound)
  }
  t.strictSame(numbers(again(t, store)), { a: 1 })
})

t.test('a long-lived reader notices a log that was cut behind its back', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  const end = readFileSync(newestLog(store.dir)).length
  await put(store, 'b', 2)
  const reader = again(t, store)
  t.strictSame(numbers(reader), { a: 1, b: 2 })
  truncateSync(newestLog(store.dir), end)
  t.strictSame(numbers(reader), { a: 1 })
})

t.test('durability 8: check changes no byte, takes no lock, makes no file', async (t) => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  store.artifacts.write('x', Buffer.from('y'))
  const path = newestLog(store.dir)
  truncateTo(path, readFileSync(path).length - 1)
  const before = fingerprintOf(join(store.dir, '..'))
  const lock = (): never => { throw new Error('the lock was touched') }
  const plain = await store.exclusive('held', () =>
    checkState({ ...placeOf(store), specs, lock }))
  t.hasStrict(plain.problems, [{ code: 'log_torn', severity: 'torn' }])
  const after = fingerprintOf(join(store.dir, '..'))
  delete before['state/lock']
  delete after['state/lock']
  t.strictSame(after, before)
  t.notOk(existsSync(join(store.dir, 'aside')))
})
