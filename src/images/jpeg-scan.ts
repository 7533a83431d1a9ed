/**
 * The data of one scan of a JPEG (ITU-T T.81, annexes F and G): DC values of its components, block
 * by block. A baseline scan is tried the fast way first; what that one gives up on is read here.
 */
import type { HuffmanCode } from './huffman-code.js'
import type { FastReader } from './jpeg-fast.js'
import { BitReader, tableOf, type HuffmanTable } from './jpeg-huffman.js'
import { ImageProblem } from './problem.js'

/** A component of a frame. */
export interface Component {
  readonly id: number
  readonly h: number
  readonly v: number
  readonly quantizer: number
  /** Blocks that really hold picture. */
  readonly columns: number
  readonly rows: number
  /** Blocks with the padding of whole MCUs. */
  readonly stride: number
  /** DC values by block. */
  readonly dc: Int32Array
  /** The DC value that the next difference is added to. */
  previous: number
}

/** A picture as its header describes it. */
export interface Frame {
  readonly width: number
  readonly height: number
  readonly progressive: boolean
  readonly mcuColumns: number
  readonly mcuRows: number
  readonly components: readonly Component[]
}

/** A component in a scan, with the codes that its header names; some scans need none. */
export interface ScanPart {
  readonly component: Component
  readonly dc: HuffmanCode | undefined
  readonly ac: HuffmanCode | undefined
}

/** A scan as its header describes it. */
export interface Scan {
  readonly parts: readonly ScanPart[]
  /** Bits that a progressive scan leaves for later ones. */
  readonly low: number
  readonly refines: boolean
  readonly progressive: boolean
  /** Units between restarts; 0: there are none. */
  readonly restartInterval: number
}

/** A part with its tables, where it has codes. */
interface ReadyPart {
  readonly component: Component
  readonly dc: HuffmanTable | undefined
  readonly ac: HuffmanTable | undefined
}

type ReadyScan = Omit<Scan, 'parts'> & { readonly parts: readonly ReadyPart[] }

const baselineBlock = (reader: BitReader, part: ReadyPart, index: number): void => {
  const { component, dc, ac } = part
  component.previous += reader.difference(dc!)
  component.dc[index] = component.previous
  reader.passBlock(ac!)
}

const firstBlock = (reader: BitReader, part: ReadyPart, index: number, low: number): void => {
  const { component, dc } = part
  component.previous += reader.difference(dc!)
  component.dc[index] = component.previous * 2 ** low
}

const refinedBlock = (reader: BitReader, part: ReadyPart, index: number, low: number): void => {
  if (reader.bit() === 1) part.component.dc[index]! |= 1 << low
}

const readBlock = (reader: BitReader, scan: ReadyScan, part: ReadyPart, index: number): void => {
  if (!scan.progressive) baselineBlock(reader, part, index)
  else if (scan.refines) refinedBlock(reader, part, index, scan.low)
  else firstBlock(reader, part, index, scan.low)
}

interface Units {
  readonly columns: number
  readonly rows: number
  /** One component alone: a unit is one block. */
  readonly single: boolean
}

/** One component alone has only the blocks that hold picture; several go MCU by MCU. */
const unitsOf = (frame: Frame, { parts }: Scan): Units => {
  const [only] = parts
  return parts.length === 1 && only !== undefined
    ? { columns: only.component.columns, rows: only.component.rows, single: true }
    : { columns: frame.mcuColumns, rows: frame.mcuRows, single: false }
}

const ready = (scan: Scan): ReadyScan => {
  const tables = (code: HuffmanCode | undefined): HuffmanTable | undefined =>
    (code === undefined ? undefined : tableOf(code))
  const { refines, progressive } = scan
  return {
    ...scan,
    parts: scan.parts.map(({ component, dc, ac }) => ({
      component, dc: refines ? undefined : tables(dc), ac: progressive ? undefined : tables(ac),
    })),
  }
}

/** What is done with the blocks of a scan. */
export interface BlockReader {
  /** Reads the block `index` of the part `part` of the scan. */
  block(part: number, index: number): void
  /** Before the first block, and behind every restart. */
  reset(): void
}

const readUnit = ({ block }: BlockReader, { parts }: Scan, column: number, row: number): void => {
  if (parts.length === 1) {
    block(0, row * parts[0]!.component.stride + column)
    return
  }
  for (let part = 0; part < parts.length; part += 1) {
    const { h, v, stride } = parts[part]!.component
    for (let y = 0; y < v; y += 1) {
      for (let x = 0; x < h; x += 1) block(part, (row * v + y) * stride + column * h + x)
    }
  }
}

/** Goes through the blocks of a scan in their order. Throws `data_damaged` without a restart. */
export const eachBlock = (bits: BitReader, frame: Frame, scan: Scan, reader: BlockReader): void => {
  const { columns, rows } = unitsOf(frame, scan)
  reader.reset()
  let left = scan.restartInterval
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      if (scan.restartInterval > 0 && left === 0) {
        if (!bits.restart()) throw new ImageProblem('data_damaged')
        reader.reset()
        left = scan.restartInterval
      }
      readUnit(reader, scan, column, row)
      left -= 1
    }
  }
}

/** The reader that has the last word on every scan. */
const readSlowly = (bytes: Uint8Array, at: number, frame: Frame, asked: Scan): number => {
  const scan = ready(asked)
  const bits = new BitReader(bytes, at)
  eachBlock(bits, frame, asked, {
    block: (part, index) => readBlock(bits, scan, scan.parts[part]!, index),
    reset() {
      for (const { component } of scan.parts) component.previous = 0
    },
  })
  return bits.at
}

/** Reads the values of the first component alone; null where that is not to be done. */
const readFast = (
  bytes: Uint8Array, at: number, frame: Frame, scan: Scan, fast: FastReader,
): number | null => {
  const [luma] = frame.components
  if (luma === undefined || scan.progressive) return null
  const { columns, rows, single } = unitsOf(frame, scan)
  const { stride, dc: values } = luma
  const [h, v] = single ? [1, 1] : [luma.h, luma.v]
  const found = fast({
    data: bytes.subarray(at), columns, rows, stride, blocks: values.length,
    interval: scan.restartInterval,
    parts: scan.parts.map(({ component, dc, ac }) => ({
      h: single ? 1 : component.h, v: single ? 1 : component.v, dc: dc!, ac: ac!,
      kept: component === luma,
    })),
  })
  if (found === null) return null
  // Blocks that are no part of this scan keep what an earlier one said.
  for (let from = 0; from < rows * v * stride; from += stride) {
    values.set(found.values.subarray(from, from + columns * h), from)
  }
  return at + found.at
}

/**
 * Reads the data of a scan from `at` on into the components' values; those of others than the first
 * may be left out. Gives a place in or behind the data, not behind the marker that follows them.
 * `fast` null: the fast way is not tried. Throws `ImageProblem`.
 */
export const readScanData = (
  bytes: Uint8Array, at: number, frame: Frame, scan: Scan, fast: FastReader | null,
): number =>
  (fast === null ? null : readFast(bytes, at, frame, scan, fast))
    ?? readSlowly(bytes, at, frame, scan)
