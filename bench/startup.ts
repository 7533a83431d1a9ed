/** How long a light command takes beside an empty Node program, by medians of interleaved pairs. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compare } from './pairs.js'
import { withPlace, type BenchPlace } from './place.js'
import type { BenchRow } from './types.js'

const pairs = 40

interface Case {
  readonly name: string
  readonly argv: readonly string[]
  readonly ratioMax: number
}

const cases: readonly Case[] = [
  { name: 'sallyport --version', argv: ['--version'], ratioMax: 1.25 },
  { name: 'sallyport alpha show', argv: ['alpha', 'show'], ratioMax: 1.6 },
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
  withPlace((place) => {
    setUp(place)
    return cases.map((one) => measure(one, place))
  })
