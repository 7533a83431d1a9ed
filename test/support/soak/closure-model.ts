/**
 * Random histories of one deployment against the reference model of closing capacity. Each run has
 * a seed of its own, which alone replays it: `SALLYPORT_MODEL_SEED=N`; what it finds is made
 * shorter then.
 */
import * as fc from 'fast-check'
import { chanceOf } from '../chance.js'
import { Deployment } from '../codehost/model/deployment.js'
import { Drive } from '../codehost/model/drive.js'
import { histories } from '../codehost/model/operations.js'
import type { Teardown } from '../../world/place.js'

/** What a loop of histories came to. */
export interface ModelReport {
  readonly runs: number
  /** What their operations came to, counted. */
  readonly outcomes: Readonly<Record<string, number>>
}

const seedGiven = (): number | null => {
  const given = process.env['SALLYPORT_MODEL_SEED']
  return given === undefined ? null : Number(given)
}

const replayed = (seed: number): string =>
  `seed ${seed}; alone: SALLYPORT_MODEL_SEED=${seed} npm run soak 1 closure-model`

/** One history by its seed; `shrink` looks for a shorter one that fails as well. */
const runSeed = async (
  at: Deployment, seed: number, shrink: boolean, outcomes: Record<string, number>,
): Promise<void> => {
  const details = await fc.check(fc.asyncProperty(histories, async (history) => {
    const drive = new Drive(at)
    await drive.live(history)
    for (const [name, times] of drive.outcomes) outcomes[name] = (outcomes[name] ?? 0) + times
  }), { seed, numRuns: 1, endOnFailure: !shrink })
  if (!details.failed) return
  const history = details.counterexample?.[0].map((one) => JSON.stringify(one)).join('\n')
  const error = details.errorInstance
  throw new Error(`${error instanceof Error ? error.message : String(error)}\n${
    replayed(seed)}\n${String(history)}`, { cause: error })
}

/** Lives so many histories, from a first seed on. */
export const closureModel = async (
  t: Teardown, runs: number, firstSeed: number,
): Promise<ModelReport> => {
  const alone = seedGiven()
  const at = await Deployment.make(t)
  const outcomes: Record<string, number> = {}
  const seeds = alone === null
    ? Array.from({ length: runs }, (_, n) => firstSeed + n) : [alone]
  for (const seed of seeds) await runSeed(at, seed, alone !== null, outcomes)
  return { runs: seeds.length, outcomes }
}

const seedsMax = 2 ** 30

/** The long loop: seeds that follow from that of the run, printed. */
export const run = async (rounds: number): Promise<void> => {
  const undo: (() => Promise<void> | void)[] = []
  const first = chanceOf('closure-model').below(seedsMax)
  process.stdout.write(`seeds ${first} to ${first + rounds - 1}\n`)
  try {
    const report = await closureModel({ teardown: (done) => void undo.push(done) }, rounds, first)
    process.stdout.write(`${JSON.stringify(report)}\n`)
  } finally {
    for (const done of undo.reverse()) await done()
  }
}
