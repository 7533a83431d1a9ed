/**
 * Whether two JPEGs are encodings of one picture. With the same tables their coefficients must be
 * equal. With others each coefficient stands for an interval of what it was before it was rounded,
 * and the two must meet. Decoded pixels do not tell: what encoders of different quality leave apart
 * is more than what changes in a line of faint text.
 */
import { without } from './comparisons.js'
import { blockValues } from './jpeg-blocks.js'
import { allowed, intervalsOf, tellsText } from './jpeg-intervals.js'
import type { JpegPart, JpegPicture } from './jpeg-picture.js'
import type { PictureComparison } from './types.js'

const same = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0
const bytesOf = ({ buffer, byteOffset, byteLength }: Int16Array | Uint16Array): Uint8Array =>
  new Uint8Array(buffer, byteOffset, byteLength)

const sameSteps = (a: JpegPart, b: JpegPart): boolean => same(bytesOf(a.steps), bytesOf(b.steps))

/** Whether blocks of two components lie on each other. */
export const sameGrid = (a: JpegPart, b: JpegPart): boolean =>
  a.across === b.across && a.down === b.down

/** The coefficients of a row of blocks that hold picture. */
export const rowOf = ({ values, stride, columns }: JpegPart, row: number): Int16Array =>
  values.subarray(row * stride * blockValues, (row * stride + columns) * blockValues)

/** Whether a row of blocks has the same coefficients in both. */
export const equalRows = (a: JpegPart, b: JpegPart, row: number): boolean =>
  same(bytesOf(rowOf(a, row)), bytesOf(rowOf(b, row)))

const equalValues = (a: JpegPart, b: JpegPart): boolean => {
  for (let row = 0; row < a.rows; row += 1) if (!equalRows(a, b, row)) return false
  return true
}

const intervalsMeet = (a: JpegPart, b: JpegPart): number | null => {
  const difference = intervalsOf(a, b)
  let largest = 0
  for (let row = 0; row < a.rows; row += 1) {
    const [one, other] = [rowOf(a, row), rowOf(b, row)]
    const here = difference(one, other, 0, one.length)
    if (here === null) return null
    largest = Math.max(largest, here)
  }
  return largest
}

/** Blocks of the finest component: columns and rows, from a first one on. */
export interface Cell {
  readonly x: number
  readonly y: number
  readonly w: number
  readonly h: number
}

/** The mean of the first coefficients of the blocks that lie in a cell; null: none does. */
const meanIn = (
  { values, stride, columns, rows, steps, across, down }: JpegPart,
  cell: Cell,
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

/** The least common multiple of two whole numbers. */
export const leastCommon = (a: number, b: number): number => {
  let sum = a
  while (sum % b !== 0) sum += a
  return sum
}

/** How far the means in a cell are apart; null where that is more than rounding explains. */
export const meanDifference = (a: JpegPart, b: JpegPart, cell: Cell): number | null => {
  const [one, other] = [meanIn(a, cell), meanIn(b, cell)]
  if (one === null || other === null) return 0
  const difference = Math.abs(one - other)
  return difference > allowed(a.steps[0]!, b.steps[0]!) ? null : difference
}

/** Visits the cells that hold whole blocks of both, until one says no; gives whether none did. */
export const eachCell = (a: JpegPart, b: JpegPart, visit: (cell: Cell) => boolean): boolean => {
  const [w, h] = [leastCommon(a.across, b.across), leastCommon(a.down, b.down)]
  const [right, bottom] = [a.columns * a.across, a.rows * a.down]
  for (let y = 0; y < bottom; y += h) {
    for (let x = 0; x < right; x += w) if (!visit({ x, y, w, h })) return false
  }
  return true
}

/** The largest difference of means where one block covers several; null where they are apart. */
const meansMeet = (a: JpegPart, b: JpegPart): number | null => {
  let largest = 0
  const all = eachCell(a, b, (cell) => {
    const difference = meanDifference(a, b, cell)
    if (difference === null) return false
    largest = Math.max(largest, difference)
    return true
  })
  return all ? largest : null
}

const near = (a: JpegPicture, b: JpegPicture): number | null => {
  let largest = 0
  for (const [index, part] of a.parts.entries()) {
    const other = b.parts[index]!
    const grid = sameGrid(part, other)
    // Luma tells text: where its blocks do not lie on each other, or are too coarse, nothing does.
    if (index === 0 && (!grid || !tellsText(part, other))) return null
    const difference = grid ? intervalsMeet(part, other) : meansMeet(part, other)
    if (difference === null) return null
    largest = Math.max(largest, difference)
  }
  return largest
}

const pairsOf = (a: JpegPicture, b: JpegPicture): (readonly [JpegPart, JpegPart])[] =>
  a.parts.map((part, i) => [part, b.parts[i]!] as const)

/** Whether equal coefficients are equal pictures. */
export const haveSameTables = (a: JpegPicture, b: JpegPicture): boolean =>
  pairsOf(a, b).every(([one, other]) => sameGrid(one, other) && sameSteps(one, other))

export const compareJpegs = (a: JpegPicture, b: JpegPicture): PictureComparison => {
  const means = a.meaning.length === b.meaning.length && a.parts.length === b.parts.length
    && a.meaning.every((one, i) => same(one, b.meaning[i]!))
  if (!means) return without('other_colours')
  if (a.width !== b.width || a.height !== b.height) return without('differs')
  const pairs = pairsOf(a, b)
  if (haveSameTables(a, b)) {
    return pairs.every(([one, other]) => equalValues(one, other))
      ? { verdict: 'same', difference: 0 } : without('differs')
  }
  const difference = near(a, b)
  if (difference === null) return without('differs')
  // Means that are equal are no equal pixels.
  const exact = difference === 0 && pairs.every(([one, other]) => sameGrid(one, other))
  return { verdict: exact ? 'same' : 'alike', difference }
}
