/**
 * What two roundings of one coefficient may leave apart. Equal steps round one number to one
 * coefficient; other steps leave two intervals that must meet. In coarse steps of luma a changed
 * digit of faint text meets them as well as a repeat does, so they confirm nothing.
 */
import { blockValues } from './jpeg-blocks.js'
import type { JpegPart } from './jpeg-picture.js'

/** What transforms of whole numbers may be apart, beside the rounding of coefficients. */
const transformSlack = 0.5

/** Steps up to this one are so fine that two transforms may round one number to neighbours. */
const fineStep = 3

/** Steps are near where none is this many times the other: they nearly round alike. */
const nearRatio = 1.5

/** How far the differences of a block may be above the mean of independent roundings. */
const energyDeviations = 12

/** Steps of luma of ITU-T T.81, table K.1, in the order of files; halved they are quality 75. */
const lumaStepsK1 = [
  16, 11, 12, 14, 12, 10, 16, 14, 13, 14, 18, 17, 16, 19, 24, 40,
  26, 24, 22, 22, 24, 49, 35, 37, 29, 40, 58, 51, 61, 60, 57, 51,
  56, 55, 64, 72, 92, 78, 64, 68, 87, 69, 55, 56, 80, 109, 81, 87,
  95, 98, 103, 104, 103, 62, 77, 113, 121, 112, 100, 120, 92, 101, 103, 99,
] as const

/**
 * Whether steps of luma that differ are fine enough to tell faint text: none coarser than those of
 * quality 75. In 3,000 pairs of coarser tables 21 changed digits (contrast of 16 to 31 levels) met
 * every interval, in 3,000 of finer ones none. Pure.
 */
export const tellsText = (a: JpegPart, b: JpegPart): boolean => lumaStepsK1.every((k1, k) => {
  const [one, other] = [a.steps[k]!, b.steps[k]!]
  return one === other || Math.max(one, other) <= Math.floor((k1 + 1) / 2)
})

/** Half of either step, within which each was rounded. */
export const allowed = (a: number, b: number): number => (a + b) / 2 + transformSlack

/** The largest difference of one coefficient of two blocks that lie on each other. */
const allowedOf = (a: number, b: number): number => {
  const [fine, coarse] = [Math.min(a, b), Math.max(a, b)]
  if (fine <= fineStep) return allowed(a, b)
  if (a === b) return 0
  return coarse < nearRatio * fine ? (a + b) / 2 : allowed(a, b)
}

/**
 * The largest difference of coefficients of whole blocks, from one place to before another; null
 * where they are no roundings of one picture.
 */
export type SpanDifference =
  (one: Int16Array, other: Int16Array, from: number, to: number) => number | null

/** How blocks of two components are apart that lie on each other. */
export const intervalsOf = (a: JpegPart, b: JpegPart): SpanDifference => {
  const [stepsOfA, stepsOfB] = [a.steps, b.steps]
  const limits = Float64Array.from(stepsOfA, (step, k) => allowedOf(step, stepsOfB[k]!))
  // One over the variance of a difference of two independent roundings; 0: equal steps.
  const weights = Float64Array.from(stepsOfA, (step, k) =>
    (step === stepsOfB[k]! ? 0 : 12 / (step * step + stepsOfB[k]! * stepsOfB[k]!)))
  const block = (one: Int16Array, other: Int16Array, from: number): number | null => {
    let [largest, energy, counted] = [0, 0, 0]
    for (let k = 0; k < blockValues; k += 1) {
      const [x, y] = [one[from + k]!, other[from + k]!]
      if (x === 0 && y === 0) continue
      const difference = Math.abs(x * stepsOfA[k]! - y * stepsOfB[k]!)
      if (difference > limits[k]!) return null
      if (difference > largest) largest = difference
      if (weights[k]! === 0) continue
      energy += difference * difference * weights[k]!
      counted += 1
    }
    return energy > counted + energyDeviations * Math.sqrt(counted) ? null : largest
  }
  return (one, other, from, to) => {
    let largest = 0
    for (let i = from; i < to; i += blockValues) {
      const here = block(one, other, i)
      if (here === null) return null
      if (here > largest) largest = here
    }
    return largest
  }
}
