/** A PNG as it is compared with another: its rows, unfiltered, in the samples of its file. */
import { orientationOf } from './orientation.js'
import { bitsPerPixel, readPng, rowBytes, type Png } from './png-chunks.js'
import { canBeFast, unfilterFast } from './png-fast.js'
import { passesOf, type Pass } from './png-passes.js'
import { inflate, unfilter } from './png.js'
import { ImageProblem } from './problem.js'
import { release } from './release.js'

/** A pass with the place of its first row, filter byte included. */
interface PlacedPass extends Pass {
  readonly at: number
  readonly length: number
}

/** A decoded PNG. */
export interface PngPicture {
  readonly format: 'png'
  readonly png: Png
  readonly passes: readonly PlacedPass[]
  readonly raw: Buffer
  readonly orientation: string
  /** Bytes of memory that it holds. */
  readonly bytes: number
}

const placed = (png: Png): PlacedPass[] => {
  let at = 0
  return passesOf(png).map((pass) => {
    const length = rowBytes(png, pass.width)
    const here = { ...pass, at, length }
    at += pass.height * (length + 1)
    return here
  })
}

/** How long a decoded picture is wanted: `passing`, until the next one is decoded. */
export type Wanted = 'lasting' | 'passing'

/** The rows with their filters undone. */
const unfiltered = (
  png: Png, passes: readonly PlacedPass[], raw: Buffer, wanted: Wanted,
): Buffer => {
  if (canBeFast(png)) {
    const rows = unfilterFast(png, raw)
    if (wanted === 'lasting') {
      raw.set(rows)
      return raw
    }
    release(raw)
    return rows
  }
  const step = Math.max(1, bitsPerPixel(png) >> 3)
  for (const pass of passes) unfilter(raw, pass.at, pass, pass.length, step)
  return raw
}

/** Reads a PNG whose facts were accepted. Throws `ImageProblem`, as `inflate` does. */
export const readPngPicture = (bytes: Uint8Array, wanted: Wanted): PngPicture => {
  const png = readPng(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const passes = placed(png)
  const size = passes.reduce((sum, { height, length }) => sum + height * (length + 1), 0)
  const raw = unfiltered(png, passes, inflate(png, size), wanted)
  return { format: 'png', png, passes, raw, orientation: orientationOf(png.exif), bytes: size }
}

/** The bytes of row `y` of a picture of one pass. */
export const plainRow = ({ raw, passes: [pass] }: PngPicture, y: number): Buffer => {
  const { at, length } = pass!
  const from = at + y * (length + 1) + 1
  return raw.subarray(from, from + length)
}

/** Writes `count` pixels of a row as red, green, blue and alpha, `most` being full. */
type Expand = (row: Uint8Array, count: number, out: Uint16Array) => void

const paletteExpander = (png: Png, palette: Uint8Array, most: number): Expand => {
  const sample = sampleOf(png.depth)
  const scale = most / 255
  const entries = palette.length / 4
  return (row, count, out) => {
    for (let i = 0, to = 0; i < count; i += 1, to += 4) {
      const entry = sample(row, i)
      if (entry >= entries) throw new ImageProblem('data_damaged')
      for (let channel = 0; channel < 4; channel += 1) {
        out[to + channel] = palette[entry * 4 + channel]! * scale
      }
    }
  }
}

const sampleOf = (depth: number): ((row: Uint8Array, index: number) => number) => {
  if (depth === 8) return (row, index) => row[index]!
  if (depth === 16) return (row, index) => (row[index * 2]! << 8) | row[index * 2 + 1]!
  const mask = (1 << depth) - 1
  return (row, index) => {
    const bit = index * depth
    return (row[bit >> 3]! >> (8 - depth - (bit & 7))) & mask
  }
}

const bytesExpander = (step: 3 | 4): Expand => (row, count, out) => {
  for (let i = 0, at = 0, to = 0; i < count; i += 1, at += step, to += 4) {
    out[to] = row[at]!
    out[to + 1] = row[at + 1]!
    out[to + 2] = row[at + 2]!
    out[to + 3] = step === 4 ? row[at + 3]! : 255
  }
}

const samplesExpander = ({ depth, colour, clear }: Png, most: number): Expand => {
  const sample = sampleOf(depth)
  const scale = most / (2 ** depth - 1)
  const colours = colour === 2 || colour === 6 ? 3 : 1
  const withAlpha = colour === 4 || colour === 6
  const step = colours + (withAlpha ? 1 : 0)
  const [green, blue] = colours === 3 ? [1, 2] : [0, 0]
  return (row, count, out) => {
    for (let i = 0, at = 0, to = 0; i < count; i += 1, at += step, to += 4) {
      const [r, g, b] = [sample(row, at), sample(row, at + green), sample(row, at + blue)]
      out[to] = r * scale
      out[to + 1] = g * scale
      out[to + 2] = b * scale
      const gone = clear !== null && r === clear[0]
        && (colours === 1 || (g === clear[1] && b === clear[2]))
      out[to + 3] = withAlpha ? sample(row, at + colours) * scale : gone ? 0 : most
    }
  }
}

/** How rows of a picture are expanded; `most` is 255, or 65535 where either has 16 bits. */
const expanderOf = (png: Png, most: number): Expand => {
  if (png.palette !== null) return paletteExpander(png, png.palette, most)
  const plain = png.depth === 8 && most === 255 && png.clear === null
  if (plain && png.colour === 2) return bytesExpander(3)
  if (plain && png.colour === 6) return bytesExpander(4)
  return samplesExpander(png, most)
}

/** Gives row `y` of a picture as red, green, blue and alpha; the same memory each time. */
export const rowsOf = (
  { png, passes, raw }: PngPicture, most: number,
): ((y: number) => Uint16Array) => {
  const expand = expanderOf(png, most)
  const out = new Uint16Array(png.width * 4)
  const part = png.interlaced ? new Uint16Array(png.width * 4) : out
  return (y) => {
    for (const { x0, y0, dx, dy, width, at, length } of passes) {
      if (y < y0 || (y - y0) % dy !== 0) continue
      const from = at + ((y - y0) / dy) * (length + 1) + 1
      expand(raw.subarray(from, from + length), width, part)
      if (part === out) continue
      for (let i = 0; i < width; i += 1) {
        const to = (x0 + i * dx) * 4
        for (let channel = 0; channel < 4; channel += 1) out[to + channel] = part[i * 4 + channel]!
      }
    }
    return out
  }
}
