/** The use cases over a whole state directory: check, repair, backup, restore, compact, migrate. */
import type { Test } from 'tap'
import {
  cpSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, symlinkSync, unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { backupState, verifyBackup } from '../../src/state/care/backup.js'
import { checkState } from '../../src/state/care/check.js'
import { compactState } from '../../src/state/care/compact.js'
import { nodeFiles, readWhole } from '../../src/state/files.js'
import { decodeStateFile } from '../../src/state/state-file.js'
import type { Migration } from '../../src/state/care/migrate.js'
import { migrateState, migrations, stepsBetween } from '../../src/state/care/migrate.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import { formatVersion } from '../../src/state/paths.js'
import type { FileStore } from '../../src/state/store.js'
import {
  fingerprintOf, flipBit, newestLog, truncateTo, zeroBlock,
} from '../support/state/forge.js'
import {
  again, errorOf, items, notes, numbers, placeOf, publish, put, specs,
} from '../support/state/notes.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const fold = (store: FileStore): Promise<void> => store.exclusive('fold', () => store.checkpoint())

/** A store with two generations and records in both logs. */
const livedIn = async (t: Test): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await store.transact('test', (tx) => tx.put(items, 'i', { n: 10, text: '' }))
  await fold(store)
  await put(store, 'b', 2)
  await publish(store, 1)
  await fold(store)
  await put(store, 'c', 3)
  return store
}
const everything = { a: 1, b: 2, c: 3 }

t.test('check of a sound state says so, and counts', async (t) => {
  const store = await livedIn(t)
  store.artifacts.write('x', Buffer.from('y'))
  t.hasStrict(checkState({ ...placeOf(store), specs }), {
    ok: true, store_id: store.storeId, epoch: 3, sequence: 5, log_records: 1, documents: 4,
    artifacts: 1, anchor: 'ok', problems: [],
  })
})

t.test('check asks the rules of upper layers and the artifacts that documents refer to', async (t) => {
  const store = await livedIn(t)
  const ref = store.artifacts.write('x', Buffer.from('y'))
  const report = checkState({
    ...placeOf(store), specs: [notes],
    extra: [(view) => view.all(notes).length === 3
      ? [{ code: 'too_many', severity: 'damage', message: 'Three notes are too many.' }] : []],
    referenced: () => new Set(['0'.repeat(64)]),
  })
  t.strictSame(report.problems.map(({ code, severity }) => `${severity} ${code}`).sort(), [
    'damage evidence_missing', 'damage too_many', 'notice artifact_orphans',
    'notice collection_unknown',
  ])
  flipBit(join(store.dir, 'artifacts', ref.stored_sha256.slice(0, 2), ref.stored_sha256), 9, 0)
  t.hasStrict(checkState(placeOf(store)).problems, [{ code: 'artifact_damaged' }])
})

t.test('check beside somebody who replaces files and lets the former ones go misses none of them', async (t) => {
  const store = await livedIn(t)
  let calls = 0
  const replaced = (): string => {
    calls += 1
    return store.artifacts.write('x', Buffer.from(`${calls}`)).stored_sha256
  }
  let present = replaced()
  const referenced = (): ReadonlySet<string> => {
    const former = present
    present = replaced()
    store.artifacts.remove(former)
    return new Set([former])
  }
  t.hasStrict(checkState({ ...placeOf(store), specs, referenced }), { ok: true })
  t.equal(calls, 3)
})

t.test('check names open modes, missing entries and leftovers as notices', async (t) => {
  const store = await livedIn(t)
  const { chmodSync } = await import('node:fs')
  chmodSync(store.dir, 0o755)
  chmodSync(join(store.dir, 'STATE'), 0o644)
  rmSync(join(store.dir, 'run'), { recursive: true })
  writeFileSync(join(store.dir, 'wal', '.tmp-1-0123456789abcdef-1'), '')
  const report = checkState({ ...placeOf(store), specs })
  t.ok(report.ok)
  t.strictSame(report.problems.map(({ code, subject }) => `${code} ${subject ?? ''}`), [
    'mode_open .', 'mode_open STATE', 'entry_missing run', 'leftovers ',
  ])
})

t.test('check of an empty folder is no_state', async (t) => {
  const dir = t.testdir()
  t.hasStrict(errorOf(() => checkState({ dir, configDir: dir })), { kind: 'no_state' })
})

t.test('durability 8: repair of a sound state changes nothing', async (t) => {
  const store = await livedIn(t)
  const before = fingerprintOf(store.dir)
  const report = await repairState(placeOf(store))
  t.hasStrict(report, { changed: false, copied_to: null, done: [], loss: { records_after: null } })
  const after = fingerprintOf(store.dir)
  for (const lock of ['lock', 'fold', 'run/lock-line.01', 'run/lock-line.first']) {
    delete before[lock]
    delete after[lock]
  }
  t.strictSame(after, before)
})

/** Damages a lived-in store, repairs it and answers what came back. */
const repaired = async (
  t: Test, hurt: (store: FileStore) => void | Promise<void>,
): Promise<{
  store: FileStore; report: Awaited<ReturnType<typeof repairState>>; lossSeen: number
}> => {
  const store = await livedIn(t)
  await hurt(store)
  store.close()
  let lossSeen = 0
  const report = await repairState({
    ...placeOf(store),
    onLoss: async (opened) => {
      lossSeen += 1
      await opened.transact('after loss', (tx) => tx.mark({ policyRevision: 50 }))
    },
  })
  const next = again(t, store, 'write')
  t.ok(checkState({ ...placeOf(store), specs }).ok)
  await put(next, 'z', 26)
  return { store: next, report, lossSeen }
}

t.test('durability 8: repair cuts a torn tail after copying it, and loses nothing', async (t) => {
  const { store, report, lossSeen } = await repaired(t, (store) => {
    const path = newestLog(store.dir)
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.from('#c 00')]))
  })
  t.strictSame(numbers(store), { ...everything, z: 26 })
  t.hasStrict(report, { changed: true, done: [{ code: 'torn_tail_cut' }] })
  t.ok(existsSync(join(report.copied_to ?? '', 'STATE')))
  t.equal(lossSeen, 0)
})

t.test('durability 8: repair drops an untrue last record, says so and tells the policy', async (t) => {
  const { store, report, lossSeen } = await repaired(t, (store) => {
    const path = newestLog(store.dir)
    zeroBlock(path, readFileSync(path).length - 80, 60)
  })
  t.strictSame(numbers(store), { a: 1, b: 2, z: 26 })
  t.matchStrict(report, {
    loss: { records_after: 4, records_seen: 1, documents: 0 },
    done: [{ code: 'generation_rebuilt' }, { code: 'records_lost', message: /sequence 4/ }],
  })
  t.equal(lossSeen, 1)
  t.equal(store.anchor().status, 'ok')
  t.equal(store.anchor().policyRevision, 50)
  t.ok(readdirSync(report.copied_to ?? '').includes('000000000003.log'))
})

t.test('a log that is shorter than its first line has lost its records, and that is told', async (t) => {
  for (const size of [0, 14, 100]) {
    await t.test(`${size}`, async (t) => {
      const { store, report, lossSeen } = await repaired(t, (store) => {
        truncateTo(newestLog(store.dir), size)
      })
      t.strictSame(numbers(store), { a: 1, b: 2, z: 26 })
      t.equal(report.loss.records_after, 4)
      t.equal(lossSeen, 1)
    })
  }
})

t.test('a loss of marked records leaves the store behind its anchor until someone acts', async (t) => {
  const store = await livedIn(t)
  await publish(store, 2)
  const path = newestLog(store.dir)
  zeroBlock(path, readFileSync(path).length - 80, 60)
  store.close()
  await repairState(placeOf(store))
  t.equal(again(t, store).anchor().status, 'behind')
  const policy = async (opened: { transact: FileStore['transact'] }): Promise<void> =>
    opened.transact('restore', (tx) => tx.mark({ policyRevision: 9 }))
  const second = await repairState({ ...placeOf(store), onLoss: policy })
  t.hasStrict(second, { changed: true, done: [{ code: 'earlier_loss_settled' }] })
  t.equal(again(t, store).anchor().status, 'ok', 'the hook of the first repair had not run')
  t.equal(again(t, store).anchor().policyRevision, 9)
})

t.test('two records with a flipped bit each are both put right; two bits of one are a loss', async (t) => {
  const store = await livedIn(t)
  await put(store, 'd', 4)
  store.close()
  const path = newestLog(store.dir)
  const whole = readFileSync(path)
  const second = whole.lastIndexOf('#c ')
  flipBit(path, whole.indexOf('#c ') + 60, 2)
  flipBit(path, second + 5, 1)
  t.matchStrict(await repairState(placeOf(store)), { done: [{ message: /^2 untrue records/ }] })
  t.ok(readFileSync(path).equals(whole))
  flipBit(path, second + 60, 2)
  flipBit(path, second + 61, 2)
  t.hasStrict(await repairState(placeOf(store)), { loss: { records_after: 5 } })
})

t.test('a record of more than 16 KiB is not searched for a flipped bit', async (t) => {
  for (const [bytes, mended] of [[16_384 - 106 - 97, true], [16_384, false]] as const) {
    const { store } = await World.in(t).store()
    await put(store, 'a', 1, 'x'.repeat(bytes))
    store.close()
    const path = newestLog(store.dir)
    flipBit(path, readFileSync(path).length - 70, 0)
    const { done } = await repairState(placeOf(store))
    t.equal(done.some(({ code }) => code === 'bits_mended'), mended, `${bytes}`)
  }
})

/** The first file that a fold wrote. */
const segment = (store: FileStore, number: number): string =>
  store.places.segment(`00000000000${number}.1.seg`)

t.test('repair rebuilds a log header, STATE, a manifest and a snapshot file without loss', async (t) => {
  const hurts: readonly (readonly [string, (store: FileStore) => void, string])[] = [
    ['header', (store) => flipBit(newestLog(store.dir), 9, 1), 'generation_rebuilt'],
    ['STATE', (store) => flipBit(store.places.state, 9, 1), 'state_file_rebuilt'],
    ['STATE gone', (store) => unlinkSync(store.places.state), 'state_file_rebuilt'],
    ['manifest', (store) => zeroBlock(store.places.manifest(3), 9, 9), 'generation_rebuilt'],
    ['manifest, a bit', (store) => flipBit(store.places.manifest(3), 9, 1), 'files_mended'],
    ['block, a bit', (store) => flipBit(segment(store, 3), 20, 1), 'files_mended'],
    ['index', (store) => zeroBlock(segment(store, 3), 60, 20), 'files_mended'],
    ['filter', (store) => zeroBlock(segment(store, 3), readFileSync(segment(store, 3)).length - 8),
      'files_mended'],
    ['block', (store) => zeroBlock(segment(store, 3), 4, 20), 'generation_rebuilt'],
    ['file gone', (store) => unlinkSync(segment(store, 3)), 'generation_rebuilt'],
  ]
  for (const [what, hurt, code] of hurts) {
    await t.test(what, async (t) => {
      const { store, report, lossSeen } = await repaired(t, hurt)
      t.strictSame(numbers(store), { ...everything, z: 26 })
      t.equal(store.read().get(items, 'i')?.n, 10)
      t.hasStrict(report.done, [{ code }])
      t.hasStrict(report.loss, { records_after: null, documents: 0 })
      t.equal(lossSeen, 0)
      t.equal(store.anchor().status, 'ok')
    })
  }
})

t.test('a block that no generation holds any more is a counted loss of its rows', async (t) => {
  const { store, report, lossSeen } = await repaired(t, (store) => {
    zeroBlock(segment(store, 2), 4, 20)
  })
  t.strictSame(numbers(store), { b: 2, c: 3, z: 26 })
  t.strictSame(store.read().all(items), [])
  t.equal(report.loss.documents, 2)
  t.matchStrict(report.done.at(-1), {
    code: 'documents_lost', message: /1 ranges of ids: items i to notes a/,
  })
  t.equal(lossSeen, 1)
})

t.test('what has no whole generation is beyond repair and is left as it is', async (t) => {
  const store = await livedIn(t)
  unlinkSync(store.places.manifest(2))
  unlinkSync(store.places.manifest(3))
  store.close()
  const before = fingerprintOf(store.dir)
  await t.rejects(repairState(placeOf(store)), { kind: 'damaged', code: 'beyond_repair' })
  const after = fingerprintOf(store.dir)
  for (const lock of ['lock', 'fold', 'run/lock-line.01', 'run/lock-line.first']) {
    delete before[lock]
    delete after[lock]
  }
  t.strictSame(after, before)
})

t.test('a backup is a whole copy without the key; its verification sees any change', async (t) => {
  const store = await livedIn(t)
  store.artifacts.write('x', Buffer.from('private'))
  store.witness.append('line')
  const to = join(store.dir, '..', 'backup')
  const report = await backupState(store, to)
  t.hasStrict(report, { to, store_id: store.storeId, sequence: 5 })
  const facts = verifyBackup(nodeFiles, to)
  t.equal(facts.files.length, report.files)
  t.notOk(Object.keys(fingerprintOf(to)).some((name) => /key|anchor|run\/|lock/.test(name)))
  await t.rejects(backupState(store, to), { kind: 'conflict', code: 'backup_exists' })
  const inside = join(store.dir, 'inside')
  const link = join(store.dir, '..', 'link')
  symlinkSync(store.dir, link)
  for (const there of [inside, join(link, 'new'), join(link, 'run', 'new', 'one')]) {
    await t.rejects(backupState(store, there), { kind: 'rejected', code: 'backup_inside' }, there)
  }
  const files = Object.keys(fingerprintOf(to))
  for (const name of files) {
    const path = join(to, name)
    const bytes = readFileSync(path)
    if (bytes.length === 0) continue
    flipBit(path, Math.floor(bytes.length / 2), 3)
    t.hasStrict(errorOf(() => verifyBackup(nodeFiles, to)), { code: 'backup_invalid' }, name)
    writeFileSync(path, bytes)
  }
  unlinkSync(join(to, 'backup.json'))
  t.hasStrict(errorOf(() => verifyBackup(nodeFiles, to)), { code: 'backup_invalid' })
})

t.test('a backup of a damaged state or artifact is refused; a salvaged one says what it lacks', async (t) => {
  type Hurt = readonly [string, (store: FileStore, stored: string) => void, string]
  const artifact = (store: FileStore, stored: string): string =>
    join(store.dir, 'artifacts', stored.slice(0, 2), stored)
  const hurts: readonly Hurt[] = [
    ['log', (store) => zeroBlock(newestLog(store.dir), 400, 40), 'log_ambiguous'],
    ['manifest', (store) => flipBit(store.places.manifest(3), 9, 1), 'generation_damaged'],
    ['collection', (store) => zeroBlock(segment(store, 3), 4, 20), 'collection_damaged'],
    ['artifact', (store, stored) => flipBit(artifact(store, stored), 20, 3), 'artifact_damaged'],
    ['artifact gone', (store, stored) => unlinkSync(artifact(store, stored)), 'artifact_damaged'],
  ]
  for (const [what, hurt, code] of hurts) {
    await t.test(what, async (t) => {
      const store = await livedIn(t)
      const { stored_sha256: stored } = store.artifacts.write('x', Buffer.from('private'))
      hurt(store, stored)
      store.close()
      const to = join(store.dir, '..', 'backup')
      const referenced = (): ReadonlySet<string> => new Set([stored])
      const opened = again(t, store, 'write')
      await t.rejects(backupState(opened, to, { referenced }), {
        kind: 'damaged', code, next: /--salvage/,
      })
      t.notOk(existsSync(to), 'nothing is left of it')
      const report = await backupState(opened, to, { referenced, salvage: true })
      t.hasStrict(report.loss, { damage: [code] })
      t.strictSame(report.loss?.artifacts, what.startsWith('artifact') ? [stored] : [])
      t.strictSame(verifyBackup(nodeFiles, to).loss, report.loss)
      const names = Object.keys(fingerprintOf(to))
      t.ok(names.some((name) => /^state\/aside\/salvage-.*\.log$/.test(name)), 'with the raw log')
      opened.close()
      rmSync(store.dir, { recursive: true })
      await restoreState({ ...placeOf(store), backup: to })
      const after = numbers(again(t, store))
      t.strictSame(after, what === 'log' ? { a: 1, b: 2 }
        : what === 'collection' ? { a: 1, c: 3 } : everything)
    })
  }
})

t.test('a restore replaces every artifact whose bytes are not its name, and keeps a copy', async (t) => {
  const store = await livedIn(t)
  const refs = ['one', 'two', 'three'].map((text) => store.artifacts.write('x', Buffer.from(text)))
  const pathOf = ({ stored_sha256: name }: { stored_sha256: string }): string =>
    join(store.dir, 'artifacts', name.slice(0, 2), name)
  const [first, second, third] = refs.map(pathOf) as [string, string, string]
  const to = join(store.dir, '..', 'backup')
  await backupState(store, to)
  flipBit(first, 9, 0)
  truncateTo(second, 0)
  unlinkSync(third)
  symlinkSync('/etc/passwd', third)
  store.close()
  const { copied_to: copied } = await restoreState({ ...placeOf(store), backup: to })
  const next = again(t, store)
  t.strictSame(refs.map((ref) => next.artifacts.read('x', ref).toString()), ['one', 'two', 'three'])
  const kept = readdirSync(copied ?? '').filter((name) => name.startsWith('untrue-'))
  t.equal(kept.length, 3)
  t.ok(checkState(placeOf(store)).problems.every(({ severity }) => severity !== 'damage'))
})

t.test('a restore over a state that went on since begins a log behind every one that lies there', async (t) => {
  const store = await livedIn(t)
  const saved = numbers(store)
  const to = join(store.dir, '..', 'backup')
  await backupState(store, to)
  for (const n of [7, 8, 9]) {
    await put(store, `n${n}`, n)
    await store.exclusive('begin', () => store.rotate())
  }
  await put(store, 'last', 1)
  const newest = newestLog(store.dir)
  store.close()
  await restoreState({ ...placeOf(store), backup: to })
  const next = again(t, store, 'write')
  t.strictSame([numbers(next), next.health().damage], [saved, null])
  t.ok(newestLog(store.dir) > newest)
  await put(next, 'after', 2)
  next.close()
  t.ok(checkState(placeOf(store)).problems.every(({ severity }) => severity !== 'damage'))
})

t.test('a backup taken while another process commits and folds is one moment of the state', async (t) => {
  const store = await livedIn(t)
  const other = again(t, store, 'write')
  const to = join(store.dir, '..', 'backup')
  const writing = (async () => {
    for (let n = 0; n < 30; n += 1) {
      await other.transact('both', (tx) => {
        tx.put(notes, 'a', { n, text: '' })
        tx.put(items, 'i', { n, text: '' })
      })
      if (n % 7 === 0) await fold(other)
    }
  })()
  for (let round = 0; round < 3; round += 1) {
    await backupState(store, `${to}${round}`)
    await new Promise((done) => setTimeout(done, 2))
  }
  await writing
  for (let round = 0; round < 3; round += 1) {
    const base = join(store.dir, '..', `r${round}`)
    mkdirSync(base)
    cpSync(join(store.dir, '..', 'config'), join(base, 'config'), { recursive: true })
    const place = { dir: join(base, 'state'), configDir: join(base, 'config') }
    await restoreState({ ...place, backup: `${to}${round}` })
    const report = checkState({ ...place, specs })
    t.strictSame(report.problems.filter(({ severity }) => severity === 'damage'), [])
  }
})

t.test('a folder of another layer is part of a backup; a link in it is refused', async (t) => {
  const store = await livedIn(t)
  mkdirSync(join(store.dir, 'stages', 'job'), { recursive: true })
  writeFileSync(join(store.dir, 'stages', 'job', 'tree'), 'bytes')
  const to = join(store.dir, '..', 'backup')
  await backupState(store, to)
  t.equal(readFileSync(join(to, 'state', 'stages', 'job', 'tree'), 'utf8'), 'bytes')
  symlinkSync('/etc', join(store.dir, 'stages', 'link'))
  await t.rejects(backupState(store, `${to}2`), { kind: 'rejected', code: 'not_a_file' })
  t.notOk(existsSync(`${to}2`))
})

const restoreHook = async (
  store: { transact: FileStore['transact'] }, facts: { anchorPolicyRevision: number },
): Promise<void> =>
  store.transact('restore', (tx) => {
    tx.put(notes, 'restored', { n: facts.anchorPolicyRevision, text: '' })
    tx.mark({ policyRevision: facts.anchorPolicyRevision + 1 })
  })

t.test('a restore over the present state is behind until the policy publishes above the anchor', async (t) => {
  const store = await livedIn(t)
  const ref = store.artifacts.write('x', Buffer.from('private'))
  store.witness.append('one')
  const to = join(store.dir, '..', 'backup')
  await backupState(store, to)
  store.witness.append('two')
  await publish(store, 7)
  await put(store, 'later', 1)
  store.artifacts.remove(ref.stored_sha256)
  store.close()
  const blocked = await restoreState({ ...placeOf(store), backup: to })
  t.hasStrict(blocked, { anchor: 'behind', sequence: 5, store_id: store.storeId })
  t.strictSame(numbers(again(t, store)), everything)
  const report = await restoreState({ ...placeOf(store), backup: to, afterRestore: restoreHook })
  t.equal(report.anchor, 'ok')
  t.ok(existsSync(join(report.copied_to ?? '', 'wal', '000000000003.log')))
  const next = again(t, store, 'write')
  t.strictSame(numbers(next), { ...everything, restored: 7 })
  t.equal(next.anchor().policyRevision, 8)
  t.strictSame(next.artifacts.read('x', ref).toString(), 'private')
  t.strictSame(next.witness.lines(), ['one', 'two'], 'a longer witness is not forgotten')
  await publish(next, 9)
  await fold(next)
  t.equal(next.anchor().status, 'ok')
  t.ok(checkState({ ...placeOf(store), specs }).ok)
})

t.test('a restore that ends before the policy has published stays blocked', async (t) => {
  const store = await livedIn(t)
  const to = join(store.dir, '..', 'backup')
  await backupState(store, to)
  store.close()
  const crash = (): never => { throw new Error('the process ends here') }
  await t.rejects(restoreState({ ...placeOf(store), backup: to, afterRestore: crash }),
    { message: 'the process ends here' })
  const next = again(t, store, 'write')
  t.equal(next.anchor().status, 'behind', 'though no mark was lost')
  await publish(next, 5)
  t.not(next.anchor().status, 'ok', 'an ordinary mark does not end it')
  next.close()
  const report = await restoreState({ ...placeOf(store), backup: to, afterRestore: restoreHook })
  t.equal(report.anchor, 'ok')
})

t.test('an open process sees a restore and refuses or goes on with the restored documents', async (t) => {
  const store = await livedIn(t)
  const to = join(store.dir, '..', 'backup')
  await backupState(store, to)
  await put(store, 'later', 1)
  await restoreState({ ...placeOf(store), backup: to, afterRestore: restoreHook })
  t.strictSame(numbers(store), { ...everything, restored: 1 })
  await put(store, 'more', 2)
  t.strictSame(numbers(again(t, store)), { ...everything, restored: 1, more: 2 })
})

t.test('a restore where nothing is left makes a whole directory', async (t) => {
  const store = await livedIn(t)
  const to = join(store.dir, '..', 'backup')
  await backupState(store, to)
  await publish(store, 3)
  store.close()
  rmSync(store.dir, { recursive: true })
  const report = await restoreState({ ...placeOf(store), backup: to, afterRestore: restoreHook })
  t.hasStrict(report, { copied_to: null, anchor: 'ok' })
  t.strictSame(numbers(again(t, store)), { ...everything, restored: 3 })
  t.ok(checkState({ ...placeOf(store), specs }).ok)
})

t.test('a restore mends a damaged state and a missing anchor', async (t) => {
  const store = await livedIn(t)
  const to = join(store.dir, '..', 'backup')
  await backupState(store, to)
  store.close()
  unlinkSync(store.keyPlaces.anchor)
  unlinkSync(store.places.manifest(2))
  unlinkSync(store.places.manifest(3))
  writeFileSync(store.places.state, 'x')
  const report = await restoreState({ ...placeOf(store), backup: to, afterRestore: restoreHook })
  t.equal(report.anchor, 'ok')
  t.strictSame(numbers(again(t, store)), { ...everything, restored: 0 })
})

t.test('a restore needs the key, a whole backup and the place of the same store', async (t) => {
  const store = await livedIn(t)
  const to = join(store.dir, '..', 'backup')
  await backupState(store, to)
  const before = fingerprintOf(store.dir)
  const keyless = { dir: join(store.dir, '..', 'new'), configDir: join(store.dir, '..', 'none') }
  await t.rejects(restoreState({ ...keyless, backup: to }), { code: 'key_missing' })
  t.notOk(existsSync(keyless.dir))
  await t.test('another store', async (t) => {
    const { store: other } = await World.in(t).store()
    cpSync(join(store.dir, '..', 'config'), join(other.dir, '..', 'config'), { recursive: true })
    const refused = () => t.rejects(restoreState({ ...placeOf(other), backup: to }), {
      kind: 'conflict', code: 'other_store',
    })
    await refused()
    await put(other, 'kept', 1)
    other.close()
    const { places } = other
    const state = readFileSync(places.state)
    writeFileSync(places.state, 'x')
    await refused()
    unlinkSync(places.state)
    await refused()
    cpSync(places.wal, `${places.wal}-aside`, { recursive: true })
    rmSync(places.wal, { recursive: true })
    await refused()
    cpSync(`${places.wal}-aside`, places.wal, { recursive: true })
    rmSync(places.collections, { recursive: true })
    await refused()
    writeFileSync(places.state, state)
    t.notOk(existsSync(places.aside), 'nothing of it was touched')
  })
  await t.test('a state without STATE, and a file in the place of a folder', async (t) => {
    const { store: other } = await World.in(t).store()
    cpSync(join(store.dir, '..', 'config'), join(other.dir, '..', 'config'), { recursive: true })
    other.close()
    unlinkSync(other.places.state)
    rmSync(other.places.wal, { recursive: true })
    writeFileSync(other.places.wal, '')
    await t.rejects(restoreState({ ...placeOf(other), backup: to }), {
      kind: 'damaged', code: 'folder_replaced',
    })
  })
  await t.test('a folder that is no state', async (t) => {
    const dir = join(store.dir, '..', 'somebody')
    mkdirSync(dir)
    for (const name of ['lock', 'fold', 'photo']) writeFileSync(join(dir, name), name)
    const files = fingerprintOf(dir)
    await t.rejects(restoreState({ ...placeOf(store), dir, backup: to }), {
      kind: 'conflict', code: 'state_exists',
    })
    t.strictSame(fingerprintOf(dir), files)
    rmSync(join(dir, 'photo'))
    await restoreState({ ...placeOf(store), dir, backup: to })
  })
  flipBit(join(to, 'state', 'STATE'), 5, 0)
  await t.rejects(restoreState({ ...placeOf(store), backup: to }), {
    kind: 'rejected', code: 'backup_invalid',
  })
  t.strictSame(fingerprintOf(store.dir), before)
})

t.test('compact folds the log and says how long it was', async (t) => {
  const store = await livedIn(t)
  const bytes = readFileSync(newestLog(store.dir)).length
  t.hasStrict(await compactState(store), { epoch: 4, sequence: 5, log_bytes_before: bytes })
  t.strictSame(numbers(again(t, store)), everything)
  t.strictSame(readdirSync(store.places.wal), ['000000000003.log', '000000000004.log'])
})

/** Two steps that only write down that they were taken, and the STATE that stood meanwhile. */
const stepsInto = (taken: string[]): readonly Migration[] =>
  [formatVersion, formatVersion + 1].map((from) => ({
    from, to: from + 1, name: `step ${from}`,
    prepare: ({ files, places }) => {
      taken.push(`prepare ${from}`)
      return () => {
        const bytes = readWhole(files, places.state, 1e6)
        const stood = decodeStateFile(bytes ?? Buffer.alloc(0))?.format_version
        taken.push(`run ${from}, STATE ${stood}`)
      }
    },
  }))

t.test('durability 12: migrations run in order, once, STATE raised before each', async (t) => {
  const store = await livedIn(t)
  store.close()
  t.strictSame(migrations.map(({ from, to }) => [from, to]), [[5, 6], [6, 7]])
  t.strictSame(await migrateState(placeOf(store)), {
    from: formatVersion, to: formatVersion, steps: [],
  })
  const taken: string[] = []
  const steps = stepsInto(taken)
  const [now, next, last] = [formatVersion, formatVersion + 1, formatVersion + 2]
  const report = await migrateState(placeOf(store), steps, last)
  t.strictSame(report, { from: now, to: last, steps: [`step ${now}`, `step ${next}`] })
  t.strictSame(taken, [
    `prepare ${now}`, `run ${now}, STATE ${next}`, `prepare ${next}`, `run ${next}, STATE ${last}`,
  ])
  t.hasStrict(errorOf(() => again(t, store)), { kind: 'blocked', code: 'state_too_new' })
  t.hasStrict(errorOf(() => stepsBetween(steps, last, last + 2)), { code: 'no_migration' })
})
