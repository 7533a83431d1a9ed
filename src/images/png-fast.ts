/**
 * The fast way for the PNGs that screenshots are: 8-bit RGB or RGBA, not interlaced. Filters are
 * undone and bytes added up by WebAssembly SIMD (rows.wat); the colours of a cell are added first
 * and weighed once, which gives the very same sums as weighing pixel by pixel.
 */
import { cellsOf, weigh } from './cells.js'
import { imageLimits } from './limits.js'
import { rowBytes, type Png } from './png-chunks.js'
import type { Planes } from './png-planes.js'
import { ImageProblem } from './problem.js'
import { rowsWasm } from './rows-wasm.js'

const side = imageLimits.cellPixels
const pageBytes = 65_536
/** A larger picture takes the other way: this memory is never given back. */
const fastBytesMax = 64 * 1024 * 1024

/** Memory of the program, as far as it is used here. */
interface Memory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

/** Node's WebAssembly, whose types come with a browser's library only. */
interface Wasm {
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: unknown }
}

interface Rows {
  readonly memory: Memory
  unfilter(at: number, rows: number, length: number, step: number, above: number): number
  addRows(
    at: number, rows: number, length: number, step: number, cells: number, sums: number,
  ): void
}

let loaded: Rows | null | undefined

/** Null where this Node has no WebAssembly SIMD, or was told to have none. */
const rowsProgram = (): Rows | null => {
  if (loaded !== undefined) return loaded
  const { WebAssembly: wasm } = globalThis as unknown as { readonly WebAssembly?: Wasm }
  try {
    loaded = wasm === undefined ? null
      : new wasm.Instance(new wasm.Module(Buffer.from(rowsWasm, 'base64'))).exports as Rows
  } catch {
    loaded = null
  }
  return loaded
}

const stepOf = ({ colour }: Png): number => (colour === 6 ? 4 : 3)

/** Whether this picture can go the fast way. */
export const canBeFast = (png: Png): boolean => {
  const plain = png.depth === 8 && !png.interlaced && png.clear === null
  if (!plain || (png.colour !== 2 && png.colour !== 6)) return false
  const bytes = png.height * (1 + rowBytes(png, png.width))
  return bytes <= fastBytesMax && rowsProgram() !== null
}

/** Where things lie in the program's memory: zeros, sums, rows, and room behind the last row. */
interface Layout {
  readonly sums: number
  readonly rows: number
  readonly end: number
}

const layoutOf = (length: number, cells: number, step: number, bytes: number): Layout => {
  const align = (value: number): number => Math.ceil(value / side) * side
  const sums = align(length + side)
  const rows = sums + cells * side * step * 2 + side
  return { sums, rows, end: rows + bytes + 2 * side }
}

const makeRoom = (memory: Memory, bytes: number): void => {
  const missing = bytes - memory.buffer.byteLength
  if (missing > 0) memory.grow(Math.ceil(missing / pageBytes))
}

/** Weighs one cell's lanes: lane j is the sum of channel `j mod step`. */
const cellSum = (lanes: Uint16Array, from: number, step: number): number => {
  let [r, g, b] = [0, 0, 0]
  for (let at = from; at < from + side * step; at += step) {
    r += lanes[at]!
    g += lanes[at + 1]!
    b += lanes[at + 2]!
  }
  return weigh(r, g, b)
}

/** Pixels right of the last whole cell. */
const edgeSum = (
  bytes: Uint8Array, at: number, rows: number, length: number, from: number, step: number,
): number => {
  let sum = 0
  for (let row = 0; row < rows; row += 1) {
    const first = at + row * (length + 1) + 1
    for (let i = first + from * step; i < first + length; i += step) {
      sum += weigh(bytes[i]!, bytes[i + 1]!, bytes[i + 2]!)
    }
  }
  return sum
}

/** Whether every pixel of RGBA rows is opaque. */
const allOpaque = (bytes: Uint8Array, height: number, length: number): boolean => {
  for (let row = 0; row < height; row += 1) {
    const first = row * (length + 1) + 1
    for (let i = first + 3; i < first + length; i += 4) if (bytes[i] !== 255) return false
  }
  return true
}

/**
 * Adds an inflated picture to the planes. Where something shows through, nothing is added and the
 * unfiltered rows come back, for the way that knows alpha. Throws `ImageProblem`.
 */
export const addRowsFast = (png: Png, raw: Buffer, planes: Planes): Buffer | null => {
  const program = rowsProgram()
  if (program === null) throw new TypeError('asked for without canBeFast')
  const { width, height } = png
  const step = stepOf(png)
  const length = rowBytes(png, width)
  const whole = Math.floor(width / side)
  const columns = cellsOf(width)
  const { sums, rows, end } = layoutOf(length, whole, step, raw.length)
  makeRoom(program.memory, end)
  const bytes = new Uint8Array(program.memory.buffer)
  bytes.fill(0, 0, sums)
  bytes.set(raw, rows)
  if (program.unfilter(rows, height, length, step, 0) === 0) throw new ImageProblem('data_damaged')
  const unfiltered = bytes.subarray(rows, rows + raw.length)
  if (step === 4 && !allOpaque(unfiltered, height, length)) return Buffer.from(unfiltered)
  const lanes = new Uint16Array(program.memory.buffer, sums, whole * side * step)
  for (let top = 0; top < height; top += side) {
    const band = Math.min(side, height - top)
    const at = rows + top * (length + 1)
    const first = Math.floor(top / side) * columns
    lanes.fill(0)
    program.addRows(at, band, length, step, whole, sums)
    for (let cell = 0; cell < whole; cell += 1) {
      planes.addCell(first + cell, cellSum(lanes, cell * side * step, step))
    }
    if (columns > whole) {
      planes.addCell(first + whole, edgeSum(bytes, at, band, length, whole * side, step))
    }
  }
  return null
}
