/**
 * How long a light command takes beside an empty Node program, by medians of interleaved pairs,
 * with a short log and with one at nine tenths of the length at which it is folded.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lengthenLog } from './long-log.js'
import { compare } from './pairs.js'
import { withPlace, type BenchPlace } from './place.js'
import type { BenchRow } from './types.js'

const pairs = 40

interface Case {
  readonly name: string
  readonly argv: readonly string[]
  readonly ratioMax: number
  /** Part of the length at which the log is folded. */
  readonly log: number
}

const cases: readonly Case[] = [
  { name: 'sallyport --version', argv: ['--version'], ratioMax: 1.25, log: 0 },
  { name: 'sallyport alpha show', argv: ['alpha', 'show'], ratioMax: 1.75, log: 0 },
  {
    name: 'sallyport alpha show, with a log at 90 % of the fold threshold',
    argv: ['alpha', 'show'], ratioMax: 1.95, log: 0.9,
  },
]

/** A small state as it is after the first set-up; the provider is named, not contacted. */
const setUp = (place: BenchPlace): void => {
  const keyFile = join(place.dir, 'key')
  writeFileSync(keyFile, 'a-key-that-is-never-sent\n', { mode: 0o600 })
  place.run('init')
  place.run('login')
  place.run(
    'alpha', 'setup', '--enable', '--acknowledge-plaintext-egress', '--api-key-file', keyFile,
    '--max-output-tokens', '200', '--timeout-seconds', '20',
    '--request-cost-bound-microusd', '1000', '--spend-ceiling-microusd', '100000',
    '--expected-policy-revision', '1',
  )
}

const measure = ({ name, argv, ratioMax }: Case, place: BenchPlace): BenchRow => {
  const { ratio, oursMs, theirsMs } = compare(place.line(argv), { args: ['-e', '0'] }, pairs)
  return {
    name,
    ratio,
    target: `at most ${ratioMax}`,
    pass: ratio <= ratioMax,
    detail: `${oursMs.toFixed(1)} ms beside ${theirsMs.toFixed(1)} ms of node -e 0`,
  }
}

/** Each command against `node -e 0`. */
export const run = async (): Promise<BenchRow[]> =>
  withPlace(async (place) => {
    setUp(place)
    const rows: BenchRow[] = []
    for (const one of cases) {
      await lengthenLog({ dir: place.stateDir, configDir: place.configDir }, one.log)
      rows.push(measure(one, place))
    }
    return rows
  })
