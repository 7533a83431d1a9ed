/** Rectangles of pixels, from the top left corner of a picture as its file holds it. Pure. */
import { smallChangeShare } from './image-limits.js'
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

/** A rectangle that is larger by so many pixels on each side. */
export const grown = ({ x, y, width, height }: PixelRect, by: number): PixelRect =>
  ({ x: x - by, y: y - by, width: width + 2 * by, height: height + 2 * by })

/** What of a picture lies outside of a rectangle, in at most four. */
export const outsideOf = (
  { x, y, width, height }: PixelRect, screen: Pick<PixelRect, 'width' | 'height'>,
): readonly PixelRect[] => {
  const [right, foot] = [x + width, y + height]
  return [
    { x: 0, y: 0, width: screen.width, height: y },
    { x: 0, y: foot, width: screen.width, height: screen.height - foot },
    { x: 0, y, width: x, height },
    { x: right, y, width: screen.width - right, height },
  ].filter((one) => one.width > 0 && one.height > 0)
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

/** A change that is gathered part by part, as long as a rectangle of a share holds all of it. */
export class SmallChange {
  #rect: PixelRect | null = null
  #isSmall = true
  readonly #pixelsMax: number

  constructor(width: number, height: number, share = smallChangeShare) {
    this.#pixelsMax = width * height * share
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
