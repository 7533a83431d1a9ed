/**
 * What the code host will write: a plan of 64 MiB in 2,000 bodies as one pack, and histories of
 * 4,096 entries. `npm run bench -- large`.
 */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  closeSync, copyFileSync, fsyncSync, mkdtempSync, openSync, rmSync, writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import type { Files } from '../src/state/files.js'
import { nodeFiles } from '../src/state/files.js'
import { historyHead, historyPage } from '../src/state/history/read-history.js'
import { historySpec } from '../src/state/history/spec.js'
import type { FileStore } from '../src/state/store.js'
import { createStore, openStore } from '../src/state/store.js'
import type { ArtifactRef, Store, View } from '../src/state/types.js'
import { peakMib } from './peak.js'
import type { BenchRow } from './types.js'

const label = 'bench.plan.v1'
const bodies = 2_000
const bodyBytes = Math.floor((64 * 1024 * 1024) / bodies)
const jobs = Number(process.env['SALLYPORT_JOBS'] ?? 100)
const entriesMax = 4_096
const looks = 21

const steps = historySpec({
  name: 'steps', entry: v.strictObject({ n: v.number(), text: v.string() }),
})

interface Place {
  readonly dir: string
  readonly configDir: string
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0

const timed = (fn: () => unknown): number => {
  const start = performance.now()
  fn()
  return performance.now() - start
}

const fixed = (value: number, digits = 1): string => value.toFixed(digits)

const writePack = (store: Store, source: Buffer): ArtifactRef => {
  const pack = store.artifacts.writePack(label)
  for (let n = 0; n < bodies; n += 1) {
    const at = (n * 4_099) % (source.length - bodyBytes)
    pack.add(`src/${n}.ts`, source.subarray(at, at + bodyBytes))
  }
  return pack.finish()
}

/** In a process of its own: writes and reads a whole pack; its peak memory above the start's. */
export const packInChild = (dir: string, configDir: string): string => {
  const store = openStore({ dir, configDir, mode: 'write' })
  const before = peakMib()
  const ref = writePack(store, randomBytes(1024 * 1024))
  const written = peakMib()
  store.artifacts.verify(label, ref)
  const read = peakMib()
  const reader = store.artifacts.openPack(label, ref)
  reader.read('src/1000.ts')
  return JSON.stringify({ before, written, read, opened: reader.opened })
}

const packRows = (base: string, place: Place): BenchRow[] => {
  const store = openStore({ ...place, mode: 'write' })
  const source = randomBytes(1024 * 1024)
  const plain = join(base, 'plain')
  writeFileSync(plain, Buffer.concat(Array.from({ length: 64 }, () => source)))
  const [ours, copies]: [number[], number[]] = [[], []]
  for (let n = 0; n < 5; n += 1) {
    ours.push(timed(() => writePack(store, source)))
    copies.push(timed(() => {
      copyFileSync(plain, join(base, `copy-${n}`))
      const fd = openSync(join(base, `copy-${n}`), 'r')
      fsyncSync(fd)
      closeSync(fd)
    }))
  }
  store.close()
  const program = join(base, 'pack.mjs')
  writeFileSync(program, `import { packInChild } from ${JSON.stringify(import.meta.url)}\n` +
    'console.log(packInChild(process.argv[2], process.argv[3]))\n')
  const child = spawnSync(process.execPath, [program, place.dir, place.configDir])
  const { before, written, read, opened } = JSON.parse(child.stdout.toString()) as
    Record<'before' | 'written' | 'read' | 'opened', number>
  const peak = Math.max(written, read)
  return [
    {
      name: 'large: a pack of 64 MiB over cp and fsync', ratio: median(ours) / median(copies),
      target: 'printed', pass: true,
      detail: `${fixed(median(ours))} ms over ${fixed(median(copies))} ms`,
    },
    {
      name: 'large: peak MiB of a process that writes and verifies a pack of 64 MiB', ratio: peak,
      target: 'at most 128', pass: peak <= 128,
      detail: `${fixed(before)} at its start, ${fixed(written)} written, ${fixed(read)} read`,
    },
    {
      name: 'large: pieces opened for one body', ratio: opened, target: '1', pass: opened === 1,
      detail: `of ${bodies} bodies of ${bodyBytes} bytes`,
    },
  ]
}

const fill = async (store: FileStore, key: string, bytes: number): Promise<void> => {
  const text = 'x'.repeat(Math.floor(bytes / entriesMax) - '{"n":1000,"text":""}\n'.length)
  const length = entriesMax - looks - 1
  const entries = Array.from({ length }, (_, n) => ({ n: 1_000 + n % 9, text }))
  const head = historyHead(store.read(), steps, key)
  await store.transact('fill', (tx) => tx.append(steps, key, head, entries))
}

/** Medians of one look in a store opened for it alone, and the segment reads of one. */
const cold = (place: Place, look: (view: View) => unknown): { ms: number; reads: number } => {
  let reads = 0
  const files: Files = {
    ...nodeFiles,
    read: (fd, buffer, position) => {
      reads += 1
      return nodeFiles.read(fd, buffer, position)
    },
  }
  const times = Array.from({ length: looks }, () => {
    const store = openStore({ ...place, mode: 'read', files })
    try {
      const view = store.read()
      reads = 0
      return timed(() => look(view))
    } finally {
      store.close()
    }
  })
  return { ms: median(times), reads }
}

const readOne = (view: View): unknown =>
  historyPage(view, steps, 'job_000', { after: 2_000, limit: 1 })
const readPage = (view: View): unknown =>
  historyPage(view, steps, 'job_000', { after: 2_000, limit: 50 })

/** How long the lock is held for an append of one entry, the sync of the log included. */
const appendMs = async (store: FileStore, key: string): Promise<readonly number[]> => {
  const times: number[] = []
  for (let n = 0; n < looks; n += 1) {
    const head = historyHead(store.read(), steps, key)
    let start = 0
    await store.transact('append', (tx) => {
      start = performance.now()
      tx.append(steps, key, head, [{ n, text: '' }])
    })
    times.push(performance.now() - start)
  }
  return times
}

const historyRows = async (place: Place): Promise<BenchRow[]> => {
  const store = openStore({ ...place, mode: 'write' }) as FileStore
  await fill(store, 'job_000', steps.bytesMax - looks * 40)
  await store.exclusive('fold', () => store.checkpoint())
  const alone = [cold(place, readOne), cold(place, readPage)] as const
  for (let n = 1; n <= jobs; n += 1) {
    await fill(store, `job_${String(n).padStart(3, '0')}`, 1024 * 1024)
  }
  await store.exclusive('fold', () => store.checkpoint())
  const among = [cold(place, readOne), cold(place, readPage)] as const
  const times = await appendMs(store, 'job_000')
  const { bytes, entries } = historyHead(store.read(), steps, 'job_000')
  store.close()
  const grown = (i: 0 | 1, what: string): BenchRow => ({
    name: `large: ${what} of a history, ${jobs} others over none`,
    ratio: among[i].reads / alone[i].reads, target: 'at most 1.3',
    pass: among[i].reads <= 1.3 * alone[i].reads,
    detail: `${among[i].reads} reads of files over ${alone[i].reads}; cold ` +
      `${fixed(among[i].ms, 2)} ms over ${fixed(alone[i].ms, 2)} ms`,
  })
  return [
    grown(0, 'one entry'), grown(1, 'a page of 50'),
    {
      name: 'large: lock held for an append, ms', ratio: median(times), target: 'at most 20',
      pass: median(times) <= 20,
      detail: `worst ${fixed(Math.max(...times))}; ${entries} entries, ${bytes} bytes, ` +
        'the sync of the log included',
    },
  ]
}

/** Packs and histories, side by side with what they are compared with. */
export const run = async (): Promise<BenchRow[]> => {
  const base = mkdtempSync(join(tmpdir(), 'sallyport-large-'))
  const place = { dir: join(base, 'state'), configDir: join(base, 'config') }
  try {
    createStore({ ...place, profile: {} }).close()
    return [...packRows(base, place), ...await historyRows(place)]
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}
