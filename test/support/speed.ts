/**
 * How fast this machine is now. No test judges by the clock on the wall; a limit stands only
 * against what hangs, and is told as so many starts of Node, so that it grows with the load.
 */
import { spawnSync } from 'node:child_process'

/** What the process that runs many test files has measured for all of them, milliseconds. */
const given = (): number => Number(process.env['SALLYPORT_TEST_START_MS'] ?? '0')

/** Less than this no start takes anywhere; milliseconds. */
const startMsMin = 60

/** So many starts are measured: a single one may meet a moment that is no other's. */
const samples = 5

const oneStart = (): number => {
  const begin = performance.now()
  spawnSync(process.execPath, ['-e', '0'])
  return performance.now() - begin
}

const measured = (): number =>
  Array.from({ length: samples }, oneStart).sort((a, b) => a - b)[Math.floor(samples / 2)] ?? 0

let known: number | undefined

/** What one start of Node takes now, milliseconds: the median of five, measured once. */
export const startMs = (): number => (known ??= Math.max(startMsMin, given() || measured()))

/** A limit of so many starts of Node, milliseconds; at least 60 for each. */
export const timeOf = (starts: number): number => Math.ceil(starts * startMs())

/** What any one thing may take that a test waits for: a minute and more, milliseconds. */
export const patienceMs = (): number => timeOf(1_000)
