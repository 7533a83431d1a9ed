/**
 * Two PNGs that differ, looked at once more: whether they are repeats but for rectangles that do
 * not count, and where they are not, whether one small rectangle holds what differs. A pixel counts
 * unless a rectangle holds it.
 */
import { rowDifference, sameSamples, scaleOf } from './compare-png.js'
import { apart } from './comparisons.js'
import { pixelLimit } from './image-limits.js'
import { plainRow, rowsOf, type PngPicture } from './png-picture.js'
import { SmallChange } from './rect.js'
import type { PictureComparison, PixelRect } from './types.js'

/** Pixels of a row from one to before another. */
type Span = readonly [from: number, to: number]

/** What counts of row `y`. */
const countedIn = (ignored: readonly PixelRect[], y: number, width: number): Span[] => {
  const spans: Span[] = []
  let from = 0
  const here = ignored.filter((rect) => y >= rect.y && y < rect.y + rect.height)
  for (const rect of here.sort((a, b) => a.x - b.x)) {
    if (rect.x > from) spans.push([from, rect.x])
    from = Math.max(from, rect.x + rect.width)
  }
  if (from < width) spans.push([from, width])
  return spans
}

/** Halves a span in which something differs until one pixel is left, the first or the last. */
const endOf = (
  [from, to]: Span, isFirst: boolean, differs: (from: number, to: number) => boolean,
): number => {
  let [low, high] = [from, to]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    const isLower = isFirst ? differs(low, middle) : !differs(middle, high)
    if (isLower) high = middle
    else low = middle
  }
  return low
}

/** From the first pixel that differs to behind the last one; null where none of these does. */
const changedIn = (
  spans: readonly Span[], differs: (from: number, to: number) => boolean,
): Span | null => {
  const changed = spans.filter((span) => differs(...span))
  const [first, last] = [changed[0], changed.at(-1)]
  if (first === undefined || last === undefined) return null
  return [endOf(first, true, differs), endOf(last, false, differs) + 1]
}

/** Compares two PNGs of one size that `comparePngs` tells apart. */
export const compareOutsideOfPngs = (
  a: PngPicture, b: PngPicture, ignored: readonly PixelRect[],
): PictureComparison => {
  const { width, height } = a.png
  const { most, level } = scaleOf(a, b)
  const [rowOfA, rowOfB] = [rowsOf(a, most), rowsOf(b, most)]
  const direct = sameSamples(a.png, b.png)
  const change = new SmallChange(width, height)
  let [largest, differs] = [0, false]
  for (let y = 0; y < height; y += 1) {
    if (direct && Buffer.compare(plainRow(a, y), plainRow(b, y)) === 0) continue
    const [one, other] = [rowOfA(y), rowOfB(y)]
    const difference = (from: number, to: number): number =>
      rowDifference(one, other, most, from, to)
    const spans = countedIn(ignored, y, width)
    const here = spans.reduce((top, span) => Math.max(top, difference(...span)), 0)
    largest = Math.max(largest, here)
    if (here <= pixelLimit * level) continue
    differs = true
    const found = changedIn(spans, (from, to) => difference(from, to) > pixelLimit * level)
    if (found === null) continue
    const [x, end] = found
    if (!change.add({ x, y, width: end - x, height: 1 })) return apart()
  }
  return differs
    ? apart(change.rect) : { verdict: 'alike_outside', difference: Math.ceil(largest / level) }
}
