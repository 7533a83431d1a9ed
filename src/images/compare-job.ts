/**
 * A comparison as a thread does it. The picture that stands for others is compared with one after
 * another, so its rows stay in the thread's memory while it is the one and not too large.
 */
import { comparePictures, readPicture, type Picture } from './compare.js'
import { imageLimits } from './image-limits.js'
import type { PictureComparison, PixelRect } from './types.js'

/** What a thread is asked. */
export interface CompareJob {
  readonly bytes: Uint8Array
  readonly standing: {
    /** Lowercase hex SHA-256 of its bytes, which is known to be theirs. */
    readonly sha256: string
    readonly bytes: Uint8Array
  }
  /** What of both does not count, where they are not repeats as a whole. */
  readonly ignored?: readonly PixelRect[]
}

/** The picture that was compared with last. */
let held: { readonly sha256: string; readonly picture: Picture } | null = null

const standingPicture = ({ sha256, bytes }: CompareJob['standing']): Picture | null => {
  if (held?.sha256 === sha256) return held.picture
  held = null
  const picture = readPicture(bytes)
  if (picture !== null && picture.bytes <= imageLimits.heldBytesMax) held = { sha256, picture }
  return picture
}

/** Compares a picture with the one that stands for others. Never throws for any bytes. */
export const compareWithStanding = (
  { bytes, standing, ignored = [] }: CompareJob,
): PictureComparison => {
  const picture = standingPicture(standing)
  return comparePictures(picture, picture === null ? null : readPicture(bytes, 'passing'), ignored)
}
