/** Two programs measured in turns, so that whatever else the machine does meets both alike. */
import { spawnSync } from 'node:child_process'

/** A program to run to its end. */
export interface Program {
  /** Arguments of Node. */
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly stdin?: string
}

/** Medians of the wall time of both, milliseconds. */
export interface Pair {
  readonly oursMs: number
  readonly theirsMs: number
  readonly ratio: number
}

/** The value in the middle. */
export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN

/** Runs a program once; gives its wall time in milliseconds. Throws when it fails. */
export const timed = ({ args, env = process.env, stdin = '' }: Program): number => {
  const start = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { env, input: stdin })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${status}: ${String(stderr)}`)
  return performance.now() - start
}

/** Measures `pairs` interleaved runs of both after one of each that does not count. */
export const compare = (ours: Program, theirs: Program, pairs: number): Pair => {
  timed(theirs)
  timed(ours)
  const [our, their]: [number[], number[]] = [[], []]
  for (let pair = 0; pair < pairs; pair += 1) {
    their.push(timed(theirs))
    our.push(timed(ours))
  }
  const [oursMs, theirsMs] = [median(our), median(their)]
  return { oursMs, theirsMs, ratio: oursMs / theirsMs }
}
