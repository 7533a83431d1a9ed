/**
 * Whether two JPEGs are encodings of one picture. With the same tables their coefficients must be
 * equal. With others each coefficient stands for an interval of what it was before it was rounded,
 * and the two must meet. Decoded pixels do not tell: what encoders of different quality leave apart
 * is more than what changes in a line of faint text.
 */
import { blockValues } from './jpeg-blocks.js'
import type { JpegPart, JpegPicture } from './jpeg-picture.js'
import type { PictureComparison } from './types.js'

/** What transforms of whole numbers may be apart, beside the rounding of coefficients. */
const transformSlack = 1

const without = (verdict: PictureComparison['verdict']): PictureComparison =>
  ({ verdict, difference: null })

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0
const bytesOf = ({ buffer, byteOffset, byteLength }: Int16Array | Uint16Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

const sameSteps = (a: JpegPart, b: JpegPart): boolean => same(bytesOf(a.steps), bytesOf(b.steps))

const sameGrid = (a: JpegPart, b: JpegPart): boolean =>
  a.across === b.across && a.down === b.down

const rowOf = ({ values, stride, columns }: JpegPart, row: number): Int16Array =>
  values.subarray(row * stride * blockValues, (row * stride + columns) * blockValues)

const equalValues = (a: JpegPart, b: JpegPart): boolean => {
  for (let row = 0; row < a.rows; row += 1) {
    if (!same(bytesOf(rowOf(a, row)), bytesOf(rowOf(b, row)))) return false
  }
  return true
}

/** Half of either step, within which each was rounded. */
const allowed = (a: number, b: number): number => (a + b) / 2 + transformSlack

/** The largest difference of coefficients of one grid; null where two intervals do not meet. */
const intervalsMeet = (a: JpegPart, b: JpegPart): number | null => {
  const [stepsOfA, stepsOfB] = [a.steps, b.steps]
  const limits = Float64Array.from(stepsOfA, (step, k) => allowed(step, stepsOfB[k]!))
  let largest = 0
  for (let row = 0; row < a.rows; row += 1) {
    const [one, other] = [rowOf(a, row), rowOf(b, row)]
    for (let i = 0; i < one.length; i += 1) {
      const [x, y] = [one[i]!, other[i]!]
      if (x === 0 && y === 0) continue
      const k = i & (blockValues - 1)
      const difference = Math.abs(x * stepsOfA[k]! - y * stepsOfB[k]!)
      if (difference > limits[k]!) return null
      if (difference > largest) largest = difference
    }
  }
  return largest
}

/** The mean of the first coefficients of the blocks that lie in a cell; null: none does. */
const meanIn = (
  { values, stride, columns, rows, steps, across, down }: JpegPart,
  cell: { readonly x: number; readonly y: number; readonly w: number; readonly h: number },
): number | null => {
  const [right, bottom] = [
    Math.min(columns, (cell.x + cell.w) / across), Math.min(rows, (cell.y + cell.h) / down),
  ]
  let [sum, blocks] = [0, 0]
  for (let row = cell.y / down; row < bottom; row += 1) {
    for (let column = cell.x / across; column < right; column += 1) {
      sum += values[(row * stride + column) * blockValues]!
      blocks += 1
    }
  }
  return blocks === 0 ? null : (sum * steps[0]!) / blocks
}

const leastCommon = (a: number, b: number): number => {
  let sum = a
  while (sum % b !== 0) sum += a
  return sum
}

/** The largest difference of means where one block covers several; null where they are apart. */
const meansMeet = (a: JpegPart, b: JpegPart): number | null => {
  const [w, h] = [leastCommon(a.across, b.across), leastCommon(a.down, b.down)]
  const limit = allowed(a.steps[0]!, b.steps[0]!)
  const [right, bottom] = [a.columns * a.across, a.rows * a.down]
  let largest = 0
  for (let y = 0; y < bottom; y += h) {
    for (let x = 0; x < right; x += w) {
      const [one, other] = [meanIn(a, { x, y, w, h }), meanIn(b, { x, y, w, h })]
      if (one === null || other === null) continue
      const difference = Math.abs(one - other)
      if (difference > limit) return null
      largest = Math.max(largest, difference)
    }
  }
  return largest
}

const near = (a: JpegPicture, b: JpegPicture): number | null => {
  let largest = 0
  for (const [index, part] of a.parts.entries()) {
    const other = b.parts[index]!
    const grid = sameGrid(part, other)
    // Luma tells text: where its blocks do not lie on each other, nothing does.
    if (!grid && index === 0) return null
    const difference = grid ? intervalsMeet(part, other) : meansMeet(part, other)
    if (difference === null) return null
    largest = Math.max(largest, difference)
  }
  return largest
}

/** Compares two JPEGs. */
export const compareJpegs = (a: JpegPicture, b: JpegPicture): PictureComparison => {
  const means = a.meaning.length === b.meaning.length && a.parts.length === b.parts.length
    && a.meaning.every((one, i) => same(one, b.meaning[i]!))
  if (!means) return without('other_colours')
  if (a.width !== b.width || a.height !== b.height) return without('differs')
  const pairs = a.parts.map((part, i) => [part, b.parts[i]!] as const)
  if (pairs.every(([one, other]) => sameGrid(one, other) && sameSteps(one, other))) {
    return pairs.every(([one, other]) => equalValues(one, other))
      ? { verdict: 'same', difference: 0 } : without('differs')
  }
  const difference = near(a, b)
  if (difference === null) return without('differs')
  // Means that are equal are no equal pixels.
  const exact = difference === 0 && pairs.every(([one, other]) => sameGrid(one, other))
  return { verdict: exact ? 'same' : 'alike', difference }
}
