/** A file that the disk does not give back counts as lost only where a person names it. */
import { chmodSync, chownSync, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { backupState } from '../../src/state/care/backup.js'
import { checkState } from '../../src/state/care/check.js'
import { formerStates } from '../../src/state/care/aside.js'
import { repairState } from '../../src/state/care/repair.js'
import { verifyState } from '../../src/state/care/verify-backup.js'
import { nodeFiles } from '../../src/state/files.js'
import type { Files } from '../../src/state/files.js'
import { openStore } from '../../src/state/store.js'
import type { FileStore } from '../../src/state/store.js'
import { failure } from '../support/state/faults.js'
import { errorOf, numbers, placeOf, publish, put, again, specs } from '../support/state/notes.js'
import { errorOf as refusedBy } from '../support/refused.js'
import { t } from '../support/tests-in-slices.js'
import { World } from '../world/world.js'

/** Two generations, marks, and a log of a few pages. */
const lived = async (): Promise<FileStore> => {
  const { store } = await World.in(t).store()
  await put(store, 'a', 1)
  await publish(store, 1)
  await store.exclusive('fold', () => store.checkpoint())
  await put(store, 'b', 2)
  await store.exclusive('fold', () => store.checkpoint())
  for (let n = 0; n < 5; n += 1) await put(store, `n${n}`, n, 'x'.repeat(3000))
  await publish(store, 2)
  store.close()
  return store
}

/** The machine's disk, whose file at `path` gives back nothing from `from` on. */
const worn = (path: string, from = 0, errno = 'EIO'): Files => {
  // The file may lie under another name by now; its number stays.
  const { ino } = nodeFiles.fstat(nodeFiles.open(path, 'read'))
  return {
    ...nodeFiles,
    open: (name, intent) => {
      const fd = nodeFiles.open(name, intent)
      if (intent !== 'read' || from > 0 || nodeFiles.fstat(fd).ino !== ino) return fd
      nodeFiles.close(fd)
      throw Object.assign(failure(errno), { path: name })
    },
    read: (fd, buffer, position) => {
      if (nodeFiles.fstat(fd).ino === ino && position + buffer.length > from) {
        throw Object.assign(failure(errno), { path })
      }
      return nodeFiles.read(fd, buffer, position)
    },
  }
}

/** Files of a state that a repair reads. */
const kinds: Readonly<Record<string, (store: FileStore) => string>> = {
  manifest: ({ places }) => places.manifest(3),
  log: ({ places }) => places.log(3),
  segment: ({ places }) => places.segment('000000000003.1.seg'),
  STATE: ({ places }) => places.state,
}

/** Every file of a state, as text. */
const bytesIn = (dir: string): string => readdirSync(dir, { recursive: true, encoding: 'utf8' })
  .filter((name) => !['lock', 'fold', 'run', 'aside'].includes(name.split('/', 1)[0] ?? '')).sort()
  .map((name) => nodeFiles.stat(join(dir, name))?.kind === 'file'
    ? `${name} ${readFileSync(join(dir, name)).toString('base64')}` : name)
  .join('\n')

for (const [kind, pathOf] of Object.entries(kinds)) {
  t.test(`a lasting error of the disk (${kind}) ends check and repair by the name of the file`, async (t) => {
    const store = await lived()
    const path = pathOf(store)
    const file = path.slice(store.dir.length + 1)
    const place = { ...placeOf(store), specs, files: worn(path) }
    const before = bytesIn(store.dir)
    const way = { kind: 'failed', code: 'io_failed', details: { file }, next: / --lost / }
    t.matchStrict(errorOf(() => checkState(place)), way)
    await t.rejects(repairState(place), way)
    t.equal(bytesIn(store.dir), before)
    t.strictSame((await repairState({ ...placeOf(store), specs })).changed, false, 'it passed')
  })

  t.test(`what is named as lost (${kind}) is given up and nothing else is`, async (t) => {
    const store = await lived()
    const path = pathOf(store)
    const file = path.slice(store.dir.length + 1)
    const whole = readFileSync(path)
    const files = worn(path)
    const report = await repairState({
      ...placeOf(store), specs, files, lost: [file], onLoss: (one) => publish(one, 3),
    })
    t.matchStrict(report.done[0], { code: 'unreadable_lost', message: new RegExp(`of ${file}, `) })
    t.equal(report.loss.records_after, kind === 'log' ? 3 : null)
    t.equal(report.changed, true)
    const [aside = ''] = readdirSync(store.places.aside).filter((one) => /^unre/.test(one))
    const kept = join(store.places.aside, aside, file.replace('/', '-'))
    t.strictSame(readFileSync(kept), whole, 'the file itself stays aside')
    t.notOk(readdirSync(join(store.places.aside, aside)).some((one) => one.startsWith('.tmp-')))
    t.strictSame(checkState({ ...placeOf(store), specs, files }).problems
      .filter(({ severity }) => severity === 'damage'), [], 'the disk need not get well')
    const left = kind === 'log' ? { a: 1, b: 2 } : { a: 1, b: 2, n0: 0, n1: 1, n2: 2, n3: 3, n4: 4 }
    t.strictSame(numbers(again(t, store)), left)
    const formers = formerStates(store.dir, store.storeId, files)
    t.equal(formers.length, 1, 'it is no former state of its own')
  })
}

t.test('of a log that is lost in its middle, all before it stays', async (t) => {
  const store = await lived()
  const log = store.places.log(3)
  const report = await repairState({
    ...placeOf(store), specs, files: worn(log, 8192), lost: ['wal/000000000003.log'],
  })
  t.match(report.done[0]?.message, /^3 pieces of wal/)
  t.strictSame(numbers(again(t, store)), { a: 1, b: 2, n0: 0, n1: 1 })
})

t.test('a file that can be read, or is none of the state, is not given up', async (t) => {
  const store = await lived()
  const before = bytesIn(store.dir)
  const place = { ...placeOf(store), specs }
  const refused = { kind: 'rejected', code: 'lost_file_unknown' }
  const names = ['', 'lock', 'wal', 'wal/..', 'wal/none.log', 'run/session', '../state/STATE',
    'aside/../STATE', 'collections/../STATE', '/etc/passwd', store.places.state]
  for (const name of names) await t.rejects(repairState({ ...place, lost: [name] }), refused)
  await t.rejects(repairState({ ...place, lost: ['STATE'] }),
    { kind: 'rejected', code: 'lost_file_readable' })
  const files = worn(store.places.log(3))
  await t.rejects(repairState({ ...place, files, lost: ['wal/000000000003.log', 'STATE'] }),
    { code: 'lost_file_readable' }, 'all are looked at first')
  t.equal(bytesIn(store.dir), before, 'nothing was touched')
})

t.test('a refused access counts as no loss, whoever names the file', async (t) => {
  const store = await lived()
  const files = worn(store.places.log(3), 0, 'EACCES')
  const place = { ...placeOf(store), specs, files }
  const refused = { kind: 'failed', code: 'not_permitted' }
  await t.rejects(repairState(place), refused)
  await t.rejects(repairState({ ...place, lost: ['wal/000000000003.log'] }), refused)
  t.equal(existsSync(join(store.dir, 'wal', '000000000003.log')), true)
})

/** What an ordinary user meets, for whom modes count. */
const unprivileged = <T>(dir: string, fn: () => T): T => {
  if (process.getuid?.() !== 0) return fn()
  const all = ['', ...readdirSync(dir, { recursive: true, encoding: 'utf8' })]
  for (const name of all) chownSync(join(dir, name), 65534, 65534)
  process.seteuid?.(65534)
  try {
    return fn()
  } finally {
    process.seteuid?.(0)
  }
}

t.test('a manifest of mode 000 is not permitted, and no damage', async (t) => {
  const store = await lived()
  chmodSync(store.places.manifest(3), 0)
  const place = placeOf(store)
  const errors = unprivileged(join(store.dir, '..'), () => [
    errorOf(() => checkState({ ...place, specs })),
    errorOf(() => openStore({ ...place, mode: 'read' })),
  ])
  for (const error of errors) t.hasStrict(error, { kind: 'failed', code: 'not_permitted' })
  chmodSync(store.places.manifest(3), 0o600)
})

t.test('a read that is refused counts as no loss, and every read that fails names its file', async (t) => {
  const store = await lived()
  const files = worn(store.places.log(3), 8192, 'EACCES')
  await t.rejects(repairState({ ...placeOf(store), specs, files, lost: ['wal/000000000003.log'] }),
    { kind: 'failed', code: 'not_permitted' })
  const path = join(store.dir, 'written')
  const fd = nodeFiles.open(path, 'create')
  t.hasStrict(errorOf(() => nodeFiles.read(fd, Buffer.alloc(1), 0)), { code: 'EBADF', path })
  nodeFiles.close(fd)
})

t.test('a backup that the disk does not give back is told by the name of its file, and not repaired', async (t) => {
  const store = await lived()
  const opened = again(t, store, 'write')
  const backup = join(store.dir, '..', 'backup')
  await backupState(opened, backup)
  const place = placeOf(store)
  for (const name of ['wal/000000000003.log', 'STATE']) {
    const files = worn(join(backup, 'state', name))
    const told = refusedBy(() => verifyState({ ...place, files, backup },
      (dir) => checkState({ ...place, files, dir, specs })))
    t.hasStrict(told, { kind: 'failed', code: 'io_failed', details: { file: name } })
    t.match(told.message, name)
    t.match(told.next, /another backup/)
    t.notMatch(told.next, 'repair')
  }
})

t.test('a repair that gives up an artifact and nothing else says that it changed something', async (t) => {
  const { store } = await World.in(t).store()
  const { stored_sha256: name } = store.artifacts.write('x', Buffer.from('content'))
  store.close()
  const file = `artifacts/${name.slice(0, 2)}/${name}`
  const files = worn(join(store.dir, file))
  const report = await repairState({ ...placeOf(store), specs, files, lost: [file] })
  t.hasStrict(report, { changed: true, copied_to: null, done: [{ code: 'unreadable_lost' }] })
})
