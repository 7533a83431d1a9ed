/**
 * Whether a file ends as its format says, found by walking it from part to part: what of a copy is
 * missing, or was only made room for, has no end, whatever stands in its last bytes. Asked where
 * pixels cannot be decoded here; reads the bytes once and never throws.
 */
import type { ImageFormat } from './types.js'

/** Where the chunk IEND ends, chunk after chunk (PNG specification, section 5.3). */
const pngEnd = (bytes: Buffer): number | null => {
  let at = 8
  while (at + 12 <= bytes.length) {
    const end = at + 12 + bytes.readUInt32BE(at)
    if (end > bytes.length) return null
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') return end
    at = end
  }
  return null
}

/** No segment follows these: they stand alone, or are stuffing in the data of a scan. */
const standsAlone = (marker: number): boolean =>
  marker <= 0x01 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd8)

/** Where EOI ends, segment after segment, over the data of scans (ITU-T T.81, annex B). */
const jpegEnd = (bytes: Buffer): number | null => {
  let inScan = false
  let at = 2
  while (at + 2 <= bytes.length) {
    if (bytes[at] !== 0xff) {
      if (!inScan) return null
      at = bytes.indexOf(0xff, at)
      if (at === -1) return null
      continue
    }
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xd9) return at + 2
    if (standsAlone(marker)) {
      at += marker === 0xff ? 1 : 2
      continue
    }
    if (at + 4 > bytes.length) return null
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2) return null
    inScan = marker === 0xda
    at += 2 + length
  }
  return null
}

/** Offset behind the end of the image in a file; null where it has none. */
const endOf = (bytes: Uint8Array, format: ImageFormat): number | null => {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return format === 'png' ? pngEnd(whole) : jpegEnd(whole)
}

export const reachesEnd = (bytes: Uint8Array, format: ImageFormat): boolean =>
  endOf(bytes, format) !== null

/**
 * Whether something stands behind the end of the image: no viewer shows it, so nobody who looked
 * at the picture knows that it is there. Cropping programs were seen to leave the former picture.
 */
export const goesOn = (bytes: Uint8Array, format: ImageFormat): boolean => {
  const end = endOf(bytes, format)
  return end !== null && end < bytes.length
}
