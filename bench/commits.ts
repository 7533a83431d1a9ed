/**
 * Durable commits against SQLite in WAL mode with synchronous=FULL on the same disk, the same
 * documents, one process each, measured in turns. The ratio is commits per second of the state
 * directory over SQLite's; above 1 is faster than SQLite.
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import * as v from 'valibot'
import { sha256Hex } from '../src/base/canonical.js'
import { createStore } from '../src/state/store.js'
import type { CollectionSpec } from '../src/state/types.js'
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

const sqliteProgram = `
import json, sqlite3, sys, time
path, commits, batch, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
db = sqlite3.connect(path, isolation_level=None)
db.execute('pragma journal_mode=wal')
db.execute('pragma synchronous=full')
db.execute('create table if not exists rows (id text primary key, doc text)')
sample = sys.stdin.read()
docs = [[(f'row_{first + i}_{j}', sample) for j in range(batch)] for i in range(commits)]
start = time.perf_counter()
for group in docs:
    db.execute('begin immediate')
    db.executemany('insert or replace into rows values (?, ?)', group)
    db.execute('commit')
print((time.perf_counter() - start) / commits * 1000)
`

const sqliteMs = (dir: string, commits: number, batch: number, first: number): number =>
  Number(execFileSync('python3', ['-c', sqliteProgram, join(dir, 'rows.db'), String(commits),
    String(batch), String(first)], { input: JSON.stringify(rowOf('1')), encoding: 'utf8' }))

const stateMs = async (
  dir: string, commits: number, batch: number, first: number,
): Promise<number> => {
  const store = createStore({
    dir: join(dir, `state-${first}-${batch}`), configDir: join(dir, 'config'), profile: {},
  })
  const docs = Array.from({ length: commits }, (_, i) =>
    Array.from({ length: batch }, (__, j) => rowOf(`${first + i}${String(j).padStart(3, '0')}`)))
  const start = performance.now()
  for (const group of docs) {
    await store.transact('bench', (tx) => {
      for (const doc of group) tx.put(rows, doc.row_id, doc)
    })
  }
  const ms = (performance.now() - start) / commits
  store.close()
  return ms
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

const rounds = 5

const compare = async (
  name: string, commits: number, batch: number, target: number,
): Promise<BenchRow> => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-bench-'))
  try {
    const [ours, theirs]: [number[], number[]] = [[], []]
    for (let round = 0; round < rounds; round += 1) {
      theirs.push(sqliteMs(dir, commits, batch, round * commits))
      ours.push(await stateMs(dir, commits, batch, round * commits))
    }
    const [our, their] = [median(ours), median(theirs)]
    const ratio = their / our
    const detail = `${our.toFixed(3)} ms a commit, SQLite ${their.toFixed(3)} ms`
    return { name, ratio, target: `at least ${target.toFixed(1)}`, pass: ratio >= target, detail }
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

/** Runs both comparisons; no rows where python3 with sqlite3 is missing. */
export const run = async (): Promise<BenchRow[]> =>
  hasSqlite()
    ? [
        await compare('durable commits, single', 800, 1, 0.7),
        await compare('durable commits, batches of 64 rows', 150, 64, 1.0),
      ]
    : []
