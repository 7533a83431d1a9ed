/** What comparing two whole pictures tells, made in one place. */
import type { PictureComparison, PixelRect } from './types.js'

/** A verdict that tells no difference. */
export const without = (verdict: PictureComparison['verdict']): PictureComparison =>
  ({ verdict, difference: null })

/** Two pictures that differ; `rect`: the small rectangle that holds all that does, if one does. */
export const apart = (rect: PixelRect | null = null): PictureComparison =>
  rect === null ? without('differs') : { ...without('differs'), region: rect }
