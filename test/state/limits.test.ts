import type { Test } from 'tap'
import { rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { backupState } from '../../src/state/care/backup.js'
import { checkState } from '../../src/state/care/check.js'
import type { Files } from '../../src/state/files.js'
import { nodeFiles } from '../../src/state/files.js'
import { repairState } from '../../src/state/care/repair.js'
import { restoreState } from '../../src/state/care/restore.js'
import type { FileStore } from '../../src/state/store.js'
import { closedStore } from '../support/state/closed-store.js'
import { newestLog } from '../support/state/forge.js'
import { again, errorOf, numbers, put } from '../support/state/notes.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

const placeOf = (store: FileStore, files: Files = nodeFiles) =>
  ({ dir: store.dir, configDir: join(store.dir, '..', 'config'), files })

/** More than Node can put into one buffer; a hole takes no room on the disk. */
const hugeBytes = 9 * 1024 ** 3
const recordBytesMax = 17 * 1024 * 1024

/** The disk, with the longest read that was asked of it. */
const measured = (): { readonly files: Files; longest(): number } => {
  let longest = 0
  const files: Files = {
    ...nodeFiles,
    read: (fd, buffer, position) => {
      longest = Math.max(longest, buffer.length)
      return nodeFiles.read(fd, buffer, position)
    },
  }
  return { files, longest: () => longest }
}

const use = async (t: Test, store: FileStore, files: Files): Promise<void> => {
  numbers(again(t, store, 'read', { files }))
  const writer = again(t, store, 'write', { files })
  await writer.transact('test', (tx) => {
    tx.afterSync(() => writer.witness.append('line'))
    tx.mark()
  })
}

t.test('a file that is longer than any program wrote it is damage, and is not read', async (t) => {
  for (const [name, code] of [
    ['STATE', 'file_too_large'], ['witness.log', 'file_too_large'],
    ['collections/manifest.000000000002.json', 'file_too_large'],
  ] as const) {
    const store = await closedStore(t)
    const { files, longest } = measured()
    truncateSync(join(store.dir, name), hugeBytes)
    await t.rejects(use(t, store, files), { kind: 'damaged', code }, name)
    t.hasStrict(checkState(placeOf(store, files)).problems, [{ code, severity: 'damage' }], name)
    t.ok(longest() < recordBytesMax)
  }
})

t.test('what lies behind the recorded bytes of a snapshot file is never read, and check tells it', async (t) => {
  const store = await closedStore(t)
  const { files, longest } = measured()
  truncateSync(store.places.segment('000000000002.1.seg'), hugeBytes)
  t.strictSame(numbers(again(t, store, 'read', { files })), { a: 1, b: 2 })
  t.hasStrict(checkState(placeOf(store, files)).problems, [
    { code: 'collection_damaged', severity: 'damage' },
  ])
  t.ok(longest() < recordBytesMax)
})

t.test('the refusal of a long file names the file and the limit', async (t) => {
  const store = await closedStore(t)
  truncateSync(store.places.state, hugeBytes)
  t.matchStrict(errorOf(() => again(t, store)), {
    code: 'file_too_large', details: { file: 'STATE', bytes_max: 1024 * 1024 },
    message: /The file STATE .* 1048576 bytes/, next: /Move it away/,
  })
  await t.rejects(repairState(placeOf(store)), { code: 'file_too_large' })
  rmSync(store.places.state)
  t.ok((await repairState(placeOf(store))).changed, 'moved away, it is written again')
  t.strictSame(numbers(again(t, store)), { a: 1, b: 2 })
})

t.test('a long key or anchor is damage; a long text in the lock harms nobody', async (t) => {
  for (const place of ['key', 'anchor'] as const) {
    const store = await closedStore(t)
    truncateSync(store.keyPlaces[place], hugeBytes)
    await t.rejects(use(t, store, nodeFiles), { kind: 'damaged', code: 'file_too_large' }, place)
    t.notOk(checkState(placeOf(store)).ok, place)
  }
  const store = await closedStore(t)
  truncateSync(store.places.lock, hugeBytes)
  await use(t, store, nodeFiles)
})

t.test('a long artifact is damaged, whatever is asked of it', async (t) => {
  const { store } = await World.in(t).store()
  const write = () => store.artifacts.write('test', Buffer.from('x'), { deterministic: true })
  const ref = write()
  t.equal(store.artifacts.read('test', ref).toString(), 'x')
  truncateSync(join(store.places.artifacts, ref.stored_sha256.slice(0, 2), ref.stored_sha256), 10e9)
  t.throws(() => store.artifacts.read('test', ref), { code: 'artifact_damaged' })
  t.throws(write, { code: 'artifact_damaged' })
})

t.test('a long list of files makes a backup invalid without being read', async (t) => {
  const { store } = await World.in(t).store()
  const backup = join(store.dir, '..', 'backup')
  await backupState(store, backup)
  truncateSync(join(backup, 'backup.json'), hugeBytes)
  await t.rejects(restoreState({ ...placeOf(store), backup }), { code: 'file_too_large' })
})

t.test('durability 3: a log with a hole of any length is read in pieces and ends as before', async (t) => {
  const store = await closedStore(t)
  const log = newestLog(store.dir)
  const { size } = statSync(log)
  truncateSync(log, size + 300 * 1024 * 1024)
  const { files, longest } = measured()
  t.strictSame(numbers(again(t, store, 'read', { files })), { a: 1, b: 2 }, 'reads go on')
  await t.rejects(put(again(t, store, 'write', { files }), 'c', 3), { code: 'log_ambiguous' })
  t.hasStrict(checkState(placeOf(store, files)).problems, [{ code: 'log_ambiguous' }])
  t.ok(longest() < recordBytesMax, 'never the whole log at once')
  truncateSync(log, size)
  t.strictSame(numbers(again(t, store)), { a: 1, b: 2 })
})

t.test('a log of many long records is read whole, in pieces', async (t) => {
  const { store } = await World.in(t).store({ logBytesMax: 1024 ** 3 })
  const text = 'x'.repeat(700_000)
  for (let n = 0; n < 12; n += 1) await put(store, `n${n}`, n, text)
  store.close()
  const { files, longest } = measured()
  t.equal(Object.keys(numbers(again(t, store, 'read', { files }))).length, 12)
  t.equal(checkState(placeOf(store, files)).documents, 12)
  t.ok(longest() < 3 * 1024 * 1024)
})
