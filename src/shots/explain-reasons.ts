/** Why a file became what it became, by reason code; docs/scanning.md lists the same. */
export const explainReasons: Readonly<Record<string, string>> = {
  same_bytes: 'these very bytes were observed under this folder',
  same_bytes_elsewhere: 'these very bytes were observed under another folder',
  same_bytes_suppressed: 'these very bytes were suppressed for another image before',
  found_again: 'these very bytes were missing and are back',
  looks_alike: 'no cell differs by more than the limit from the image before',
  same_picture: 'every cell is equal to the image before, in other bytes',
  looks_different: 'a cell differs by more than the limit from the image before',
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

/** Why a picture could not be looked into, by reason code, for people; the docs list the same. */
export const decodeReasons: Readonly<Record<string, string>> = {
  truncated: 'the file ends before the picture does',
  header_damaged: 'its header cannot be read',
  data_damaged: 'the data of the picture is damaged',
  unsupported: 'it uses a part of its format that is not decoded here',
  decode_timed_out: 'decoding took too long and was stopped',
  decode_failed: 'the decoder gave up',
}
