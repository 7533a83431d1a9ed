/**
 * Two JPEGs that differ, looked at once more: whether they are repeats but for rectangles that do
 * not count, and where they are not, whether one small rectangle holds what differs. The pixels of
 * a block are of one piece, so no block counts that a rectangle touches.
 */
import {
  eachCell, equalRows, haveSameTables, leastCommon, meanDifference, rowOf, sameGrid, type Cell,
} from './compare-jpeg.js'
import { apart } from './comparisons.js'
import { blockValues } from './jpeg-blocks.js'
import { intervalsOf, tellsText, type SpanDifference } from './jpeg-intervals.js'
import type { JpegPart, JpegPicture } from './jpeg-picture.js'
import { imageLimits } from './image-limits.js'
import { meet, pixelsIn, SmallChange } from './rect.js'
import type { PictureComparison, PixelRect } from './types.js'

const side = imageLimits.cellPixels

/** Pixels of the finest blocks from one column and row on. */
const placeOf = ({ x, y, w, h }: Cell): PixelRect =>
  ({ x: x * side, y: y * side, width: w * side, height: h * side })

/** What is left of a rectangle within a picture. */
const within = ({ width, height }: JpegPicture, { x, y, ...rect }: PixelRect): PixelRect => ({
  x, y, width: Math.min(rect.width, width - x), height: Math.min(rect.height, height - y),
})

/** What is found of the blocks that count. */
class Outside {
  largest = 0
  differs = false
  readonly #change: SmallChange

  constructor(readonly picture: JpegPicture, readonly ignored: readonly PixelRect[]) {
    this.#change = new SmallChange(picture.width, picture.height)
  }

  /** Takes in what lies in a cell; null: apart. False once there is nothing more to be told. */
  take(cell: Cell, difference: () => number | null): boolean {
    const place = placeOf(cell)
    if (this.ignored.some((rect) => meet(rect, place))) return true
    const found = difference()
    if (found !== null) {
      this.largest = Math.max(this.largest, found)
      return true
    }
    this.differs = true
    return this.#change.add(within(this.picture, place))
  }

  get rect(): PixelRect | null {
    return this.#change.rect
  }
}

const equalOrApart: SpanDifference = (one, other, from, to) => {
  for (let i = from; i < to; i += 1) if (one[i] !== other[i]) return null
  return 0
}

const takeBlocks = (
  outside: Outside, a: JpegPart, b: JpegPart, difference: SpanDifference,
): boolean => {
  const { across: w, down: h } = a
  for (let row = 0; row < a.rows; row += 1) {
    if (difference === equalOrApart && equalRows(a, b, row)) continue
    const [one, other] = [rowOf(a, row), rowOf(b, row)]
    for (let column = 0; column < a.columns; column += 1) {
      const from = column * blockValues
      const goesOn = outside.take({ x: column * w, y: row * h, w, h }, () =>
        difference(one, other, from, from + blockValues))
      if (!goesOn) return false
    }
  }
  return true
}

const grownTo = ({ w, h }: Cell, rect: PixelRect): PixelRect => {
  const [width, height] = [w * side, h * side]
  const [x, y] = [Math.floor(rect.x / width) * width, Math.floor(rect.y / height) * height]
  return {
    x, y,
    width: Math.ceil((rect.x + rect.width) / width) * width - x,
    height: Math.ceil((rect.y + rect.height) / height) * height - y,
  }
}

/**
 * What is ignored of two pictures: nothing where the blocks that would not count are more than half
 * of either, so that a small picture of coarse blocks is never ignored whole.
 */
const ignoredOf = (
  a: JpegPicture, b: JpegPicture, ignored: readonly PixelRect[],
): readonly PixelRect[] => {
  const parts = [...a.parts, ...b.parts]
  const coarsest = {
    x: 0, y: 0, w: parts.reduce((w, { across }) => leastCommon(w, across), 1),
    h: parts.reduce((h, { down }) => leastCommon(h, down), 1),
  }
  const grown = ignored.map((rect) => within(a, grownTo(coarsest, rect)))
  return pixelsIn(grown) * 2 > a.width * a.height ? [] : ignored
}

/** Compares two JPEGs of one size and meaning that `compareJpegs` tells apart. */
export const compareOutsideOfJpegs = (
  a: JpegPicture, b: JpegPicture, ignored: readonly PixelRect[],
): PictureComparison => {
  const exact = haveSameTables(a, b)
  // Every block would be looked at again, for nothing but to say where a change lies.
  if (ignored.length === 0 && !exact) return apart()
  const outside = new Outside(a, ignoredOf(a, b, ignored))
  for (const [index, part] of a.parts.entries()) {
    const other = b.parts[index]!
    const grid = sameGrid(part, other)
    // Luma tells text: where its blocks do not lie on each other, or are too coarse, nothing does.
    if (index === 0 && (!grid || !tellsText(part, other))) return apart()
    const goesOn = grid
      ? takeBlocks(outside, part, other, exact ? equalOrApart : intervalsOf(part, other))
      : eachCell(part, other, (cell) => outside.take(cell, () => meanDifference(part, other, cell)))
    if (!goesOn) return apart()
  }
  return outside.differs
    ? apart(outside.rect) : { verdict: 'alike_outside', difference: outside.largest }
}
