/**
 * Chance that can be had again: what a test leaves to chance follows from the seed of the run,
 * which is printed, and from a name of its own. `npm test -- FILE --seed N` makes the same choices.
 */
import { createHash } from 'node:crypto'

/** A source of numbers. */
export interface Chance {
  /** A number from 0 up to, but without, 1. */
  next(): number
  /** A whole number from 0 up to, but without, `count`. */
  below(count: number): number
  /** One of a list that is not empty. */
  pick<T>(list: readonly T[]): T
  /** The same entries in another order. */
  shuffled<T>(list: readonly T[]): T[]
}

/** The seed of this run; 1 where a test was not started by `npm test`. */
export const runSeed = (): number => Number(process.env['SALLYPORT_TEST_SEED'] ?? '1')

/** Mulberry32: small, quick, and even enough to choose cases by. */
const numbersOf = (seed: number): (() => number) => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Chance of this name in this run. Two of one name give the same numbers, so that each place that
 * chooses has a name of its own.
 */
export const chanceOf = (name: string, seed = runSeed()): Chance => {
  const next = numbersOf(createHash('sha256').update(`${seed} ${name}`).digest().readUInt32BE(0))
  const below = (count: number): number => Math.floor(next() * count)
  return {
    next,
    below,
    pick: (list) => {
      if (list.length === 0) throw new RangeError(`nothing to pick for ${name}`)
      return list[below(list.length)]!
    },
    shuffled: (list) => {
      const left = [...list]
      return list.map(() => left.splice(below(left.length), 1)[0]!)
    },
  }
}
