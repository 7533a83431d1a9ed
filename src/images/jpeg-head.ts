/** The segments of a JPEG (ITU-T T.81, annex B), as far as its samples need them. */
import { isStartOfFrame } from './facts.js'
import { codeOf, type HuffmanCode } from './huffman-code.js'
import type { Component, Frame, Scan, ScanPart } from './jpeg-scan.js'
import { ImageProblem } from './problem.js'

/** What the segments said so far. */
interface JpegHead {
  readonly bytes: Buffer
  /** Steps of the 64 coefficients by the number of their table, in the order of the file. */
  readonly quantizers: Map<number, Uint16Array>
  readonly dcCodes: Map<number, HuffmanCode>
  readonly acCodes: Map<number, HuffmanCode>
  restartInterval: number
  frame: Frame | null
  adobeTransform: number | null
  /** Huffman codes defined so far. */
  codes: number
}

/** A scan with what its header says of the coefficients in it. */
export interface ScanHeader extends Scan {
  readonly isDc: boolean
  /** First and last coefficient, in the order of the file; 0 and 63 but in progressive files. */
  readonly first: number
  readonly last: number
}

interface JpegReader {
  /** Every segment but a scan's header; the head knows it by then. */
  segment?(marker: number, segment: Buffer): void
  /** Reads the data of a scan at `at`, or passes it over; gives a place in or behind the data. */
  scan(head: JpegHead, frame: Frame, scan: ScanHeader, at: number): number
}

const scansMax = 512
/** Each has a value per block: a frame of 255 components would be a gigabyte. */
const componentsMax = 4
/** A file of nothing but codes must not take seconds. */
const codesMax = 4_096

const u16 = (bytes: Buffer, at: number): number => {
  if (at + 2 > bytes.length) throw new ImageProblem('truncated')
  return bytes.readUInt16BE(at)
}

const readQuantizers = (head: JpegHead, segment: Buffer): void => {
  let at = 0
  while (at < segment.length) {
    const info = segment[at] ?? 0
    const wide = info >> 4
    if (wide > 1) throw new ImageProblem('data_damaged')
    const length = wide === 1 ? 128 : 64
    if (at + 1 + length > segment.length) throw new ImageProblem('truncated')
    const steps = segment.subarray(at + 1, at + 1 + length)
    head.quantizers.set(info & 15, new Uint16Array(wide === 0
      ? steps : Array.from({ length: 64 }, (_, i) => steps.readUInt16BE(2 * i))))
    at += 1 + length
  }
}

const readCodes = (head: JpegHead, segment: Buffer): void => {
  let at = 0
  while (at + 17 <= segment.length) {
    const info = segment[at] ?? 0
    const counts = segment.subarray(at + 1, at + 17)
    const total = counts.reduce((sum, count) => sum + count, 0)
    if (total > 256 || at + 17 + total > segment.length) throw new ImageProblem('data_damaged')
    const kind = info >> 4 === 0 ? 'dc' : 'ac'
    const code = codeOf(kind, counts, segment.subarray(at + 17, at + 17 + total))
    const codes = kind === 'dc' ? head.dcCodes : head.acCodes
    codes.set(info & 15, code)
    head.codes += 1
    if (head.codes > codesMax) throw new ImageProblem('data_damaged')
    at += 17 + total
  }
}

/** Bits of a sample that there are (ITU-T T.81, table B.2): lossless frames take 2 to 16. */
const isPrecision = (marker: number, bits: number): boolean =>
  bits === 8 || bits === 12 || ((marker & 3) === 3 && bits >= 2 && bits <= 16)

const readFrame = (head: JpegHead, marker: number, segment: Buffer): Frame => {
  if (head.frame !== null) throw new ImageProblem('data_damaged')
  if (!isPrecision(marker, segment[0] ?? 0)) throw new ImageProblem('header_damaged')
  if (marker > 0xc2 || segment[0] !== 8) throw new ImageProblem('unsupported')
  if (segment.length < 6) throw new ImageProblem('header_damaged')
  const height = segment.readUInt16BE(1)
  const width = segment.readUInt16BE(3)
  const count = segment[5] ?? 0
  const sane = height > 0 && width > 0 && count >= 1 && count <= componentsMax
  if (!sane || segment.length < 6 + 3 * count) throw new ImageProblem('header_damaged')
  const parts = Array.from({ length: count }, (_, i) => {
    const at = 6 + 3 * i
    const sampling = segment[at + 1] ?? 0
    return { id: segment[at] ?? 0, h: sampling >> 4, v: sampling & 15, table: segment[at + 2] ?? 0 }
  })
  const sound = parts.every(({ h, v }) => h >= 1 && h <= 4 && v >= 1 && v <= 4)
  if (!sound) throw new ImageProblem('header_damaged')
  const hMax = Math.max(...parts.map(({ h }) => h))
  const vMax = Math.max(...parts.map(({ v }) => v))
  const mcuColumns = Math.ceil(width / (8 * hMax))
  const mcuRows = Math.ceil(height / (8 * vMax))
  const components = parts.map(({ id, h, v, table }): Component => ({
    id, h, v,
    quantizer: table,
    columns: Math.ceil(Math.ceil((width * h) / hMax) / 8),
    rows: Math.ceil(Math.ceil((height * v) / vMax) / 8),
    stride: mcuColumns * h,
    dc: new Int32Array(mcuColumns * h * mcuRows * v),
    previous: 0,
  }))
  return { width, height, progressive: marker === 0xc2, mcuColumns, mcuRows, components }
}

const scanOf = (head: JpegHead, frame: Frame, segment: Buffer): ScanHeader => {
  const count = segment[0] ?? 0
  if (count < 1 || count > 4 || segment.length < 4 + 2 * count) {
    throw new ImageProblem('data_damaged')
  }
  const parts = Array.from({ length: count }, (_, i): ScanPart => {
    const component = frame.components.find(({ id }) => id === segment[1 + 2 * i])
    if (component === undefined) throw new ImageProblem('data_damaged')
    const tables = segment[2 + 2 * i] ?? 0
    return { component, dc: head.dcCodes.get(tables >> 4), ac: head.acCodes.get(tables & 15) }
  })
  const first = segment[1 + 2 * count] ?? 0
  const last = segment[2 + 2 * count] ?? 0
  const approximation = segment[3 + 2 * count] ?? 0
  const refines = frame.progressive && approximation >> 4 !== 0
  return {
    parts, low: approximation & 15, refines, progressive: frame.progressive,
    restartInterval: head.restartInterval,
    isDc: !frame.progressive || first === 0,
    first: frame.progressive ? first : 0, last: frame.progressive ? last : 63,
  }
}

/**
 * Sees to it that a scan names a code for all that is read out of it: a refining one of DC values
 * needs none. Throws `data_damaged`.
 */
export const requireCodes = ({ parts, refines, progressive }: ScanHeader): void => {
  for (const { dc, ac } of parts) {
    const missing = (!refines && dc === undefined) || (!progressive && ac === undefined)
    if (missing) throw new ImageProblem('data_damaged')
  }
}

/** Where the next marker that is no stuffing and no restart stands; -1 for none. */
const nextMarker = (bytes: Buffer, from: number): number => {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const marker = bytes[at + 1]
    if (marker === undefined) return -1
    if (marker !== 0 && marker !== 0xff && (marker < 0xd0 || marker > 0xd7)) return at
  }
  return -1
}

const readAdobe = (head: JpegHead, segment: Buffer): void => {
  if (segment.toString('latin1', 0, 5) !== 'Adobe') return
  head.adobeTransform = segment[11] ?? null
}

const takeSegment = (head: JpegHead, marker: number, segment: Buffer): void => {
  if (marker === 0xdb) readQuantizers(head, segment)
  else if (marker === 0xc4) readCodes(head, segment)
  else if (marker === 0xdd) head.restartInterval = u16(segment, 0)
  else if (isStartOfFrame(marker)) head.frame = readFrame(head, marker, segment)
  else if (marker === 0xee && segment.length >= 12) readAdobe(head, segment)
}

/** Reads a file from segment to segment up to its end. Throws `ImageProblem`. */
export const walkJpeg = (bytes: Buffer, reader: JpegReader): JpegHead => {
  const head: JpegHead = {
    bytes, quantizers: new Map(), dcCodes: new Map(), acCodes: new Map(), restartInterval: 0,
    frame: null, adobeTransform: null, codes: 0,
  }
  let at = 2
  let scans = 0
  while (at >= 0 && at + 2 <= bytes.length) {
    if (bytes[at] !== 0xff) throw new ImageProblem('data_damaged')
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xd9) return head
    if (marker === 0xff || marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8)) {
      at += marker === 0xff ? 1 : 2
      continue
    }
    const length = u16(bytes, at + 2)
    const end = at + 2 + length
    if (length < 2 || end > bytes.length) throw new ImageProblem('truncated')
    const segment = bytes.subarray(at + 4, end)
    if (marker === 0xda) {
      scans += 1
      if (scans > scansMax || head.frame === null) throw new ImageProblem('data_damaged')
      const data = reader.scan(head, head.frame, scanOf(head, head.frame, segment), end)
      at = nextMarker(bytes, data)
    } else {
      takeSegment(head, marker, segment)
      reader.segment?.(marker, segment)
      at = end
    }
  }
  throw new ImageProblem('truncated')
}

/** Whether the first component is the luma of every pixel, so that its blocks tell the grey. */
export const lumaTells = ({ frame, adobeTransform }: JpegHead): boolean => {
  const [luma, ...others] = frame?.components ?? []
  if (luma === undefined) return false
  if (others.length === 0) return true
  if (others.length !== 2 || adobeTransform === 0) return false
  const ids = [luma, ...others].map(({ id }) => id)
  const isRgb = adobeTransform === null && ids.join() === '82,71,66'
  return !isRgb && others.every(({ h, v }) => h <= luma.h && v <= luma.v)
}
