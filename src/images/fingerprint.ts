/** Comparing fingerprints, and their form at rest. Pure. */
import { cellsOf } from './cells.js'
import { imageLimits, levelScale, visualLimit } from './image-limits.js'
import { SmallChange } from './rect.js'
import type { Fingerprint, PixelRect } from './types.js'

/** How two pictures differ. */
export interface Comparison {
  /** Of one format and size; others are never compared (S-073, S-074). */
  readonly comparable: boolean
  /** Largest difference of a cell, in levels of 255; 255 where not comparable. */
  readonly measure: number
  /** The cell that differs most, counted from the top left. */
  readonly cell: { readonly x: number; readonly y: number } | null
}

const apart: Comparison = { comparable: false, measure: 255, cell: null }

/** A plane, or the only one: an opaque picture looks the same over black and over white. */
const planeAt = (fingerprint: Fingerprint, index: number): Uint16Array =>
  fingerprint.planes[index] ?? fingerprint.planes[0] ?? new Uint16Array(0)

/** Compares cell by cell; the maximum counts, because an average hides a changed word. */
export const compareFingerprints = (a: Fingerprint, b: Fingerprint): Comparison => {
  if (a.format !== b.format || a.width !== b.width || a.height !== b.height) return apart
  let most = 0
  let at = -1
  for (let plane = 0; plane < Math.max(a.planes.length, b.planes.length); plane += 1) {
    const one = planeAt(a, plane)
    const other = planeAt(b, plane)
    for (let i = 0; i < one.length; i += 1) {
      const difference = Math.abs((one[i] ?? 0) - (other[i] ?? 0))
      if (difference > most) {
        most = difference
        at = i
      }
    }
  }
  const columns = cellsOf(a.width)
  const cell = at < 0 ? null : { x: at % columns, y: Math.floor(at / columns) }
  return { comparable: true, measure: most / levelScale, cell }
}

const side = imageLimits.cellPixels

/** The same with every cell made equal of which a rectangle holds a pixel. */
const withoutCells = (
  { planes, ...rest }: Fingerprint, rects: readonly PixelRect[],
): Fingerprint => {
  const columns = cellsOf(rest.width)
  const left = planes.map((plane) => plane.slice())
  for (const { x, y, width, height } of rects) {
    const [first, end] = [Math.floor(x / side), cellsOf(x + width)]
    for (let row = Math.floor(y / side); row < cellsOf(y + height); row += 1) {
      for (const plane of left) plane.fill(0, row * columns + first, row * columns + end)
    }
  }
  return { ...rest, planes: left }
}

/**
 * The same comparison, and where it tells two pictures apart once more without the cells that a
 * rectangle touches: a cell refuses only for pixels that count.
 */
export const compareOutside = (
  a: Fingerprint, b: Fingerprint, ignored: readonly PixelRect[],
): Comparison => {
  const whole = compareFingerprints(a, b)
  if (ignored.length === 0 || !whole.comparable || whole.measure <= visualLimit) return whole
  return compareFingerprints(withoutCells(a, ignored), withoutCells(b, ignored))
}

/**
 * The small rectangle, in whole cells, that holds every cell that differs at all and counts; null
 * where none does. `share`: the part of the picture that it may be. Looks no further once too much
 * differs.
 */
export const smallChangeOf = (
  a: Fingerprint, b: Fingerprint, ignored: readonly PixelRect[], share?: number,
): PixelRect | null => {
  const [one, other] = ignored.length === 0
    ? [a, b] : [withoutCells(a, ignored), withoutCells(b, ignored)]
  const { width, height } = a
  const columns = cellsOf(width)
  const change = new SmallChange(width, height, share)
  for (let plane = 0; plane < Math.max(a.planes.length, b.planes.length); plane += 1) {
    const [left, right] = [planeAt(one, plane), planeAt(other, plane)]
    for (let i = 0; i < left.length; i += 1) {
      if (left[i] === right[i]) continue
      const [x, y] = [(i % columns) * side, Math.floor(i / columns) * side]
      const cell = { x, y, width: Math.min(side, width - x), height: Math.min(side, height - y) }
      if (!change.add(cell)) return null
    }
  }
  return change.rect
}

const magic = 0x53464731 // SFG1
const headBytes = 16

/** Compact bytes: magic, format, size, number of planes, then the cells, big end first. */
export const encodeFingerprint = (fingerprint: Fingerprint): Buffer => {
  const cells = fingerprint.planes.reduce((sum, plane) => sum + plane.length, 0)
  const bytes = Buffer.alloc(headBytes + 2 * cells)
  bytes.writeUInt32BE(magic, 0)
  bytes.writeUInt8(fingerprint.format === 'png' ? 1 : 2, 4)
  bytes.writeUInt8(fingerprint.planes.length, 5)
  bytes.writeUInt32BE(fingerprint.width, 8)
  bytes.writeUInt32BE(fingerprint.height, 12)
  let at = headBytes
  for (const plane of fingerprint.planes) {
    for (const value of plane) at = bytes.writeUInt16BE(value, at)
  }
  return bytes
}

/** Reads them back; null when they are not of this form. */
export const decodeFingerprint = (bytes: Uint8Array): Fingerprint | null => {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (buffer.length < headBytes || buffer.readUInt32BE(0) !== magic) return null
  const code = buffer.readUInt8(4)
  const count = buffer.readUInt8(5)
  const width = buffer.readUInt32BE(8)
  const height = buffer.readUInt32BE(12)
  const cells = cellsOf(width) * cellsOf(height)
  const whole = buffer.length === headBytes + 2 * cells * count
  if ((code !== 1 && code !== 2) || count < 1 || count > 2 || !whole) return null
  const planes = Array.from({ length: count }, (_, plane) =>
    Uint16Array.from({ length: cells }, (__, i) =>
      buffer.readUInt16BE(headBytes + 2 * (plane * cells + i))))
  return { format: code === 1 ? 'png' : 'jpeg', width, height, planes }
}
