/**
 * The fast way for the PNGs that screenshots are: 8-bit RGB or RGBA, not interlaced. Filters are
 * undone and bytes added up by WebAssembly SIMD (rows.wat); the colours of a cell are added first
 * and weighed once, which gives the very same sums as weighing pixel by pixel.
 */
import { cellsOf, weigh } from './cells.js'
import { imageLimits } from './image-limits.js'
import { rowBytes, type Png } from './png-chunks.js'
import type { Planes } from './png-planes.js'
import { ImageProblem } from './problem.js'
import { rowsWasm } from './rows-wasm.js'
import { makeRoom, wasmProgram, type WasmMemory } from './wasm.js'

const side = imageLimits.cellPixels
/** Pixels whose bytes the program adds up together: two cells side by side. */
const groupPixels = 16
const vectorBytes = 16
/** A larger picture takes the other way: this memory is never given back. */
const fastBytesMax = 64 * 1024 * 1024

interface Rows {
  readonly memory: WasmMemory
  unfilter(at: number, rows: number, length: number, step: number, above: number): number
  addRows(
    at: number, rows: number, length: number, step: number, groups: number, sums: number,
  ): void
  weighCells(sums: number, cells: number, step: number, full: number, out: number): void
}

let loaded: Rows | null | undefined

const rowsProgram = (): Rows | null => {
  if (loaded === undefined) loaded = wasmProgram<Rows>(rowsWasm)
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

/** Where things lie in the program's memory: zeros, sums, cells, rows, and room behind them. */
interface Layout {
  readonly sums: number
  readonly weighed: number
  readonly rows: number
  readonly end: number
}

const layoutOf = (length: number, lanes: number, cells: number, bytes: number): Layout => {
  const sums = Math.ceil(length / vectorBytes + 1) * vectorBytes
  const weighed = sums + lanes * 2
  const rows = weighed + cells * 4 + vectorBytes
  return { sums, weighed, rows, end: rows + bytes + 2 * vectorBytes }
}

/** What a sum is where something shows through. */
const transparent = -1

/** A band of rows in memory: where it begins, how many rows of how many bytes. */
interface Band {
  readonly at: number
  readonly rows: number
  readonly length: number
}

/** A cell right of the last whole group, from pixel `from` to before pixel `to`. */
const edgeSum = (bytes: Uint8Array, band: Band, from: number, to: number, step: number): number => {
  let sum = 0
  for (let row = 0; row < band.rows; row += 1) {
    const first = band.at + row * (band.length + 1) + 1
    for (let i = first + from * step; i < first + to * step; i += step) {
      if (step === 4 && bytes[i + 3] !== 255) return transparent
      sum += weigh(bytes[i]!, bytes[i + 1]!, bytes[i + 2]!)
    }
  }
  return sum
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
  const groups = Math.floor(width / groupPixels)
  const whole = groups * (groupPixels / side)
  const laneCount = groups * groupPixels * step
  const columns = cellsOf(width)
  const at = layoutOf(length, laneCount, whole, raw.length)
  makeRoom(program.memory, at.end)
  const bytes = new Uint8Array(program.memory.buffer)
  bytes.fill(0, 0, at.sums)
  bytes.set(raw, at.rows)
  if (program.unfilter(at.rows, height, length, step, 0) === 0) {
    throw new ImageProblem('data_damaged')
  }
  const lanes = new Uint16Array(program.memory.buffer, at.sums, laneCount)
  const cells = new Int32Array(program.memory.buffer, at.weighed, whole)
  const weighed = new Int32Array(columns * cellsOf(height))
  for (let top = 0; top < height; top += side) {
    const band = { at: at.rows + top * (length + 1), rows: Math.min(side, height - top), length }
    const first = Math.floor(top / side) * columns
    lanes.fill(0)
    program.addRows(band.at, band.rows, length, step, groups, at.sums)
    program.weighCells(at.sums, whole, step, 255 * band.rows, at.weighed)
    weighed.set(cells, first)
    for (let cell = whole; cell < columns; cell += 1) {
      const to = Math.min((cell + 1) * side, width)
      weighed[first + cell] = edgeSum(bytes, band, cell * side, to, step)
    }
  }
  if (weighed.includes(transparent)) {
    return Buffer.from(bytes.buffer, at.rows, raw.length)
  }
  for (let cell = 0; cell < weighed.length; cell += 1) planes.addCell(cell, weighed[cell]!)
  return null
}

/**
 * An inflated picture with its filters undone, for `canBeFast`: in the program's own memory, which
 * holds it until another one is read. Throws `ImageProblem`.
 */
export const unfilterFast = (png: Png, raw: Uint8Array): Buffer => {
  const program = rowsProgram()
  if (program === null) throw new TypeError('asked for without canBeFast')
  const length = rowBytes(png, png.width)
  const from = Math.ceil(length / vectorBytes + 1) * vectorBytes
  makeRoom(program.memory, from + raw.length + 2 * vectorBytes)
  const bytes = new Uint8Array(program.memory.buffer)
  bytes.fill(0, 0, from)
  bytes.set(raw, from)
  if (program.unfilter(from, png.height, length, stepOf(png), 0) === 0) {
    throw new ImageProblem('data_damaged')
  }
  return Buffer.from(program.memory.buffer, from, raw.length)
}
