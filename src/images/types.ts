/** What is known of an image without looking at anything but its bytes. */

/** The two formats there are; told by the bytes, never by a name (S-061). */
export type ImageFormat = 'png' | 'jpeg'

/** Why bytes are no image that is taken, or why a picture could not be looked into. Closed list. */
export const imageReasons = [
  'empty', 'not_an_image', 'too_many_bytes', 'too_many_pixels', 'truncated', 'header_damaged',
  'data_damaged', 'unsupported', 'decode_timed_out', 'decode_failed',
] as const
/** One of `imageReasons`. */
export type ImageReason = (typeof imageReasons)[number]

/** Facts out of the header. */
export interface ImageFacts {
  readonly format: ImageFormat | null
  /** Pixels; null where the header does not tell. */
  readonly width: number | null
  readonly height: number | null
  /** The last bytes are those that end this format (PNG IEND, JPEG EOI). */
  readonly endsProperly: boolean
  /** Why this is refused (`empty`, `not_an_image`, `too_many_…`), or null. */
  readonly reason: ImageReason | null
}

/**
 * Average grey of cells of 8x8 pixels from the top left corner, in 1/64 of a level. Two planes
 * where the picture has transparent parts: composited over black and over white.
 */
export interface Fingerprint {
  readonly format: ImageFormat
  readonly width: number
  readonly height: number
  /** Row after row, `ceil(width / 8)` cells each. */
  readonly planes: readonly Uint16Array[]
}

/** What was made of one buffer. */
export interface Examined {
  /** Lowercase hex SHA-256 of the bytes. */
  readonly sha256: string
  readonly facts: ImageFacts
  readonly fingerprint: Fingerprint | null
  /** Why there is no fingerprint; null when there is one. */
  readonly reason: ImageReason | null
}

/** What two whole pictures are to each other. Closed list. */
const pictureVerdicts = [
  /** The same pixels, or the same coefficients. */
  'same',
  /** Equal but for what noise or another encoder's rounding explains. */
  'alike',
  /** The same, or alike, but for pixels in rectangles that do not count. */
  'alike_outside',
  'differs',
  /** Their numbers do not mean the same: colours, profile, orientation. */
  'other_colours',
  'animated',
  /** Too large, of a kind that is not compared, or not to be read in time. */
  'not_compared',
] as const

/** A part of a picture, in pixels from its top left corner; width and height are at least 1. */
export interface PixelRect {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** How two whole pictures compare. */
export interface PictureComparison {
  readonly verdict: (typeof pictureVerdicts)[number]
  /**
   * Largest difference of `same`, `alike` and `alike_outside`: of a PNG in levels of 255, rounded
   * up; of a JPEG of a coefficient as it is after its quantization is undone. Null for the others.
   */
  readonly difference: number | null
  /** Of `differs`: the small rectangle that holds whatever differs and counts, where one does. */
  readonly region?: PixelRect
}
