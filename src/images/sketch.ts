/**
 * A sketch of a picture: its fingerprint in cells of 64x64 pixels, small enough to be kept of many.
 * Where no cell of two fingerprints is further apart than a limit, no cell of their sketches is:
 * averages of cells lie no further apart than the cells. So a sketch may refuse and never overlooks
 * a repeat; what it lets pass is compared as the gate compares. Pure.
 */
import { imageLimits, levelScale, visualLimit } from './image-limits.js'
import type { Fingerprint, PixelRect } from './types.js'

/** Side of a sketch's cell, in pixels. */
export const sketchPixels = 64

/** Shape of a fingerprint, with larger cells: row after row, `ceil(width / 64)` each. */
export type Sketch = Fingerprint

const fine = imageLimits.cellPixels
const perSide = sketchPixels / fine

const columnsOf = (pixels: number): number => Math.ceil(pixels / sketchPixels)

/** Cells of a sketch of a picture of this size, of one plane. */
export const sketchCellsOf = (width: number, height: number): number =>
  columnsOf(width) * columnsOf(height)

const coarser = (plane: Uint16Array, width: number, height: number): Uint16Array => {
  const [columns, rows] = [Math.ceil(width / fine), Math.ceil(height / fine)]
  const across = columnsOf(width)
  const sums = new Float64Array(across * columnsOf(height))
  const counts = new Uint32Array(sums.length)
  for (let y = 0; y < rows; y += 1) {
    for (let x = 0; x < columns; x += 1) {
      const at = Math.floor(y / perSide) * across + Math.floor(x / perSide)
      sums[at]! += plane[y * columns + x]!
      counts[at]! += 1
    }
  }
  return Uint16Array.from(sums, (sum, i) => Math.round(sum / counts[i]!))
}

export const sketchOf = ({ format, width, height, planes }: Fingerprint): Sketch =>
  ({ format, width, height, planes: planes.map((plane) => coarser(plane, width, height)) })

/** What two sketches may be apart that are alike, in 1/64 of a level; 1: both are rounded. */
const alikeAtMost = visualLimit * levelScale + 1

/** Cells that a rectangle touches: of them nothing is known. */
const touched = ({ width, height }: Sketch, rects: readonly PixelRect[]): ReadonlySet<number> => {
  const across = columnsOf(width)
  const cells = new Set<number>()
  for (const rect of rects) {
    const [left, right] = [Math.floor(rect.x / sketchPixels), columnsOf(rect.x + rect.width)]
    const foot = Math.min(columnsOf(rect.y + rect.height), columnsOf(height))
    for (let row = Math.floor(rect.y / sketchPixels); row < foot; row += 1) {
      for (let column = left; column < Math.min(right, across); column += 1) {
        cells.add(row * across + column)
      }
    }
  }
  return cells
}

/**
 * How far apart two pictures may be at least, by their sketches, in 1/64 of a level; null where no
 * comparison of the two could find them alike outside of the rectangles.
 */
export const sketchesApart = (
  a: Sketch, b: Sketch, ignored: readonly PixelRect[],
): number | null => {
  if (a.format !== b.format || a.width !== b.width || a.height !== b.height) return null
  const left = touched(a, ignored)
  let most = 0
  for (let plane = 0; plane < Math.max(a.planes.length, b.planes.length); plane += 1) {
    // An opaque picture looks the same over black and over white.
    const [one, other] = [a.planes[plane] ?? a.planes[0]!, b.planes[plane] ?? b.planes[0]!]
    for (let i = 0; i < one.length; i += 1) {
      if (left.has(i)) continue
      most = Math.max(most, Math.abs(one[i]! - other[i]!))
      if (most > alikeAtMost) return null
    }
  }
  return most
}
