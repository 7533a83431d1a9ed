/** Two whole pictures, compared: what a fingerprint that is alike is confirmed by. */
import { formatOf } from './facts.js'
import { compareJpegs } from './compare-jpeg.js'
import { comparePngs } from './compare-png.js'
import { readJpegPicture, type JpegPicture } from './jpeg-picture.js'
import { readPngPicture, type PngPicture, type Wanted } from './png-picture.js'
import { ImageProblem } from './problem.js'
import type { PictureComparison } from './types.js'

/** A decoded picture. */
export type Picture = PngPicture | JpegPicture

/** Nothing is known of the two. */
export const notCompared: PictureComparison = { verdict: 'not_compared', difference: null }

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

const differs: PictureComparison = { verdict: 'differs', difference: null }

/** Compares two decoded pictures; ones of two formats differ (S-074). Never throws. */
export const comparePictures = (a: Picture | null, b: Picture | null): PictureComparison =>
  orNull(() => {
    if (a?.format === 'png' && b?.format === 'png') return comparePngs(a, b)
    if (a?.format === 'jpeg' && b?.format === 'jpeg') return compareJpegs(a, b)
    return a === null || b === null ? notCompared : differs
  }) ?? notCompared
