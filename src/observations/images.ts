/**
 * Which images of an observation lie in a period: its own, and those like it, each at its own time.
 * Text, JSON and page count by this one rule, so that the reports of periods that meet count every
 * image once.
 */
import type { ScreenObservationInput, ScreenReportInput } from './types.js'

interface TimedImages {
  readonly at: string
  readonly images: number
}

/** What of an observation is in a period. */
export interface PeriodImages {
  /** All of them: its own and the like ones. */
  readonly images: number
  readonly likeImages: number
  readonly times: readonly TimedImages[]
}

type Times = Pick<ScreenObservationInput, 'capturedAt' | 'likeImages' | 'likeTimes'>
type Period = Pick<ScreenReportInput, 'since' | 'until'>

const sum = (times: readonly TimedImages[]): number =>
  times.reduce((images, one) => images + one.images, 0)

/** Images of an observation in a period. Like ones without a known time count at the image's. */
export const imagesIn = (
  { capturedAt, likeImages, likeTimes = [] }: Times, { since, until }: Period,
): PeriodImages => {
  const inside = ({ at }: { readonly at: string }): boolean => at >= since && at < until
  const own = inside({ at: capturedAt })
  const untimed = own ? Math.max(0, likeImages - sum(likeTimes)) : 0
  const like = likeTimes.filter(inside)
  const times = own ? [{ at: capturedAt, images: 1 + untimed }, ...like] : like
  return { images: sum(times), likeImages: untimed + sum(like), times }
}
