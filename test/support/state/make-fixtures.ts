/**
 * Makes the stored fixtures of the present format: a lived-in state directory and one per kind of
 * damage. Run by hand when a format is added; existing fixtures are never made again.
 *
 *     node .build/tree/test/support/state/make-fixtures.js test/state/fixtures
 */
import {
  cpSync, existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, unlinkSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { formatVersion } from '../../../src/state/paths.js'
import { createStore } from '../../../src/state/store.js'
import type { FileStore } from '../../../src/state/store.js'
import {
  flipBit, forgePayload, forgeRecord, newestLog, truncateTo, zeroBlock,
} from './forge.js'
import { items, notes, put } from './notes.js'
import { colourCounts, things } from './things.js'

const makeSound = async (base: string): Promise<FileStore> => {
  const store = createStore({
    dir: join(base, 'state'), configDir: join(base, 'config'),
    profile: { schema: 'test.profile.v1', name: 'fixture' },
  }) as FileStore
  await put(store, 'a', 1)
  await store.transact('fill', (tx) => {
    for (let i = 0; i < 5; i += 1) tx.put(items, `i${i}`, { n: i, text: 'x' })
  })
  const ref = store.artifacts.write('fixture.v1', Buffer.from('private content'))
  await store.exclusive('fold', () => store.checkpoint())
  await store.transact('publish', (tx) => {
    tx.put(notes, 'artifact', { n: ref.bytes, text: JSON.stringify(ref) })
    for (let n = 0; n < 4; n += 1) {
      tx.put(things, `t${n}`, { colour: 'red', weight: n, words: ['x'] })
    }
    tx.put(colourCounts, 'red', { count: 4 })
    tx.mark({ policyRevision: 1 })
    tx.afterSync(() => store.witness.append('revision 1'))
  })
  await store.exclusive('fold', () => store.checkpoint())
  await put(store, 'b', 2)
  await put(store, 'c', 3)
  return store
}

const packed = (base: string): Record<string, string> => {
  const files: Record<string, string> = {}
  for (const entry of readdirSync(base, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const path = join(entry.parentPath, entry.name)
    files[path.slice(base.length + 1)] = readFileSync(path).toString('base64')
  }
  return files
}

const logOf = (dir: string): string => newestLog(dir)
const sizeOf = (path: string): number => readFileSync(path).length
const segmentOf = (dir: string, number: number): string =>
  join(dir, 'collections', `00000000000${number}.1.seg`)
const indexAt = (dir: string, number: number): number =>
  readFileSync(segmentOf(dir, number)).indexOf('[["')

/** Kinds of damage, each done to a copy of the sound state at `base`. */
const hurts: Readonly<Record<string, (base: string, dir: string) => void | Promise<void>>> = {
  sound: () => undefined,
  'torn-tail': (_, dir) => truncateTo(logOf(dir), sizeOf(logOf(dir)) - 9),
  'untrue-last-record': (_, dir) => flipBit(logOf(dir), sizeOf(logOf(dir)) - 80, 2),
  'untrue-record-before-others': (_, dir) => {
    flipBit(logOf(dir), readFileSync(logOf(dir)).indexOf('#c ') + 50, 2)
  },
  'flipped-length': (_, dir) => {
    flipBit(logOf(dir), readFileSync(logOf(dir)).lastIndexOf('#c ') + 29, 0)
  },
  'log-header': (_, dir) => flipBit(logOf(dir), 20, 1),
  manifest: (_, dir) => flipBit(join(dir, 'collections', 'manifest.000000000003.json'), 20, 1),
  'manifest-missing': (_, dir) =>
    unlinkSync(join(dir, 'collections', 'manifest.000000000003.json')),
  'block-bit': (_, dir) => flipBit(segmentOf(dir, 3), 9, 1),
  block: (_, dir) => zeroBlock(segmentOf(dir, 3), 4, 20),
  entries: (_, dir) => {
    const path = segmentOf(dir, 3)
    zeroBlock(path, readFileSync(path).indexOf('["things:colour"') + 1, 12)
  },
  'forged-entry': (_, dir) =>
    void forgeRecord(dir, [{ collection: 'things:colour', id: 'red/000009/t9', doc: {} }]),
  index: (_, dir) => zeroBlock(segmentOf(dir, 3), indexAt(dir, 3), 20),
  'file-missing': (_, dir) => unlinkSync(segmentOf(dir, 3)),
  'block-in-both-generations': (_, dir) => zeroBlock(segmentOf(dir, 2), 4, 20),
  'log-missing': (_, dir) => unlinkSync(logOf(dir)),
  'state-file': (_, dir) => flipBit(join(dir, 'STATE'), 40, 1),
  'zeroed-tail': (_, dir) => {
    const path = logOf(dir)
    writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(4096)]))
  },
  'forged-payload': (_, dir) => void forgePayload(dir, '{"not":"a record"}'),
  'forged-document': (_, dir) =>
    void forgeRecord(dir, [{ collection: 'notes', id: 'a', doc: { n: 1.5, text: '' } }]),
  'anchor-missing': (base) => {
    const dir = join(base, 'config', 'keys')
    for (const name of readdirSync(dir)) if (name.endsWith('.anchor')) unlinkSync(join(dir, name))
  },
}

/** An old copy put back: the anchor has moved on since. */
const oldCopy = async (base: string, store: FileStore): Promise<void> => {
  cpSync(join(base, 'state'), join(base, 'old'), { recursive: true })
  await store.transact('publish', (tx) => tx.mark({ policyRevision: 2 }))
  store.close()
  rmSync(join(base, 'state'), { recursive: true })
  cpSync(join(base, 'old'), join(base, 'state'), { recursive: true })
  rmSync(join(base, 'old'), { recursive: true })
}

const [target = ''] = process.argv.slice(2)
const write = (name: string, base: string): void => {
  const path = join(target, `format-${formatVersion}-${name}.json`)
  if (!existsSync(path)) writeFileSync(path, `${JSON.stringify(packed(base), null, 1)}\n`)
}

for (const [name, hurt] of Object.entries(hurts)) {
  const base = mkdtempSync(join(tmpdir(), 'fixture-'))
  const store = await makeSound(base)
  store.close()
  await hurt(base, store.dir)
  write(name, base)
  rmSync(base, { recursive: true })
}
const base = mkdtempSync(join(tmpdir(), 'fixture-'))
await oldCopy(base, await makeSound(base))
write('old-copy', base)
rmSync(base, { recursive: true })
