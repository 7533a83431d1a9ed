/**
 * Whether a file ends as its format says, found by walking it from part to part: what of a copy is
 * missing, or was only made room for, has no end, whatever stands in its last bytes. Asked where
 * pixels cannot be decoded here; reads the bytes once and never throws.
 */
import type { ImageFormat } from './types.js'

/** Chunk after chunk up to IEND (PNG specification, section 5.3). */
const pngEnds = (bytes: Buffer): boolean => {
  let at = 8
  while (at + 12 <= bytes.length) {
    const end = at + 12 + bytes.readUInt32BE(at)
    if (end > bytes.length) return false
    if (bytes.toString('latin1', at + 4, at + 8) === 'IEND') return true
    at = end
  }
  return false
}

/** No segment follows these: they stand alone, or are stuffing in the data of a scan. */
const standsAlone = (marker: number): boolean =>
  marker <= 0x01 || marker === 0xff || (marker >= 0xd0 && marker <= 0xd8)

/** Segment after segment, over the data of scans, up to EOI (ITU-T T.81, annex B). */
const jpegEnds = (bytes: Buffer): boolean => {
  let inScan = false
  let at = 2
  while (at + 2 <= bytes.length) {
    if (bytes[at] !== 0xff) {
      if (!inScan) return false
      at = bytes.indexOf(0xff, at)
      if (at === -1) return false
      continue
    }
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xd9) return true
    if (standsAlone(marker)) {
      at += marker === 0xff ? 1 : 2
      continue
    }
    if (at + 4 > bytes.length) return false
    const length = bytes.readUInt16BE(at + 2)
    if (length < 2) return false
    inScan = marker === 0xda
    at += 2 + length
  }
  return false
}

/** Whether bytes of a format reach its end. */
export const reachesEnd = (bytes: Uint8Array, format: ImageFormat): boolean => {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  return format === 'png' ? pngEnds(whole) : jpegEnds(whole)
}
