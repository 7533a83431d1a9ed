/**
 * The local work of the largest publication: 2,000 files of 64 MiB through one supervisor, from its
 * start record to its marker, by its own clock. `npm run bench -- producer`.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { producerLimits } from '../src/codehost/producer/producer-limits.js'
import { clear, producing } from '../test/support/codehost/producing.js'
import type { BenchRow } from './types.js'

const files = 2_000
const fileBytes = Math.floor((64 * 1024 * 1024) / files)
const rounds = 3

const contentOf = (kind: 'text' | 'incompressible', n: number): Buffer =>
  kind === 'text' ? Buffer.from(`${n} `.padEnd(fileBytes, 'words in a line\n'))
    : randomBytes(fileBytes)

const secondsOf = async (kind: 'text' | 'incompressible'): Promise<number> => {
  const contents = Object.fromEntries(Array.from({ length: files }, (_, n) =>
    [`part-${n % 40}/of-${n % 7}/file-${n}`, contentOf(kind, n)]))
  const produced = await producing({
    files: contents, helper: join(process.cwd(), 'dist/producer.js'),
  })
  try {
    const verdict = await produced.start()
    if (!verdict.quiescent || !verdict.complete) throw new Error(verdict.reason ?? '')
    return Number(BigInt(verdict.marker.ended_ns) - BigInt(verdict.start.started_ns)) / 1e9
  } finally {
    clear(produced)
  }
}

/** Both kinds of content. */
export const run = async (): Promise<BenchRow[]> => {
  process.env['SALLYPORT_TEST_APP'] ??= join(process.cwd(), 'dist')
  const rows: BenchRow[] = []
  for (const kind of ['text', 'incompressible'] as const) {
    const all: number[] = []
    for (let n = 0; n < rounds; n += 1) all.push(await secondsOf(kind))
    const worst = Math.max(...all)
    const share = (worst * 1000) / producerLimits.wallMs
    rows.push({
      name: `producer: ${files} files, 64 MiB, ${kind}, share of the 30 s`, ratio: share,
      target: 'below 1', pass: share < 1,
      detail: `${all.map((one) => one.toFixed(2)).join(', ')} s from start record to marker`,
    })
  }
  return rows
}
