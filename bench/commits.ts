/**
 * Durable commits against SQLite in WAL mode with synchronous=FULL on the same disk, the same
 * ids and documents, one process each, measured in turns; each also in a state whose log is at nine
 * tenths of the length at which it is folded. The ratio is SQLite's median time of a commit over
 * ours; above 1 is faster than SQLite. Ours takes the whole path: lock, catch-up,
 * shape of every document, canonical JSON, hash chain, write, sync. Beside it stands the processor
 * time of a commit, ours over SQLite's: the time of a sync is nobody's work, but hides some.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { sha256Hex } from '../src/base/canonical.js'
import { canonicalText } from '../src/state/log/canonical-text.js'
import { createStore, openStore } from '../src/state/store.js'
import type { CollectionSpec } from '../src/state/types.js'
import { lengthenLog } from './long-log.js'
import { sqlitePeer } from './peers.js'
import type { BenchRow } from './types.js'

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const rowShape = v.strictObject({
  row_id: v.string(),
  ledger_id: v.string(),
  operation_id: v.string(),
  kind: v.picklist(['reserve', 'contact', 'settle']),
  amount_microusd: count,
  previous_digest: v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/)),
  created_at: v.pipe(v.string(), v.isoTimestamp()),
})
type Row = v.InferOutput<typeof rowShape>
const rows: CollectionSpec<Row> = { name: 'rows', schema: rowShape, partition: 'hash256' }

const rowOf = (text: string): Row => ({
  row_id: `row_01900000-0000-7000-8000-${text.padStart(12, '0')}`,
  ledger_id: 'led_01900000-0000-7000-8000-000000000001',
  operation_id: `op_01900000-0000-7000-8000-${text.padStart(12, '0')}`,
  kind: 'reserve',
  amount_microusd: 125_000,
  previous_digest: sha256Hex(text),
  created_at: '2026-01-02T03:04:05.678Z',
})

/**
 * Reads `[id, document text]` rows, group by group; prints the milliseconds of each commit, and the
 * processor time of one on average.
 */
const sqliteProgram = `
import json, sqlite3, sys, time
groups = json.load(sys.stdin)
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute('pragma journal_mode=wal')
db.execute('pragma synchronous=full')
db.execute('create table if not exists rows (id text primary key, doc text)')
times = []
processor = time.process_time()
for group in groups:
    start = time.perf_counter()
    db.execute('begin immediate')
    db.executemany('insert or replace into rows values (?, ?)', group)
    db.execute('commit')
    times.append((time.perf_counter() - start) * 1000)
processor = (time.process_time() - processor) * 1000 / len(groups)
db.close()
print(json.dumps({'commits': times, 'processorMs': processor}))
`

type Groups = readonly (readonly Row[])[]

interface Times {
  /** Milliseconds of each commit. */
  readonly commits: readonly number[]
  /** Processor time of one commit on average, milliseconds. */
  readonly processorMs: number
}

const sqliteTimes = (dir: string, groups: Groups): Times => {
  const input = JSON.stringify(groups.map((group) =>
    group.map((row) => [row.row_id, canonicalText(row)])))
  const options = { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const
  const text = execFileSync('python3', ['-c', sqliteProgram, join(dir, 'rows.db')], options)
  return JSON.parse(text) as Times
}

/** Where our state lies. */
interface Place {
  readonly dir: string
  readonly configDir: string
}

/** How long commits take in a state that was just opened, and closing, where the log is folded. */
const stateTimes = async (
  place: Place, groups: Groups,
): Promise<Times & { readonly closeMs: number }> => {
  const store = openStore({ ...place, mode: 'write' })
  const commits: number[] = []
  const processor = process.cpuUsage()
  for (const group of groups) {
    const start = performance.now()
    await store.transact('bench', (tx) => {
      for (const row of group) tx.put(rows, row.row_id, row)
    })
    commits.push(performance.now() - start)
  }
  const { user, system } = process.cpuUsage(processor)
  const start = performance.now()
  store.close()
  const processorMs = (user + system) / 1000 / groups.length
  return { commits, processorMs, closeMs: performance.now() - start }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

const rounds = 6

const groupsOf = (round: number, commits: number, batch: number): Groups =>
  Array.from({ length: commits }, (_, i) =>
    Array.from({ length: batch }, (__, j) => rowOf(String((round * commits + i) * batch + j))))

interface Case {
  readonly name: string
  readonly commits: number
  readonly batch: number
  readonly target: number
  /** Part of the length at which the log is folded that it has before. */
  readonly log: number
}

const processorRatioMax = 1.5

/** Wall time beside SQLite's, and processor time beside SQLite's. */
const compare = async ({ name, commits, batch, target, log }: Case): Promise<BenchRow[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-bench-'))
  try {
    const [ours, theirs]: [number[], number[]] = [[], []]
    const [ourWork, theirWork]: [number[], number[]] = [[], []]
    const closes: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const groups = groupsOf(round, commits, batch)
      const sqlite = sqliteTimes(dir, groups)
      const place = { dir: join(dir, `state-${round}`), configDir: join(dir, 'config') }
      createStore({ ...place, profile: {} }).close()
      await lengthenLog(place, log)
      const state = await stateTimes(place, groups)
      theirs.push(...sqlite.commits)
      theirWork.push(sqlite.processorMs)
      ours.push(...state.commits)
      ourWork.push(state.processorMs)
      closes.push(state.closeMs)
    }
    const ratio = median(theirs) / median(ours)
    const processorRatio = median(ourWork) / median(theirWork)
    return [{
      name, ratio, target: `at least ${target}`, pass: ratio >= target,
      detail: `median ${median(ours).toFixed(3)} ms a commit, `
        + `SQLite ${median(theirs).toFixed(3)} ms; `
        + `mean ${mean(ours).toFixed(3)} and ${mean(theirs).toFixed(3)} ms; `
        + `closing (fold) ${median(closes).toFixed(0)} ms`,
    }, {
      name: `${name}, processor time`, ratio: processorRatio,
      target: `at most ${processorRatioMax}`, pass: processorRatio <= processorRatioMax,
      detail: `${median(ourWork).toFixed(3)} ms a commit, `
        + `SQLite ${median(theirWork).toFixed(3)} ms`,
    }]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const hasSqlite = (): boolean => {
  try {
    execFileSync('python3', ['-c', 'import sqlite3'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

const long = 'with a log at 90 % of the fold threshold'
const single = { commits: 1000, batch: 1, target: 0.85 }
const batches = { commits: 200, batch: 64, target: 0.9 }
const cases: readonly Case[] = [
  { name: 'durable commits, single', ...single, log: 0 },
  { name: `durable commits, single, ${long}`, ...single, log: 0.9 },
  { name: 'durable commits, batches of 64 rows', ...batches, log: 0 },
  { name: `durable commits, batches of 64 rows, ${long}`, ...batches, log: 0.9 },
]

/** Runs the comparisons; not measured where python3 with sqlite3 is missing. */
export const run = async (): Promise<BenchRow[]> => {
  const found = hasSqlite()
  const done: BenchRow[] = []
  for (const one of cases) {
    done.push(...found ? await compare(one) : [{
      name: one.name, ratio: null, target: `at least ${one.target}`, pass: true,
      detail: 'python3 with its sqlite3 module is not here', needs: sqlitePeer,
    }])
  }
  return done
}
