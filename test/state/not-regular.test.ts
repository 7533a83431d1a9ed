import t from 'tap'
import type { Test } from 'tap'
import { execFileSync } from 'node:child_process'
import {
  closeSync, linkSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkState } from '../../src/state/care/check.js'
import { nodeFiles } from '../../src/state/files.js'
import { repairState } from '../../src/state/care/repair.js'
import type { FileStore } from '../../src/state/store.js'
import { closedStore } from '../support/state/closed-store.js'
import { again, errorOf, numbers, placeOf } from '../support/state/notes.js'
import { World } from '../world/world.js'

const mkfifo = (path: string): void => void execFileSync('mkfifo', [path])

/** Reads and writes, each on a store of its own; what goes wrong is thrown. */
const use = async (t: Test, store: FileStore): Promise<void> => {
  numbers(again(t, store, 'read'))
  const writer = again(t, store, 'write')
  await writer.transact('test', (tx) => {
    tx.afterSync(() => writer.witness.append('line'))
    tx.mark()
  })
}

const refusal = { kind: 'damaged', code: 'not_regular' }

t.test('a pipe in the place of any file of the state is damage and holds up nobody', async (t) => {
  const names = [
    'STATE', 'lock', 'witness.log', 'wal/000000000002.log',
    'collections/manifest.000000000002.json', 'collections/000000000002.1.seg',
  ]
  for (const name of names) {
    const store = await closedStore(t)
    const path = join(store.dir, name)
    const kept = join(store.dir, '..', 'kept')
    renameSync(path, kept)
    mkfifo(path)
    await t.rejects(use(t, store), { ...refusal, details: { file: name.split('/').at(-1) } }, name)
    t.hasStrict(
      checkState(placeOf(store)), { ok: false, problems: [{ ...found, subject: name }] }, name
    )
    rmSync(path)
    renameSync(kept, path)
    await t.resolves(use(t, store), 'what the next step says mends it')
  }
})

const found = { code: 'not_regular', severity: 'damage' }

t.test('a pipe in the place of key or anchor is damage', async (t) => {
  for (const place of ['key', 'anchor'] as const) {
    const store = await closedStore(t)
    rmSync(store.keyPlaces[place])
    mkfifo(store.keyPlaces[place])
    await t.rejects(use(t, store), refusal, place)
    t.notOk(checkState(placeOf(store)).ok)
  }
})

t.test('a pipe in the place of STATE or a log is refused by repair, with a next step', async (t) => {
  for (const name of ['STATE', 'wal/000000000002.log']) {
    const store = await closedStore(t)
    rmSync(join(store.dir, name))
    mkfifo(join(store.dir, name))
    const error = await repairState(placeOf(store)).then(() => undefined, (thrown) => thrown)
    t.matchStrict(error, { ...refusal, next: /Move it away/ })
  }
  const store = await closedStore(t)
  rmSync(store.places.state)
  t.ok((await repairState(placeOf(store))).changed, 'moved away, it is written again')
  await use(t, store)
})

t.test('a folder, a link or a socket is no file, whatever a file is opened for', async (t) => {
  // A short path: the name of a socket has little room.
  const dir = mkdtempSync(join(tmpdir(), 'sp-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  writeFileSync(join(dir, 'file'), 'text')
  mkdirSync(join(dir, 'folder'))
  symlinkSync(join(dir, 'file'), join(dir, 'link'))
  mkfifo(join(dir, 'pipe'))
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(join(dir, 'socket'), resolve))
  t.teardown(() => server.close())
  for (const name of ['folder', 'link', 'pipe', 'socket']) {
    for (const intent of ['read', 'readwrite', 'append', 'lock'] as const) {
      const error = errorOf(() => nodeFiles.open(join(dir, name), intent))
      t.hasStrict(error, refusal, `${name} ${intent}`)
    }
  }
  linkSync(join(dir, 'file'), join(dir, 'second'))
  closeSync(nodeFiles.open(join(dir, 'second'), 'read'))
})

t.test('a stored artifact that is no file is found, and does not keep the check', async (t) => {
  const { store } = await World.in(t).store()
  const { stored_sha256: name } = store.artifacts.write('test', Buffer.from('x'))
  const path = join(store.places.artifacts, name.slice(0, 2), name)
  rmSync(path)
  mkfifo(path)
  t.hasStrict(checkState(placeOf(store)).problems, [{ code: 'artifact_damaged', subject: name }])
})
