/**
 * Durable commits against SQLite in WAL mode with synchronous=FULL on the same disk, the same
 * ids and documents, one process each, measured in turns. The ratio is SQLite's median time of a
 * commit over ours; above 1 is faster than SQLite. Ours takes the whole path: lock, catch-up, shape
 * of every document, canonical JSON, hash chain, write, sync.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { sha256Hex } from '../src/base/canonical.js'
import { canonicalText } from '../src/state/log/canonical-text.js'
import { createStore } from '../src/state/store.js'
import type { CollectionSpec } from '../src/state/types.js'
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

/** Reads `[id, document text]` rows, group by group; prints the milliseconds of each commit. */
const sqliteProgram = `
import json, sqlite3, sys, time
groups = json.load(sys.stdin)
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute('pragma journal_mode=wal')
db.execute('pragma synchronous=full')
db.execute('create table if not exists rows (id text primary key, doc text)')
times = []
for group in groups:
    start = time.perf_counter()
    db.execute('begin immediate')
    db.executemany('insert or replace into rows values (?, ?)', group)
    db.execute('commit')
    times.append((time.perf_counter() - start) * 1000)
db.close()
print(json.dumps(times))
`

type Groups = readonly (readonly Row[])[]

const sqliteTimes = (dir: string, groups: Groups): number[] => {
  const input = JSON.stringify(groups.map((group) =>
    group.map((row) => [row.row_id, canonicalText(row)])))
  const options = { input, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 } as const
  const text = execFileSync('python3', ['-c', sqliteProgram, join(dir, 'rows.db')], options)
  return JSON.parse(text) as number[]
}

interface OurTimes {
  readonly commits: readonly number[]
  /** Milliseconds that closing took, where the log is folded. */
  readonly closeMs: number
}

const stateTimes = async (dir: string, name: string, groups: Groups): Promise<OurTimes> => {
  const store = createStore({
    dir: join(dir, name), configDir: join(dir, 'config'), profile: {},
  })
  const commits: number[] = []
  for (const group of groups) {
    const start = performance.now()
    await store.transact('bench', (tx) => {
      for (const row of group) tx.put(rows, row.row_id, row)
    })
    commits.push(performance.now() - start)
  }
  const start = performance.now()
  store.close()
  return { commits, closeMs: performance.now() - start }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

const rounds = 6

const groupsOf = (round: number, commits: number, batch: number): Groups =>
  Array.from({ length: commits }, (_, i) =>
    Array.from({ length: batch }, (__, j) => rowOf(String((round * commits + i) * batch + j))))

const compare = async (
  name: string, commits: number, batch: number, target: number,
): Promise<BenchRow> => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-bench-'))
  try {
    const [ours, theirs]: [number[], number[]] = [[], []]
    const closes: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      const groups = groupsOf(round, commits, batch)
      theirs.push(...sqliteTimes(dir, groups))
      const { commits: times, closeMs } = await stateTimes(dir, `state-${round}`, groups)
      ours.push(...times)
      closes.push(closeMs)
    }
    const ratio = median(theirs) / median(ours)
    const detail =
      `median ${median(ours).toFixed(3)} ms a commit, SQLite ${median(theirs).toFixed(3)} ms; ` +
      `mean ${mean(ours).toFixed(3)} and ${mean(theirs).toFixed(3)} ms; ` +
      `closing (fold) ${median(closes).toFixed(0)} ms`
    const pass = ratio >= target
    return { name, ratio, target: `at least ${target.toFixed(1)}`, pass, detail }
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

const cases = [
  { name: 'durable commits, single', commits: 1000, batch: 1, target: 0.7 },
  { name: 'durable commits, batches of 64 rows', commits: 200, batch: 64, target: 1.0 },
] as const

/** Runs both comparisons; not measured where python3 with sqlite3 is missing. */
export const run = async (): Promise<BenchRow[]> => {
  const found = hasSqlite()
  const done: BenchRow[] = []
  for (const { name, commits, batch, target } of cases) {
    done.push(found ? await compare(name, commits, batch, target) : {
      name, ratio: null, target: `at least ${target.toFixed(1)}`, pass: true,
      detail: 'python3 with its sqlite3 module is not here', needs: sqlitePeer,
    })
  }
  return done
}
