/**
 * What grows with the number of rows: a store is loaded to 1,000, 10,000, 100,000 and 1,000,000
 * documents by processes that each write a log's worth and close, two thirds of the ids random; at
 * each size it is folded, read, paged and checked, and a copy of it is updated row by row, backed
 * up, restored and repaired. `npm run bench -- growth`; SALLYPORT_GROWTH names the most rows
 * (100,000 unless it is given: a million takes most of an hour and some gigabytes).
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync, cpSync, mkdtempSync, openSync, readdirSync, readSync, rmSync, statSync, writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { backupState } from '../src/state/care/backup.js'
import { checkState } from '../src/state/care/check.js'
import { repairState } from '../src/state/care/repair.js'
import { restoreState } from '../src/state/care/restore.js'
import type { Files } from '../src/state/files.js'
import { nodeFiles } from '../src/state/files.js'
import type { FileStore } from '../src/state/store.js'
import { createStore, openStore } from '../src/state/store.js'
import type { CollectionSpec } from '../src/state/types.js'
import { peakMib } from './peak.js'
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

const docOf = (n: number, change: string): v.InferOutput<typeof shape> => {
  const id = idOf(n)
  return { id, digest: id, text: `${n} ${change}${text}` }
}

/** Bytes of the lines of so many rows as a segment has them. */
const liveBytes = (rows: number): number => {
  let bytes = 0
  for (let n = 0; n < rows; n += 1) {
    const doc = docOf(n, '')
    bytes += JSON.stringify(['images', doc.id, doc]).length + 1
  }
  return bytes
}

/**
 * Writes the rows from `from` to `to`, one opened store for each log's worth. `change` stands in
 * each text: with another one, rows that are there are updated.
 */
const load = async (
  place: Place, from: number, to: number, disk: Counted, change = '',
): Promise<Load> => {
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
          const doc = docOf(i, change)
          tx.put(images, doc.id, doc)
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
    diskBytes: bytesBelow(place.dir),
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

type Care = 'check' | 'backup' | 'restore' | 'repair'

/** Looks after a state; what the measured child process does. */
export const care = async (
  what: Care, dir: string, configDir: string, backup: string,
): Promise<string> => {
  const place = { dir, configDir, specs: [images] }
  const start = performance.now()
  let [ok, documents] = [true, 0]
  if (what === 'check') ({ ok, documents } = checkState(place))
  else if (what === 'restore') await restoreState({ ...place, backup })
  else if (what === 'repair') await repairState(place)
  else {
    const store = openStore({ dir, configDir, mode: 'write' })
    await backupState(store, backup)
    store.close()
  }
  return JSON.stringify({ ok, documents, ms: performance.now() - start, mib: peakMib() })
}

interface Cared {
  readonly ok: boolean
  readonly documents: number
  readonly ms: number
  readonly mib: number
}

const cared = (base: string, what: Care, place: Place): Cared => {
  const program = join(base, 'care.mjs')
  writeFileSync(program, `import { care } from ${JSON.stringify(import.meta.url)}\n` +
    'console.log(await care(...process.argv.slice(2)))\n')
  const child = spawnSync(process.execPath,
    [program, what, place.dir, place.configDir, join(base, 'backup')])
  if (child.status !== 0) throw new Error(`${what} failed: ${child.stderr.toString()}`)
  return JSON.parse(child.stdout.toString()) as Cared
}

/** Milliseconds that `sha256sum` takes over every file of a state; NaN where it is not here. */
const sumMs = (dir: string): number => {
  const paths = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const start = performance.now()
  const { status } = spawnSync('sha256sum', paths)
  return status === 0 ? performance.now() - start : NaN
}

/** Turns one bit in the middle of the longest segment of a state. */
const flipBit = (dir: string): void => {
  const folder = join(dir, 'collections')
  const [longest] = readdirSync(folder).filter((name) => name.endsWith('.seg'))
    .map((name) => join(folder, name)).sort((a, b) => statSync(b).size - statSync(a).size)
  if (longest === undefined) return
  const at = statSync(longest).size >> 1
  const [fd, byte] = [openSync(longest, 'r+'), Buffer.alloc(1)]
  readSync(fd, byte, 0, 1, at)
  byte[0] = (byte[0] ?? 0) ^ 1
  writeSync(fd, byte, 0, 1, at)
  closeSync(fd)
}

/** A line as it is measured: a load of a million rows takes minutes. */
const tell = (rows: BenchRow[], row: BenchRow): void => {
  rows.push(row)
  process.stderr.write(`${row.name}: ${row.ratio?.toFixed(2) ?? '-'} (${row.detail})\n`)
}

const fixed = (value: number, digits = 1): string => value.toFixed(digits)

/** A copy of a state and its keys, for what changes it. */
const copyOf = (base: string, place: Place): Place => {
  const copy = { dir: join(base, 'copy/state'), configDir: join(base, 'copy/config') }
  rmSync(join(base, 'copy'), { recursive: true, force: true })
  cpSync(place.dir, copy.dir, { recursive: true })
  cpSync(place.configDir, copy.configDir, { recursive: true })
  return copy
}

const mebibytesMax = 200
const diskRatioMax = 2
const checkRatioMax = 4

/** What looking after a state of so many rows takes. */
const careRows = (base: string, place: Place, size: number): BenchRow[] => {
  const rows: BenchRow[] = []
  const memory = (what: Care, { ms, mib }: Cared): BenchRow => ({
    name: `growth ${size}: state ${what}, MiB`, ratio: mib, target: `at most ${mebibytesMax}`,
    pass: mib <= mebibytesMax, detail: `${fixed(ms / 1000, 2)} s`,
  })
  const checked = cared(base, 'check', place)
  if (!checked.ok || checked.documents !== size) throw new Error('the check found something')
  const ratio = checked.ms / sumMs(place.dir)
  tell(rows, {
    name: `growth ${size}: state check over sha256sum of its files`,
    ratio: Number.isNaN(ratio) ? null : ratio, target: `at most ${checkRatioMax}`,
    pass: !(ratio > checkRatioMax), detail: `${fixed(checked.ms)} ms`,
  })
  tell(rows, memory('check', checked))
  rmSync(join(base, 'backup'), { recursive: true, force: true })
  tell(rows, memory('backup', cared(base, 'backup', place)))
  const copy = copyOf(base, place)
  tell(rows, memory('restore', cared(base, 'restore', copy)))
  flipBit(copy.dir)
  tell(rows, memory('repair', cared(base, 'repair', copy)))
  return rows
}

const diskRow = (name: string, diskBytes: number, size: number): BenchRow => {
  const ratio = diskBytes / liveBytes(size)
  return {
    name, ratio, target: `at most ${diskRatioMax}`, pass: ratio <= diskRatioMax,
    detail: `${fixed(diskBytes / 1e6)} MB`,
  }
}

/** What the load to a size cost, and what as many updates as rows make of it, on a copy. */
const diskRows = async (
  base: string, place: Place, loaded: Load, closed: Load | undefined,
): Promise<BenchRow[]> => {
  const rows: BenchRow[] = []
  const { rows: size } = loaded
  const ratio = loaded.writtenBytes / loaded.logBytes
  tell(rows, {
    name: `growth ${size}: bytes folded a byte of log`, ratio, target: 'at most 6',
    pass: ratio <= 6, detail: `at most ${loaded.mostRuns} runs`,
  })
  const grown = closed === undefined ? null : loaded.usualCloseMs / closed.usualCloseMs
  tell(rows, {
    name: `growth ${size}: a close that folds, processor time`, ratio: grown,
    target: 'none a decade', pass: true,
    detail: `95 of 100 at most ${fixed(loaded.usualCloseMs)} ms, `
      + `worst ${fixed(loaded.worstCloseMs)} ms`,
  })
  tell(rows, diskRow(`growth ${size}: bytes on disk over live rows`, loaded.diskBytes, size))
  const copy = copyOf(base, place)
  const updated = await load(copy, 0, size, counted(), 'again ')
  const name = `growth ${size}: the same after as many updates as rows`
  tell(rows, diskRow(name, updated.diskBytes, size))
  return rows
}

type Cold = ReturnType<typeof coldTimes>

const coldRows = (size: number, cold: Cold, before: Cold | undefined): BenchRow[] => {
  const rows: BenchRow[] = []
  for (const kind of ['get', 'page'] as const) {
    const grown = before === undefined ? null : cold[kind] / before[kind]
    tell(rows, {
      name: `growth ${size}: ${kind === 'get' ? 'one document' : 'a page of 50'}, cold`,
      ratio: grown, target: 'at most 1.2 a decade', pass: grown === null || grown <= 1.2,
      detail: `${fixed(cold[kind], 2)} ms`,
    })
  }
  return rows
}

const usualMost = 100_000

/** Loads and measures size after size. */
export const run = async (): Promise<BenchRow[]> => {
  const base = mkdtempSync(join(tmpdir(), 'sallyport-growth-'))
  const place = { dir: join(base, 'state'), configDir: join(base, 'config') }
  const rows: BenchRow[] = []
  try {
    createStore({ ...place, profile: {} }).close()
    const disk = counted()
    const most = Number(process.env['SALLYPORT_GROWTH'] ?? usualMost)
    let [cold, closed]: [Cold | undefined, Load | undefined] = [undefined, undefined]
    let from = 0
    for (const size of sizes.filter((one) => one <= most)) {
      const loaded = await load(place, from, size, disk)
      rows.push(...await diskRows(base, place, loaded, closed))
      const now = coldTimes(place, size)
      rows.push(...coldRows(size, now, cold), ...careRows(base, place, size))
      ;[from, cold, closed] = [size, now, loaded]
    }
    return rows
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}
