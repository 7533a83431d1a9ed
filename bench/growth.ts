/**
 * What grows with the number of rows: a store is loaded to 1,000, 10,000, 100,000 and 1,000,000
 * documents by processes that each write a log's worth and close, two thirds of the ids random;
 * at each size it is folded, read, paged and checked. `npm run bench -- growth`.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { checkState } from '../src/state/care/check.js'
import type { Files } from '../src/state/files.js'
import { nodeFiles } from '../src/state/files.js'
import type { FileStore } from '../src/state/store.js'
import { createStore, openStore } from '../src/state/store.js'
import type { CollectionSpec } from '../src/state/types.js'
import type { BenchRow } from './types.js'

const shape = v.strictObject({ id: v.string(), digest: v.string(), text: v.string() })
const images: CollectionSpec<v.InferOutput<typeof shape>> = {
  name: 'images', schema: shape, partition: 'hash256',
}
const sizes = [1_000, 10_000, 100_000, 1_000_000]
const rowsARecord = 64
const recordsAClose = 7
const coldReads = 15

/** Every third id follows the time, the others are digests. */
const idOf = (n: number): string =>
  n % 3 === 0 ? `t_${String(n).padStart(12, '0')}`
    : createHash('sha256').update(String(n)).digest('hex')

const text = 'The quick brown fox jumps over the lazy dog. '.repeat(8)

/** What one size cost. */
interface Load {
  readonly rows: number
  readonly logBytes: number
  readonly writtenBytes: number
  readonly worstCloseMs: number
  /** 95 of 100 closes took no longer; processor time. */
  readonly usualCloseMs: number
  readonly mostRuns: number
  readonly diskBytes: number
}

interface Counted {
  readonly files: Files
  log: number
  other: number
}

/** The disk, with the bytes written to logs and to snapshot files. */
const counted = (): Counted => {
  const paths = new Map<number, string>()
  const all: Counted = {
    log: 0, other: 0,
    files: {
      ...nodeFiles,
      open: (path, intent) => {
        const fd = nodeFiles.open(path, intent)
        paths.set(fd, path)
        return fd
      },
      write: (fd, bytes, position) => {
        const path = paths.get(fd) ?? ''
        if (path.endsWith('.log')) all.log += bytes.length
        else if (path.includes('collections')) all.other += bytes.length
        return nodeFiles.write(fd, bytes, position)
      },
    },
  }
  return all
}

const share = (values: readonly number[], part: number): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length * part)] ?? NaN

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

const bytesBelow = (dir: string): number =>
  readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)

interface Place {
  readonly dir: string
  readonly configDir: string
}

/** Loads from `from` to `to` rows, one opened store for each log's worth. */
const load = async (place: Place, from: number, to: number, disk: Counted): Promise<Load> => {
  const closes: number[] = []
  let [mostRuns, n] = [0, from]
  while (n < to) {
    const store = openStore({ ...place, mode: 'write', files: disk.files }) as FileStore
    mostRuns = Math.max(mostRuns, store.generation.manifest.runs.length)
    for (let record = 0; record < recordsAClose && n < to; record += 1) {
      const first = n
      n = Math.min(to, n + rowsARecord)
      await store.transact('load', (tx) => {
        for (let i = first; i < n; i += 1) {
          const id = idOf(i)
          tx.put(images, id, { id, digest: id, text: `${i} ${text}` })
        }
      })
    }
    const start = process.cpuUsage()
    store.close()
    const { user, system } = process.cpuUsage(start)
    closes.push((user + system) / 1000)
  }
  return {
    rows: to, logBytes: disk.log, writtenBytes: disk.other, mostRuns,
    worstCloseMs: Math.max(...closes), usualCloseMs: share(closes, 0.95),
    diskBytes: bytesBelow(join(place.dir, 'collections')),
  }
}

/** One document and one page of 50, each by a store that was just opened; milliseconds. */
const coldTimes = (place: Place, rows: number): { readonly get: number; readonly page: number } => {
  const [gets, pages]: [number[], number[]] = [[], []]
  for (let i = 0; i < coldReads; i += 1) {
    const id = idOf(Math.floor(((i + 0.5) / coldReads) * rows))
    for (const kind of ['get', 'page'] as const) {
      const store = openStore({ ...place, mode: 'read' })
      const start = performance.now()
      const view = store.read()
      const found = kind === 'get'
        ? view.get(images, id) : view.range(images, { after: id, limit: 50 })
      if (found === undefined) throw new Error('a row is missing')
      ;(kind === 'get' ? gets : pages).push(performance.now() - start)
      store.close()
    }
  }
  return { get: median(gets), page: median(pages) }
}

/** Checks a state; what the measured child process does. */
export const check = (dir: string, configDir: string): string => {
  const start = performance.now()
  const { ok, documents } = checkState({ dir, configDir, specs: [images] })
  const { maxRSS } = process.resourceUsage()
  return JSON.stringify({ ok, documents, ms: performance.now() - start, mib: maxRSS / 1024 })
}

const checked = (base: string, place: Place, rows: number): { ms: number; mib: number } => {
  const program = join(base, 'check.mjs')
  writeFileSync(program, `import { check } from ${JSON.stringify(import.meta.url)}\n` +
    'console.log(check(process.argv[2], process.argv[3]))\n')
  const child = spawnSync(process.execPath, [program, place.dir, place.configDir])
  const report = JSON.parse(child.stdout.toString()) as
    { ok: boolean; documents: number; ms: number; mib: number }
  if (!report.ok || report.documents !== rows) throw new Error('the check found something')
  return report
}

/** A line as it is measured: a load of a million rows takes minutes. */
const tell = (rows: BenchRow[], row: BenchRow): void => {
  rows.push(row)
  process.stderr.write(`${row.name}: ${row.ratio?.toFixed(2) ?? '-'} (${row.detail})\n`)
}

const fixed = (value: number, digits = 1): string => value.toFixed(digits)

/** Loads and measures size after size. */
export const run = async (): Promise<BenchRow[]> => {
  const base = mkdtempSync(join(tmpdir(), 'sallyport-growth-'))
  const place = { dir: join(base, 'state'), configDir: join(base, 'config') }
  const rows: BenchRow[] = []
  try {
    createStore({ ...place, profile: {} }).close()
    const disk = counted()
    const most = Number(process.env['SALLYPORT_GROWTH'] ?? sizes.at(-1))
    let before: { readonly get: number; readonly page: number } | undefined
    let from = 0
    for (const size of sizes.filter((one) => one <= most)) {
      const loaded = await load(place, from, size, disk)
      from = size
      const ratio = loaded.writtenBytes / loaded.logBytes
      tell(rows, {
        name: `growth ${size}: bytes folded a byte of log`, ratio, target: 'at most 6',
        pass: ratio <= 6,
        detail: `close ${fixed(loaded.usualCloseMs)} ms (95 of 100), ` +
          `worst ${fixed(loaded.worstCloseMs)} ms; ` +
          `at most ${loaded.mostRuns} runs; ${fixed(loaded.diskBytes / 1e6)} MB on disk`,
      })
      const cold = coldTimes(place, size)
      for (const kind of ['get', 'page'] as const) {
        const grown = before === undefined ? null : cold[kind] / before[kind]
        tell(rows, {
          name: `growth ${size}: ${kind === 'get' ? 'one document' : 'a page of 50'}, cold`,
          ratio: grown, target: 'at most 1.2 a decade', pass: grown === null || grown <= 1.2,
          detail: `${fixed(cold[kind], 2)} ms`,
        })
      }
      before = cold
      const { ms, mib } = checked(base, place, size)
      tell(rows, {
        name: `growth ${size}: state check, MiB`, ratio: mib, target: 'at most 200',
        pass: mib <= 200, detail: `${fixed(ms / 1000, 2)} s`,
      })
    }
    return rows
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}
