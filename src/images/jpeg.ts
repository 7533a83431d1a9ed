/**
 * The fingerprint of a JPEG from its DC coefficients: the average of each block of 8x8 luma samples
 * stands in the data as it is, so no transform is needed. Baseline data has to be read through,
 * because its DC and AC codes alternate; a progressive file's AC scans are passed over.
 */
import { readScanFast, type FastReader } from './jpeg-fast.js'
import { lumaTells, requireCodes, walkJpeg } from './jpeg-head.js'
import { readScanData, type Component, type Frame } from './jpeg-scan.js'
import { cellsOf } from './cells.js'
import { levelScale } from './image-limits.js'
import { ImageProblem } from './problem.js'
import type { Fingerprint } from './types.js'

/** A file of nothing but scans is not copied for each of them. */
const fastScansMax = 4

/**
 * A cell is a block: its average is an eighth of its DC value above the middle. In 1/64 of a level
 * that is a whole number.
 */
const planeOf = (frame: Frame, luma: Component, quantizer: number): Uint16Array => {
  const columns = cellsOf(frame.width)
  const plane = new Uint16Array(columns * cellsOf(frame.height))
  // Constants and fields once: what comes from another module is a call each time.
  const { dc, stride } = luma
  const [scale, middle, most] = [(levelScale / 8) * quantizer, 128 * levelScale, 255 * levelScale]
  for (let first = 0, from = 0; first < plane.length; first += columns, from += stride) {
    for (let column = 0; column < columns; column += 1) {
      const level = dc[from + column]! * scale + middle
      plane[first + column] = level < 0 ? 0 : level > most ? most : level
    }
  }
  return plane
}

/**
 * The fingerprint of a JPEG whose facts were accepted, or null where the luma component alone does
 * not tell the grey (RGB, CMYK): those are decoded whole. With or without the fast way for baseline
 * scans it is the same, or the same is thrown. Throws `ImageProblem`.
 */
export const jpegFingerprint = (
  bytes: Uint8Array, fast: FastReader | null = readScanFast,
): Fingerprint | null => {
  const whole = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  /** Scans that held DC values of the luma component. */
  let lumaScans = 0
  const head = walkJpeg(whole, {
    scan(_, frame, scan, at) {
      const [luma] = frame.components
      if (!scan.isDc || !scan.parts.some(({ component }) => component === luma)) return at
      requireCodes(scan)
      lumaScans += 1
      return readScanData(whole, at, frame, scan, lumaScans <= fastScansMax ? fast : null)
    },
  })
  const { frame } = head
  const [luma] = frame?.components ?? []
  if (frame === null || luma === undefined) throw new ImageProblem('data_damaged')
  if (!lumaTells(head)) return null
  const quantizer = head.quantizers.get(luma.quantizer)?.[0]
  if (lumaScans === 0 || quantizer === undefined) throw new ImageProblem('data_damaged')
  const { width, height } = frame
  return { format: 'jpeg', width, height, planes: [planeOf(frame, luma, quantizer)] }
}
