/**
 * The fingerprint of a JPEG from its DC coefficients: the average of each block of 8x8 luma samples
 * stands in the data as it is, so no transform is needed. Baseline data has to be read through,
 * because its DC and AC codes alternate; a progressive file's AC scans are passed over.
 */
import { isStartOfFrame } from './facts.js'
import { codeOf, type HuffmanCode } from './huffman-code.js'
import { readScanFast, type FastReader } from './jpeg-fast.js'
import { readScanData, type Component, type Frame, type Scan, type ScanPart } from './jpeg-scan.js'
import { cellsOf } from './cells.js'
import { levelScale } from './limits.js'
import { ImageProblem } from './problem.js'
import type { Fingerprint } from './types.js'

interface Decoder {
  readonly bytes: Buffer
  readonly quantizers: Map<number, number>
  readonly dcCodes: Map<number, HuffmanCode>
  readonly acCodes: Map<number, HuffmanCode>
  restartInterval: number
  frame: Frame | null
  adobeTransform: number | null
  /** Huffman codes defined so far. */
  codes: number
  /** Scans that held DC values of the luma component. */
  lumaScans: number
  readonly fast: FastReader | null
}

const scansMax = 512
/** Each has a value per block: a frame of 255 components would be a gigabyte. */
const componentsMax = 4
/** A file of nothing but codes must not take seconds. */
const codesMax = 4_096
/** A file of nothing but scans is not copied for each of them. */
const fastScansMax = 4

const u16 = (bytes: Buffer, at: number): number => {
  if (at + 2 > bytes.length) throw new ImageProblem('truncated')
  return bytes.readUInt16BE(at)
}

const readQuantizers = (decoder: Decoder, segment: Buffer): void => {
  let at = 0
  while (at < segment.length) {
    const info = segment[at] ?? 0
    const wide = info >> 4
    if (wide > 1) throw new ImageProblem('data_damaged')
    const length = wide === 1 ? 128 : 64
    if (at + 1 + length > segment.length) throw new ImageProblem('truncated')
    const first = wide === 1 ? segment.readUInt16BE(at + 1) : segment.readUInt8(at + 1)
    decoder.quantizers.set(info & 15, first)
    at += 1 + length
  }
}

const readCodes = (decoder: Decoder, segment: Buffer): void => {
  let at = 0
  while (at + 17 <= segment.length) {
    const info = segment[at] ?? 0
    const counts = segment.subarray(at + 1, at + 17)
    const total = counts.reduce((sum, count) => sum + count, 0)
    if (total > 256 || at + 17 + total > segment.length) throw new ImageProblem('data_damaged')
    const kind = info >> 4 === 0 ? 'dc' : 'ac'
    const code = codeOf(kind, counts, segment.subarray(at + 17, at + 17 + total))
    const codes = kind === 'dc' ? decoder.dcCodes : decoder.acCodes
    codes.set(info & 15, code)
    decoder.codes += 1
    if (decoder.codes > codesMax) throw new ImageProblem('data_damaged')
    at += 17 + total
  }
}

/** Bits of a sample that there are (ITU-T T.81, table B.2): lossless frames take 2 to 16. */
const isPrecision = (marker: number, bits: number): boolean =>
  bits === 8 || bits === 12 || ((marker & 3) === 3 && bits >= 2 && bits <= 16)

const readFrame = (decoder: Decoder, marker: number, segment: Buffer): Frame => {
  if (decoder.frame !== null) throw new ImageProblem('data_damaged')
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
    return {
      id: segment[at] ?? 0, h: sampling >> 4, v: sampling & 15, table: segment[at + 2] ?? 0,
    }
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

const noTable = (): ImageProblem => new ImageProblem('data_damaged')

const scanOf = (
  decoder: Decoder, frame: Frame, segment: Buffer,
): Scan & { readonly isDc: boolean } => {
  const count = segment[0] ?? 0
  if (count < 1 || count > 4 || segment.length < 4 + 2 * count) {
    throw new ImageProblem('data_damaged')
  }
  const parts = Array.from({ length: count }, (_, i): ScanPart => {
    const component = frame.components.find(({ id }) => id === segment[1 + 2 * i])
    if (component === undefined) throw new ImageProblem('data_damaged')
    const tables = segment[2 + 2 * i] ?? 0
    return {
      component, dc: decoder.dcCodes.get(tables >> 4), ac: decoder.acCodes.get(tables & 15),
    }
  })
  const start = segment[1 + 2 * count] ?? 0
  const approximation = segment[3 + 2 * count] ?? 0
  const refines = frame.progressive && approximation >> 4 !== 0
  return {
    parts, low: approximation & 15, refines, progressive: frame.progressive,
    restartInterval: decoder.restartInterval,
    isDc: !frame.progressive || start === 0,
  }
}

/** Where the next marker that is no stuffing and no restart stands. */
const nextMarker = (bytes: Buffer, from: number): number => {
  for (let at = bytes.indexOf(0xff, from); at !== -1; at = bytes.indexOf(0xff, at + 1)) {
    const marker = bytes[at + 1]
    if (marker === undefined) return -1
    if (marker !== 0 && marker !== 0xff && (marker < 0xd0 || marker > 0xd7)) return at
  }
  return -1
}

const readScan = (decoder: Decoder, segment: Buffer, at: number): number => {
  const { frame } = decoder
  if (frame === null) throw new ImageProblem('data_damaged')
  const scan = scanOf(decoder, frame, segment)
  const [luma] = frame.components
  const wanted = scan.isDc && scan.parts.some(({ component }) => component === luma)
  if (!wanted) return nextMarker(decoder.bytes, at)
  const needsDc = !scan.refines
  for (const { dc, ac } of scan.parts) {
    if (needsDc && dc === undefined) throw noTable()
    if (!frame.progressive && ac === undefined) throw noTable()
  }
  decoder.lumaScans += 1
  const fast = decoder.lumaScans <= fastScansMax ? decoder.fast : null
  return nextMarker(decoder.bytes, readScanData(decoder.bytes, at, frame, scan, fast))
}

const readAdobe = (decoder: Decoder, segment: Buffer): void => {
  if (segment.toString('latin1', 0, 5) !== 'Adobe') return
  decoder.adobeTransform = segment[11] ?? null
}

const takeSegment = (decoder: Decoder, marker: number, segment: Buffer): void => {
  if (marker === 0xdb) readQuantizers(decoder, segment)
  else if (marker === 0xc4) readCodes(decoder, segment)
  else if (marker === 0xdd) decoder.restartInterval = u16(segment, 0)
  else if (isStartOfFrame(marker)) decoder.frame = readFrame(decoder, marker, segment)
  else if (marker === 0xee && segment.length >= 12) readAdobe(decoder, segment)
}

const walk = (decoder: Decoder): void => {
  const { bytes } = decoder
  let at = 2
  let scans = 0
  while (at >= 0 && at + 2 <= bytes.length) {
    if (bytes[at] !== 0xff) throw new ImageProblem('data_damaged')
    const marker = bytes[at + 1] ?? 0
    if (marker === 0xd9) return
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
      if (scans > scansMax) throw new ImageProblem('data_damaged')
      at = readScan(decoder, segment, end)
    } else {
      takeSegment(decoder, marker, segment)
      at = end
    }
  }
  throw new ImageProblem('truncated')
}

/** Whether the first component is the luma of every pixel, so that its blocks tell the grey. */
const lumaTells = ({ frame, adobeTransform }: Decoder): boolean => {
  const [luma, ...others] = frame?.components ?? []
  if (luma === undefined) return false
  if (others.length === 0) return true
  if (others.length !== 2 || adobeTransform === 0) return false
  const ids = [luma, ...others].map(({ id }) => id)
  const isRgb = adobeTransform === null && ids.join() === '82,71,66'
  return !isRgb && others.every(({ h, v }) => h <= luma.h && v <= luma.v)
}

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
  const decoder: Decoder = {
    bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    quantizers: new Map(), dcCodes: new Map(), acCodes: new Map(), fast,
    restartInterval: 0, frame: null, adobeTransform: null, codes: 0, lumaScans: 0,
  }
  walk(decoder)
  const { frame } = decoder
  const [luma] = frame?.components ?? []
  if (frame === null || luma === undefined) throw new ImageProblem('data_damaged')
  if (!lumaTells(decoder)) return null
  const quantizer = decoder.quantizers.get(luma.quantizer)
  if (decoder.lumaScans === 0 || quantizer === undefined) throw new ImageProblem('data_damaged')
  const { width, height } = frame
  return { format: 'jpeg', width, height, planes: [planeOf(frame, luma, quantizer)] }
}
