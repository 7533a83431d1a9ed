/**
 * A whole process that opens a state and reads one document: from a collection of 100,000 documents
 * against an empty store. The ratio is the larger time over the smaller.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { nodeFiles } from '../src/state/files.js'
import type { Files } from '../src/state/files.js'
import { createStore, openStore } from '../src/state/store.js'
import type { CollectionSpec } from '../src/state/types.js'
import type { BenchRow } from './types.js'

const shape = v.strictObject({
  id: v.string(), digest: v.string(), state: v.string(), bytes: v.number(), at: v.string(),
})
type Doc = v.InferOutput<typeof shape>
const observations: CollectionSpec<Doc> = {
  name: 'observations', schema: shape, partition: 'hash256',
}

const documents = 100_000
const batch = 2_000
const pairs = 21
const wanted = 'obs_0042000'

const docOf = (id: string): Doc => ({
  id, digest: id.repeat(6).slice(0, 64), state: 'pending', bytes: 123_456,
  at: '2026-01-02T03:04:05.678Z',
})

const fill = async (base: string): Promise<void> => {
  const store = createStore({
    dir: join(base, 'full'), configDir: join(base, 'config'), profile: {},
  })
  for (let from = 0; from < documents; from += batch) {
    await store.transact('fill', (tx) => {
      for (let i = from; i < from + batch; i += 1) {
        const id = `obs_${String(i).padStart(7, '0')}`
        tx.put(observations, id, docOf(id))
      }
    })
  }
  store.close()
}

/** Opens one state and reads one document; also what the timed child process does. */
export const readOne = (dir: string, configDir: string, files: Files = nodeFiles): boolean => {
  const store = openStore({ dir, configDir, mode: 'read', files })
  const found = store.read().get(observations, wanted) !== undefined
  store.close()
  return found
}

const bytesRead = (dir: string, configDir: string): number => {
  let bytes = 0
  readOne(dir, configDir, {
    ...nodeFiles,
    read: (fd, buffer, position) => {
      const got = nodeFiles.read(fd, buffer, position)
      bytes += got
      return got
    },
  })
  return bytes
}

const timed = (program: string, base: string, name: string): number => {
  const start = performance.now()
  const child = spawnSync(process.execPath, [program, join(base, name), join(base, 'config')])
  const ms = performance.now() - start
  const expected = name === 'full' ? 'true' : 'false'
  if (child.status !== 0 || child.stdout.toString().trim() !== expected) {
    throw new Error(`the timed process failed: ${child.stderr.toString()}`)
  }
  return ms
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

const sizeOf = (dir: string): number =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

/** Fills a store, then times both kinds of process in turns. */
export const run = async (): Promise<BenchRow[]> => {
  const base = mkdtempSync(join(tmpdir(), 'sallyport-bench-'))
  try {
    await fill(base)
    createStore({ dir: join(base, 'empty'), configDir: join(base, 'config'), profile: {} }).close()
    const program = join(base, 'read-one.mjs')
    writeFileSync(program, `import { readOne } from ${JSON.stringify(import.meta.url)}\n` +
      'console.log(readOne(process.argv[2], process.argv[3]))\n')
    const [full, empty]: [number[], number[]] = [[], []]
    for (let pair = 0; pair < pairs; pair += 1) {
      full.push(timed(program, base, 'full'))
      empty.push(timed(program, base, 'empty'))
    }
    const [fullMs, emptyMs] = [median(full), median(empty)]
    const ratio = fullMs / emptyMs
    const read = bytesRead(join(base, 'full'), join(base, 'config'))
    const detail = `${fullMs.toFixed(1)} ms against ${emptyMs.toFixed(1)} ms; ` +
      `${read} of ${sizeOf(join(base, 'full'))} bytes read`
    return [{
      name: `open ${documents} documents, read one`,
      ratio, target: 'at most 1.2', pass: ratio <= 1.2, detail,
    }]
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}
