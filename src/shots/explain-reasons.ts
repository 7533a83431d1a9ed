/** Why a file became what it became, by reason code. */
export const explainReasons: Readonly<Record<string, string>> = {
  same_bytes: 'these very bytes were observed under this folder',
  same_bytes_elsewhere: 'these very bytes were observed under another folder',
  same_bytes_suppressed: 'these very bytes were suppressed for another image before',
  found_again: 'these very bytes were missing and are back',
  looks_alike: 'it is equal to the image before but for small differences',
  same_picture: 'it is equal to the image before, in other bytes',
  alike_outside_ignored:
    'it is equal to the image before but for pixels in ignored areas, which do not count',
  looks_different: 'a cell differs by more than the limit from the image before',
  picture_differs: 'its cells are about as bright, but the two pictures are not equal',
  other_colours: 'its colours, its profile or its orientation are told in another way',
  animated: 'it or the image before it is animated, and such an image is never merged',
  representative_gone: 'no file holds the image before it any more, so nothing could be compared',
  ignored_changed: 'other areas were ignored when the image before it was taken in',
  not_confirmed: 'the two whole pictures could not be compared',
  run_refreshed: 'it looks alike, but the run has lasted for the refresh time',
  first_image: 'there was no image before it to compare with',
  other_format: 'the image before it is of another format',
  other_dimensions: 'the image before it has other dimensions',
  not_decodable: 'it could not be looked into, and such an image is never merged',
  representative_not_decodable: 'the image before it could not be looked into',
  not_comparable: 'its cells cannot be compared with those of the image before',
  not_an_image: 'its bytes are neither a PNG nor a JPEG',
  empty: 'it has no byte',
  too_many_bytes: 'it has more bytes than an image may have',
  too_many_pixels: 'it has more pixels than an image may have',
  header_damaged: 'its header cannot be read',
}

/** What is said of rows of an earlier version, which compared cells alone. */
const unconfirmedReasons: Readonly<Record<string, string>> = {
  looks_alike: 'no cell differs by more than the limit from the image before',
  same_picture: 'every cell is as bright as in the image before, in other bytes',
}

/** What differences are of: channels of pixels, or coefficients before their quantization. */
export const differenceUnits = ['levels of 255', 'units of a coefficient'] as const

/**
 * Why a file became what it became, for people; null for no reason. Only what was compared whole is
 * called equal.
 */
export const becauseOf = ({ reason, compared }: {
  readonly reason: string | null
  readonly compared: { readonly difference: number | null; readonly unit: string } | null
}): string | null => {
  if (reason === null) return null
  if (compared === null) return unconfirmedReasons[reason] ?? explainReasons[reason] ?? null
  const { difference, unit } = compared
  const isOutside = reason === 'alike_outside_ignored' && difference !== 0
  if ((reason !== 'looks_alike' && !isOutside) || difference === null) {
    return explainReasons[reason] ?? null
  }
  const upTo = `differences up to ${Number(difference.toFixed(2))} ${unit}`
  return reason === 'looks_alike'
    ? `it is equal to the image before but for ${upTo}`
    : `${explainReasons[reason]}, and for ${upTo}`
}

/** Why a picture could not be looked into, by reason code, for people. */
export const decodeReasons: Readonly<Record<string, string>> = {
  truncated: 'the file ends before the picture does',
  header_damaged: 'its header cannot be read',
  data_damaged: 'the data of the picture is damaged',
  unsupported: 'it uses a part of its format that is not decoded here',
  decode_timed_out: 'decoding took too long and was stopped',
  decode_failed: 'the decoder gave up',
}
