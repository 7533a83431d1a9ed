/** Rectangles of pixels, from the top left corner of a picture as its file holds it. Pure. */
import { smallChangeShare } from './limits.js'
import type { PixelRect } from './types.js'

/** Whether two of them have a pixel in common. */
export const meet = (a: PixelRect, b: PixelRect): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height

/** Whether the first one lies in the second. */
export const liesIn = (inner: PixelRect, outer: PixelRect): boolean =>
  inner.x >= outer.x && inner.y >= outer.y
  && inner.x + inner.width <= outer.x + outer.width
  && inner.y + inner.height <= outer.y + outer.height

/** The smallest one that holds both. */
export const around = (a: PixelRect, b: PixelRect): PixelRect => {
  const [x, y] = [Math.min(a.x, b.x), Math.min(a.y, b.y)]
  return {
    x, y,
    width: Math.max(a.x + a.width, b.x + b.width) - x,
    height: Math.max(a.y + a.height, b.y + b.height) - y,
  }
}

const edges = (ends: readonly number[]): number[] => [...new Set(ends)].sort((a, b) => a - b)

/** Pixels that at least one of them holds. */
export const pixelsIn = (rects: readonly PixelRect[]): number => {
  const columns = edges(rects.flatMap(({ x, width }) => [x, x + width]))
  const rows = edges(rects.flatMap(({ y, height }) => [y, y + height]))
  let pixels = 0
  for (const [row, y] of rows.slice(0, -1).entries()) {
    for (const [column, x] of columns.slice(0, -1).entries()) {
      const part = { x, y, width: columns[column + 1]! - x, height: rows[row + 1]! - y }
      if (rects.some((rect) => meet(part, rect))) pixels += part.width * part.height
    }
  }
  return pixels
}

/** A change that is gathered part by part, as long as one small rectangle holds all of it. */
export class SmallChange {
  #rect: PixelRect | null = null
  #isSmall = true
  readonly #pixelsMax: number

  constructor(width: number, height: number) {
    this.#pixelsMax = width * height * smallChangeShare
  }

  /** Takes in a part that differs; false once no small rectangle holds them all. */
  add(part: PixelRect): boolean {
    const rect = this.#rect === null ? part : around(this.#rect, part)
    this.#rect = rect
    this.#isSmall &&= rect.width * rect.height <= this.#pixelsMax
    return this.#isSmall
  }

  /** What holds it; null where nothing differs, or too much. */
  get rect(): PixelRect | null {
    return this.#isSmall ? this.#rect : null
  }
}
