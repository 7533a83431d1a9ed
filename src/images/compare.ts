/** Two whole pictures, compared: what a fingerprint that is alike is confirmed by. */
import { formatOf } from './facts.js'
import { compareOutsideOfJpegs } from './compare-jpeg-outside.js'
import { compareJpegs } from './compare-jpeg.js'
import { compareOutsideOfPngs } from './compare-png-outside.js'
import { comparePngs } from './compare-png.js'
import { apart, without } from './comparisons.js'
import { readJpegPicture, type JpegPicture } from './jpeg-picture.js'
import { readPngPicture, type PngPicture, type Wanted } from './png-picture.js'
import { ImageProblem } from './problem.js'
import type { PictureComparison, PixelRect } from './types.js'

/** A decoded picture. */
export type Picture = PngPicture | JpegPicture

/** Nothing is known of the two. */
export const notCompared: PictureComparison = without('not_compared')

/** What `run` gives; null where a picture is not to be had. */
const orNull = <T>(run: () => T): T | null => {
  try {
    return run()
  } catch (error) {
    // Memory that cannot be had leaves one pair unconfirmed.
    if (error instanceof ImageProblem || error instanceof RangeError) return null
    throw error
  }
}

/**
 * Decodes bytes whose facts were accepted; null where that is not to be had. A `passing` one is
 * good until the next one is decoded.
 */
export const readPicture = (bytes: Uint8Array, wanted: Wanted = 'lasting'): Picture | null =>
  orNull(() => formatOf(bytes) === 'png' ? readPngPicture(bytes, wanted) : readJpegPicture(bytes))

const pngs = (a: PngPicture, b: PngPicture, ignored: readonly PixelRect[]): PictureComparison => {
  const whole = comparePngs(a, b)
  const sameSize = a.png.width === b.png.width && a.png.height === b.png.height
  return whole.verdict === 'differs' && sameSize ? compareOutsideOfPngs(a, b, ignored) : whole
}

const jpegs = (
  a: JpegPicture, b: JpegPicture, ignored: readonly PixelRect[],
): PictureComparison => {
  const whole = compareJpegs(a, b)
  const sameSize = a.width === b.width && a.height === b.height
  return whole.verdict === 'differs' && sameSize ? compareOutsideOfJpegs(a, b, ignored) : whole
}

/**
 * Compares two decoded pictures; ones of two formats differ (S-074). `ignored`: what of them does
 * not count, where they are not repeats as a whole. Never throws.
 */
export const comparePictures = (
  a: Picture | null, b: Picture | null, ignored: readonly PixelRect[] = [],
): PictureComparison =>
  orNull(() => {
    if (a?.format === 'png' && b?.format === 'png') return pngs(a, b, ignored)
    if (a?.format === 'jpeg' && b?.format === 'jpeg') return jpegs(a, b, ignored)
    return a === null || b === null ? notCompared : apart()
  }) ?? notCompared
