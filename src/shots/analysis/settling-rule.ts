/**
 * Which picture stands for one whose region goes on changing: a video, a page that is scrolled, a
 * text that is typed. Of such a region one picture in so many seconds is paid for, the last one.
 * A picture is stood for only where all of this holds:
 * - the change into it meets the change before it: the region was changing already;
 * - both lie in a rectangle of at most a quarter of the picture, and nothing outside of that
 *   changes up to the picture that stands for it;
 * - what it brought was not taken back until then: a dialog that comes and goes is asked about.
 * Pure; the two whole pictures are compared outside of the rectangle before anything is decided.
 */
import { compareOutside, smallChangeOf } from '../../images/fingerprint.js'
import { visualLimit } from '../../images/image-limits.js'
import { around, grown, liesIn, meet } from '../../images/rect.js'
import type { Fingerprint, PixelRect } from '../../images/types.js'

/**
 * Part of a picture that a region which goes on changing may be, as much as may be ignored of one:
 * in a larger one another page, or another window, looks like more of the same.
 */
const shareMax = 0.25
/** Changes as near as this are of one region, pixels: a word that is typed behind another. */
const gap = 16
/** How much of a side a change may leave out and still be one of the whole region. */
const edgeShare = 0.1
/** The same in pixels, at most: a line of text beside a video is no edge of it. */
const edgeMax = 8

/** Pictures of one format and size, in the order in which they were captured. */
export interface Passage {
  readonly twoBefore: Fingerprint
  readonly before: Fingerprint
  readonly now: Fingerprint
  /** Those of the seconds behind it. */
  readonly later: readonly Fingerprint[]
  /** What does not count of any of them. */
  readonly ignored: readonly PixelRect[]
}

/** The region, and which of the later pictures may stand for this one. */
export interface Stood {
  readonly region: PixelRect
  /** Places in `later`, the last one first; never empty. */
  readonly by: readonly number[]
}

const isAlike = (a: Fingerprint, b: Fingerprint, ignored: readonly PixelRect[]): boolean => {
  const { comparable, measure } = compareOutside(a, b, ignored)
  return comparable && measure <= visualLimit
}

const within = (rect: PixelRect, { width, height }: Fingerprint): PixelRect => {
  const [x, y] = [Math.max(0, rect.x), Math.max(0, rect.y)]
  return {
    x, y,
    width: Math.min(width, rect.x + rect.width) - x,
    height: Math.min(height, rect.y + rect.height) - y,
  }
}

/** Where it goes on changing; null where it does not, or where that is no part of the screen. */
const changingRegion = (
  { twoBefore, before, now, ignored }: Passage, change: PixelRect,
): PixelRect | null => {
  const earlier = smallChangeOf(twoBefore, before, ignored, shareMax)
  if (earlier === null || !meet(grown(earlier, gap), change)) return null
  const region = within(grown(around(earlier, change), gap), now)
  return region.width * region.height <= now.width * now.height * shareMax ? region : null
}

const edgeOf = (pixels: number): number => Math.min(pixels * edgeShare, edgeMax)

/** Whether what a change brought is still another than before it: from edge to edge, nearly. */
const isKept = (change: PixelRect, since: PixelRect | null): boolean => {
  if (since === null) return false
  const [x, y] = [edgeOf(change.width), edgeOf(change.height)]
  return liesIn({
    x: change.x + x, y: change.y + y, width: change.width - 2 * x, height: change.height - 2 * y,
  }, since)
}

/** Which later pictures may stand for this one; null where none may. */
export const stoodFor = (passage: Passage): Stood | null => {
  const { twoBefore, before, now, later, ignored } = passage
  const isSameKind = [twoBefore, before].every((one) => compareOutside(one, now, []).comparable)
  if (!isSameKind || isAlike(twoBefore, now, ignored)) return null
  const change = smallChangeOf(before, now, ignored, shareMax)
  const region = change === null ? null : changingRegion(passage, change)
  if (change === null || region === null) return null
  const by: number[] = []
  for (const [at, one] of later.entries()) {
    if (!isAlike(later[at - 1] ?? now, one, [...ignored, region])) break
    if (isKept(change, smallChangeOf(before, one, ignored, shareMax))) by.unshift(at)
  }
  return by.length === 0 ? null : { region, by }
}
