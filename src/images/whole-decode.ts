/**
 * Decoding a picture whole, with the libraries: for JPEGs whose luma does not stand alone (RGB,
 * CMYK). Slow and large in memory, so it runs inside the caps and the workers' time limit only.
 */
import jpeg from 'jpeg-js'
import { newSums, planeOf, weigh } from './cells.js'
import { imageLimits } from './image-limits.js'
import { ImageProblem } from './problem.js'
import type { Fingerprint } from './types.js'

const memoryMegabytesMax = 768

/** Averages an opaque RGBA picture. */
const averageRgba = (
  format: Fingerprint['format'], width: number, height: number, rgba: Uint8Array,
): Fingerprint => {
  const grey = newSums(width, height)
  for (let y = 0, at = 0; y < height; y += 1) {
    const first = Math.floor(y / imageLimits.cellPixels) * grey.columns
    for (let x = 0; x < width; x += 1, at += 4) {
      const cell = first + Math.floor(x / imageLimits.cellPixels)
      const level = weigh(rgba[at] ?? 0, rgba[at + 1] ?? 0, rgba[at + 2] ?? 0)
      grey.sums[cell] = (grey.sums[cell] ?? 0) + level
    }
  }
  return { format, width, height, planes: [planeOf(grey)] }
}

/** Throws `ImageProblem` `decode_failed` for whatever the library does not take. */
export const decodeWholeJpeg = (bytes: Uint8Array): Fingerprint => {
  try {
    const { width, height, data } = jpeg.decode(bytes, {
      useTArray: true, formatAsRGBA: true, tolerantDecoding: false,
      maxResolutionInMP: imageLimits.pixelsMax / 1e6, maxMemoryUsageInMB: memoryMegabytesMax,
    })
    return averageRgba('jpeg', width, height, data)
  } catch {
    throw new ImageProblem('decode_failed')
  }
}
