/** Adds up grey values into cells and makes planes of them. */
import { imageLimits, levelScale } from './image-limits.js'

const side = imageLimits.cellPixels

/** Cells in a row or column of so many pixels. */
export const cellsOf = (pixels: number): number => Math.ceil(pixels / side)

/** Sums of one plane while a picture is read. */
export interface CellSums {
  readonly width: number
  readonly height: number
  readonly columns: number
  /** Sum of weighed grey per cell. */
  readonly sums: Float64Array
}

export const newSums = (width: number, height: number): CellSums => {
  const columns = cellsOf(width)
  return { width, height, columns, sums: new Float64Array(columns * cellsOf(height)) }
}

/** One level of grey as `weigh` counts it. */
export const weightScale = 65_536

/**
 * Averages in 1/64 of a level; edge cells count the pixels that they have. `scale`: what one level
 * of one pixel adds to a sum.
 */
export const planeOf = ({ width, height, sums }: CellSums, scale = weightScale): Uint16Array => {
  const plane = new Uint16Array(sums.length)
  // A constant of another module is a call each time.
  const levels = levelScale
  let cell = 0
  for (let y = 0; y < height; y += side) {
    const rows = Math.min(side, height - y)
    for (let x = 0; x < width; x += side, cell += 1) {
      const pixels = rows * Math.min(side, width - x)
      plane[cell] = Math.round((sums[cell]! * levels) / (pixels * scale))
    }
  }
  return plane
}

/** Luma of a colour in 1/65536 of a level: the weights of JPEG, whose sum is one. Linear. */
export const weigh = (r: number, g: number, b: number): number =>
  r * 19_595 + g * 38_470 + b * 7_471
