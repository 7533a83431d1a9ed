/**
 * Facts out of the header, before anything is allocated for pixels: a header of 29 bytes may claim
 * 10^18 of them. Reads the bytes once, front and end.
 */
import { imageLimits } from './image-limits.js'
import type { ImageFacts, ImageFormat, ImageReason } from './types.js'

const pngSignature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

const startsWith = (bytes: Uint8Array, start: readonly number[]): boolean =>
  bytes.length >= start.length && start.every((byte, i) => bytes[i] === byte)

/** The format that the first bytes tell; null for anything else. */
export const formatOf = (bytes: Uint8Array): ImageFormat | null => {
  if (startsWith(bytes, pngSignature)) return 'png'
  return startsWith(bytes, [0xff, 0xd8, 0xff]) ? 'jpeg' : null
}

interface Size {
  readonly width: number
  readonly height: number
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)

const ihdr = 0x49484452

const pngSize = (bytes: Uint8Array): Size | null => {
  if (bytes.length < 29) return null
  const view = viewOf(bytes)
  if (view.getUint32(8) !== 13 || view.getUint32(12) !== ihdr) return null
  const width = view.getUint32(16)
  const height = view.getUint32(20)
  return width > 0 && height > 0 && width < 2 ** 31 && height < 2 ** 31 ? { width, height } : null
}

/** SOF0 to SOF15 without DHT (C4), JPG (C8) and DAC (CC). */
export const isStartOfFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc

const hasNoLength = (marker: number): boolean =>
  marker === 0x01 || (marker >= 0xd0 && marker <= 0xd9)

/** The first frame's size; the walk goes from segment to segment and ends at the first scan. */
const jpegSize = (bytes: Uint8Array): Size | null => {
  const view = viewOf(bytes)
  let at = 2
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) return null
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xff) {
      at += 1
      continue
    }
    if (marker === 0xda || marker === 0xd9) return null
    if (hasNoLength(marker)) {
      at += 2
      continue
    }
    const length = view.getUint16(at + 2)
    if (length < 2) return null
    if (isStartOfFrame(marker)) {
      if (at + 9 > bytes.length) return null
      const height = view.getUint16(at + 5)
      const width = view.getUint16(at + 7)
      return width > 0 && height > 0 ? { width, height } : null
    }
    at += 2 + length
  }
  return null
}

const iendBytes = [0, 0, 0, 0, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82]

/** Whether the bytes end as their format ends; a few bytes behind the end are let pass. */
const endsProperly = (bytes: Uint8Array, format: ImageFormat): boolean => {
  const tail = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .subarray(Math.max(0, bytes.length - 4_096))
  if (format === 'png') return tail.includes(Buffer.from(iendBytes))
  return tail.includes(Buffer.from([0xff, 0xd9]))
}

const refusal = (
  bytes: Uint8Array, format: ImageFormat | null, size: Size | null,
): ImageReason | null => {
  if (bytes.length === 0) return 'empty'
  if (format === null) return 'not_an_image'
  if (bytes.length > imageLimits.bytesMax) return 'too_many_bytes'
  if (size !== null && size.width * size.height > imageLimits.pixelsMax) return 'too_many_pixels'
  return null
}

/** Reads the facts. Never throws; an unreadable size is null and no reason to refuse (S-062). */
export const readImageFacts = (bytes: Uint8Array): ImageFacts => {
  const format = formatOf(bytes)
  const size = format === null ? null : format === 'png' ? pngSize(bytes) : jpegSize(bytes)
  return {
    format,
    width: size?.width ?? null,
    height: size?.height ?? null,
    endsProperly: format !== null && endsProperly(bytes, format),
    reason: refusal(bytes, format, size),
  }
}
