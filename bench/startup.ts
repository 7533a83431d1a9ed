/** How long a light command takes beside an empty Node program, by medians of interleaved pairs. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BenchRow } from './types.js'

const pairs = 40
const program = join(process.cwd(), 'bin/sallyport.js')

interface Case {
  readonly name: string
  readonly args: readonly string[]
  readonly ratioMax: number
}

const cases: readonly Case[] = [
  { name: 'sallyport --version', args: ['--version'], ratioMax: 1.25 },
  { name: 'sallyport alpha show', args: ['alpha', 'show'], ratioMax: 1.6 },
]

/** Each command against `node -e 0`. */
export const run = async (): Promise<BenchRow[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-bench-'))
  const env = {
    ...process.env,
    SALLYPORT_STATE_DIR: join(dir, 'state'),
    SALLYPORT_CONFIG_DIR: join(dir, 'config'),
  }
  try {
    timed([program, 'init'], env)
    timed([program, 'login'], env)
    return cases.map((one) => compare(one, env))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

const compare = ({ name, args, ratioMax }: Case, env: NodeJS.ProcessEnv): BenchRow => {
  const ours: number[] = []
  const empty: number[] = []
  for (let pair = 0; pair < pairs; pair += 1) {
    empty.push(timed(['-e', '0'], env))
    ours.push(timed([program, ...args], env))
  }
  const ratio = median(ours) / median(empty)
  return {
    name,
    ratio,
    target: `at most ${ratioMax}`,
    pass: ratio <= ratioMax,
    detail: `${median(ours).toFixed(1)} ms beside ${median(empty).toFixed(1)} ms of node -e 0`,
  }
}

const timed = (args: readonly string[], env: NodeJS.ProcessEnv): number => {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { env })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${String(stderr)}`)
  return performance.now() - start
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] as number
