/**
 * Whether two PNGs are repeats of one picture: no channel of any pixel differs by more than two of
 * 255 levels, transparent ones over black and over white. A measure of cells does not tell: what
 * changes in a line of faint text is less than what noise adds up to.
 */
import { without } from './comparisons.js'
import { pixelLimit } from './image-limits.js'
import { plainRow, rowsOf, type PngPicture } from './png-picture.js'
import type { Png } from './png-chunks.js'
import type { PictureComparison } from './types.js'

const sameList = (a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean =>
  a.length === b.length && a.every((one, i) => Buffer.compare(one, b[i]!) === 0)

/** Whether equal bytes of two rows are equal pixels. */
export const sameSamples = (a: Png, b: Png): boolean =>
  !a.interlaced && !b.interlaced && a.depth === b.depth && a.colour === b.colour
  && Buffer.compare(a.palette ?? new Uint8Array(0), b.palette ?? new Uint8Array(0)) === 0
  && a.clear?.join() === b.clear?.join()

/**
 * The largest difference of two rows, from one pixel to before another, in parts of `most` times
 * `most`, so that what shows through stays a whole number. Over black a channel is c * alpha; white
 * adds what alpha leaves.
 */
export const rowDifference = (
  a: Uint16Array, b: Uint16Array, most: number, from: number, to: number,
): number => {
  let largest = 0
  for (let i = from * 4; i < to * 4; i += 4) {
    const [seen, other] = [a[i + 3]!, b[i + 3]!]
    if (seen === most && other === most) {
      for (let at = i; at < i + 3; at += 1) {
        const difference = Math.abs(a[at]! - b[at]!) * most
        if (difference > largest) largest = difference
      }
      continue
    }
    for (let at = i; at < i + 3; at += 1) {
      const black = a[at]! * seen - b[at]! * other
      const white = black + most * (other - seen)
      const difference = Math.max(Math.abs(black), Math.abs(white))
      if (difference > largest) largest = difference
    }
  }
  return largest
}

/** The value of a full channel of two pictures, and one of 255 levels as differences are told. */
export const scaleOf = (
  { png: a }: PngPicture, { png: b }: PngPicture,
): { readonly most: number; readonly level: number } => {
  const most = a.depth === 16 || b.depth === 16 ? 65_535 : 255
  return { most, level: (most * most) / 255 }
}

/** Compares two PNGs, row by row; ends at the first row that differs too much. */
export const comparePngs = (a: PngPicture, b: PngPicture): PictureComparison => {
  const [one, other] = [a.png, b.png]
  if (one.animated || other.animated) return without('animated')
  if (a.orientation !== b.orientation) return without('other_colours')
  if (!sameList(one.colourChunks, other.colourChunks)) return without('other_colours')
  if (one.width !== other.width || one.height !== other.height) return without('differs')
  const { most, level } = scaleOf(a, b)
  const [rowOfA, rowOfB] = [rowsOf(a, most), rowsOf(b, most)]
  const direct = sameSamples(one, other)
  let largest = 0
  for (let y = 0; y < one.height; y += 1) {
    if (direct && Buffer.compare(plainRow(a, y), plainRow(b, y)) === 0) continue
    const here = rowDifference(rowOfA(y), rowOfB(y), most, 0, one.width)
    largest = Math.max(largest, here)
    if (largest > pixelLimit * level) return without('differs')
  }
  return { verdict: largest === 0 ? 'same' : 'alike', difference: Math.ceil(largest / level) }
}
