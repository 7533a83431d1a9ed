/**
 * The fingerprint of a PNG without an RGBA picture in memory: the data is inflated to exactly the
 * size that the header promises, and each row is unfiltered and averaged as it stands.
 */
import { inflateSync } from 'node:zlib'
import { greyOf, newSums, type CellSums } from './cells.js'
import { imageLimits, levelScale } from './limits.js'
import { ImageProblem } from './problem.js'
import type { Fingerprint } from './types.js'
import { unfilterRow } from './unfilter.js'

const side = imageLimits.cellPixels

/** What the chunks say. */
interface Png {
  readonly width: number
  readonly height: number
  readonly depth: number
  readonly colour: number
  readonly interlaced: boolean
  /** RGBA per entry. */
  readonly palette: Uint8Array | null
  /** The one transparent sample value or triple, as stored. */
  readonly clear: readonly number[] | null
  readonly data: readonly Uint8Array[]
}

const samplesOf: Readonly<Record<number, number>> = { 0: 1, 2: 3, 3: 1, 4: 2, 6: 4 }
const depthsOf: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16], 2: [8, 16], 3: [1, 2, 4, 8], 4: [8, 16], 6: [8, 16],
}

/** Every chunk up to IEND: type and content. */
function* chunksOf(bytes: Buffer): Generator<readonly [string, Buffer]> {
  let at = 8
  while (at + 12 <= bytes.length) {
    const length = bytes.readUInt32BE(at)
    const end = at + 8 + length
    if (end + 4 > bytes.length) throw new ImageProblem('truncated')
    const type = bytes.toString('latin1', at + 4, at + 8)
    yield [type, bytes.subarray(at + 8, end)]
    if (type === 'IEND') return
    at = end + 4
  }
  throw new ImageProblem('truncated')
}

const paletteOf = (rgb: Buffer, alpha: Buffer | null): Uint8Array => {
  if (rgb.length % 3 !== 0 || rgb.length > 768) throw new ImageProblem('header_damaged')
  const entries = rgb.length / 3
  return Uint8Array.from({ length: entries * 4 }, (_, i) => {
    const entry = i >> 2
    if ((i & 3) === 3) return alpha?.[entry] ?? 255
    return rgb[entry * 3 + (i & 3)] ?? 0
  })
}

const clearOf = (colour: number, content: Buffer | null): number[] | null => {
  const wanted = colour === 0 ? 1 : colour === 2 ? 3 : 0
  if (content === null || wanted === 0 || content.length < wanted * 2) return null
  return Array.from({ length: wanted }, (_, i) => content.readUInt16BE(i * 2))
}

const readPng = (bytes: Buffer): Png => {
  const found = new Map<string, Buffer>()
  const data: Buffer[] = []
  for (const [type, content] of chunksOf(bytes)) {
    if (type === 'IDAT') data.push(content)
    else if (!found.has(type)) found.set(type, content)
  }
  const head = found.get('IHDR')
  if (head?.length !== 13) throw new ImageProblem('header_damaged')
  const [depth = 0, colour = 0, method = 0, filter = 0, interlace = 0] = head.subarray(8)
  const known = depthsOf[colour]?.includes(depth) === true && method === 0 && filter === 0
  if (!known || interlace > 1) throw new ImageProblem('unsupported')
  const rgb = found.get('PLTE') ?? null
  const transparency = found.get('tRNS') ?? null
  if (colour === 3 && rgb === null) throw new ImageProblem('header_damaged')
  return {
    width: head.readUInt32BE(0), height: head.readUInt32BE(4), depth, colour,
    interlaced: interlace === 1,
    palette: colour === 3 && rgb !== null ? paletteOf(rgb, transparency) : null,
    clear: clearOf(colour, transparency),
    data,
  }
}

/** One pass over the picture: where its pixels lie. */
interface Pass {
  readonly x0: number
  readonly y0: number
  readonly dx: number
  readonly dy: number
  readonly width: number
  readonly height: number
}

const adam7 = [
  [0, 0, 8, 8], [4, 0, 8, 8], [0, 4, 4, 8], [2, 0, 4, 4], [0, 2, 2, 4], [1, 0, 2, 2], [0, 1, 1, 2],
] as const

const passesOf = ({ width, height, interlaced }: Png): Pass[] => {
  if (!interlaced) return [{ x0: 0, y0: 0, dx: 1, dy: 1, width, height }]
  return adam7
    .map(([x0, y0, dx, dy]) => ({
      x0, y0, dx, dy,
      width: Math.ceil((width - x0) / dx), height: Math.ceil((height - y0) / dy),
    }))
    .filter((pass) => pass.width > 0 && pass.height > 0)
}

const bitsPerPixel = ({ depth, colour }: Png): number => depth * (samplesOf[colour] ?? 0)

const rowBytes = (png: Png, width: number): number => Math.ceil((width * bitsPerPixel(png)) / 8)

/** Exactly as many bytes as the header promises: no bomb gets past its own header. */
const inflate = (png: Png, expected: number): Buffer => {
  let raw: Buffer
  try {
    raw = inflateSync(png.data.length === 1 ? (png.data[0] ?? Buffer.alloc(0))
      : Buffer.concat(png.data), { maxOutputLength: expected, chunkSize: Math.max(64, expected) })
  } catch {
    throw new ImageProblem('data_damaged')
  }
  if (raw.length !== expected) throw new ImageProblem('truncated')
  return raw
}

/** Grey and alpha of one row, as 8-bit samples. */
interface RowReader {
  /** Fills `grey` (and `alpha` where there is any) with `count` pixels of a row. */
  read(row: Uint8Array, count: number, grey: Uint8Array, alpha: Uint8Array): void
  readonly hasAlpha: boolean
}

const to8 = (value: number, most: number): number => Math.floor((value * 255) / most + 0.5)

const sampleReader = (depth: number): ((row: Uint8Array, index: number) => number) => {
  if (depth === 8) return (row, index) => row[index] ?? 0
  if (depth === 16) return (row, index) => ((row[index * 2] ?? 0) << 8) | (row[index * 2 + 1] ?? 0)
  const mask = (1 << depth) - 1
  return (row, index) => {
    const bit = index * depth
    return ((row[bit >> 3] ?? 0) >> (8 - depth - (bit & 7))) & mask
  }
}

const paletteReader = (palette: Uint8Array, depth: number): RowReader => {
  const sample = sampleReader(depth)
  const entries = palette.length / 4
  const greys = Uint8Array.from({ length: entries }, (_, i) =>
    greyOf(palette[i * 4] ?? 0, palette[i * 4 + 1] ?? 0, palette[i * 4 + 2] ?? 0))
  const alphas = Uint8Array.from({ length: entries }, (_, i) => palette[i * 4 + 3] ?? 255)
  return {
    hasAlpha: alphas.some((value) => value < 255),
    read(row, count, grey, alpha) {
      for (let i = 0; i < count; i += 1) {
        const entry = sample(row, i)
        if (entry >= entries) throw new ImageProblem('data_damaged')
        grey[i] = greys[entry] ?? 0
        alpha[i] = alphas[entry] ?? 255
      }
    },
  }
}

const greyReader = ({ depth, colour, clear }: Png): RowReader => {
  const sample = sampleReader(depth)
  const most = 2 ** depth - 1
  const withAlpha = colour === 4
  const cleared = clear?.[0]
  return {
    hasAlpha: withAlpha || cleared !== undefined,
    read(row, count, grey, alpha) {
      for (let i = 0; i < count; i += 1) {
        const value = sample(row, withAlpha ? i * 2 : i)
        grey[i] = to8(value, most)
        alpha[i] = withAlpha ? to8(sample(row, i * 2 + 1), most) : value === cleared ? 0 : 255
      }
    },
  }
}

const wideColourReader = ({ colour, clear }: Png): RowReader => {
  const sample = sampleReader(16)
  const step = colour === 6 ? 4 : 3
  return {
    hasAlpha: step === 4 || clear !== null,
    read(row, count, grey, alpha) {
      for (let i = 0; i < count; i += 1) {
        const at = i * step
        const [r, g, b] = [sample(row, at), sample(row, at + 1), sample(row, at + 2)]
        grey[i] = greyOf(to8(r, 65_535), to8(g, 65_535), to8(b, 65_535))
        const gone = clear !== null && r === clear[0] && g === clear[1] && b === clear[2]
        alpha[i] = step === 4 ? to8(sample(row, i * 4 + 3), 65_535) : gone ? 0 : 255
      }
    },
  }
}

const rgbReader = ({ clear }: Png): RowReader => ({
  hasAlpha: clear !== null,
  read(row, count, grey, alpha) {
    for (let i = 0, at = 0; i < count; i += 1, at += 3) {
      grey[i] = greyOf(row[at]!, row[at + 1]!, row[at + 2]!)
    }
    if (clear === null) return
    for (let i = 0, at = 0; i < count; i += 1, at += 3) {
      const gone = row[at] === clear[0] && row[at + 1] === clear[1] && row[at + 2] === clear[2]
      alpha[i] = gone ? 0 : 255
    }
  },
})

const rgbaReader: RowReader = {
  hasAlpha: true,
  read(row, count, grey, alpha) {
    for (let i = 0, at = 0; i < count; i += 1, at += 4) {
      grey[i] = greyOf(row[at]!, row[at + 1]!, row[at + 2]!)
      alpha[i] = row[at + 3]!
    }
  },
}

/** Adds a row whose pixels lie side by side. */
const addDense = (sums: CellSums, y: number, values: Uint8Array): void => {
  const { width, columns, sums: cells } = sums
  const first = Math.floor(y / side) * columns
  for (let column = 0, x = 0; column < columns; column += 1) {
    const end = Math.min(x + side, width)
    let sum = 0
    for (; x < end; x += 1) sum += values[x]!
    cells[first + column]! += sum
  }
}

const addSpread = (sums: CellSums, y: number, pass: Pass, values: Uint8Array): void => {
  const first = Math.floor(y / side) * sums.columns
  for (let i = 0, x = pass.x0; i < pass.width; i += 1, x += pass.dx) {
    const cell = first + Math.floor(x / side)
    sums.sums[cell] = (sums.sums[cell] ?? 0) + (values[i] ?? 0)
  }
}

const readerOf = (png: Png): RowReader => {
  if (png.palette !== null) return paletteReader(png.palette, png.depth)
  if (png.colour === 0 || png.colour === 4) return greyReader(png)
  if (png.depth === 16) return wideColourReader(png)
  return png.colour === 6 ? rgbaReader : rgbReader(png)
}

/** Sums of grey; with transparency, of grey times alpha, and of what alpha leaves of white. */
class Planes {
  readonly #grey: CellSums
  readonly #shaded: Float64Array
  readonly #missing: Float64Array
  #opaque = true

  constructor(readonly width: number, readonly height: number) {
    this.#grey = newSums(width, height)
    this.#shaded = new Float64Array(this.#grey.sums.length)
    this.#missing = new Float64Array(this.#grey.sums.length)
  }

  /** Adds one row of a pass; `alpha` is null where every pixel is opaque. */
  add(y: number, pass: Pass, grey: Uint8Array, alpha: Uint8Array | null): void {
    if (alpha === null || isOpaque(alpha, pass.width)) {
      if (pass.dx === 1) addDense(this.#grey, y, grey)
      else addSpread(this.#grey, y, pass, grey)
      return
    }
    this.#opaque = false
    const first = Math.floor(y / side) * this.#grey.columns
    for (let i = 0, x = pass.x0; i < pass.width; i += 1, x += pass.dx) {
      const cell = first + Math.floor(x / side)
      const seen = alpha[i] ?? 255
      this.#shaded[cell] = (this.#shaded[cell] ?? 0) + (grey[i] ?? 0) * seen
      this.#missing[cell] = (this.#missing[cell] ?? 0) + 255 * (255 - seen)
    }
  }

  /** One plane, or two where something shows through. */
  finish(): Uint16Array[] {
    const { sums, columns } = this.#grey
    const plane = (light: boolean): Uint16Array => Uint16Array.from(sums, (sum, i) => {
      const x = (i % columns) * side
      const y = Math.floor(i / columns) * side
      const pixels = Math.min(side, this.width - x) * Math.min(side, this.height - y)
      const white = light ? (this.#missing[i] ?? 0) : 0
      const whole = sum * 255 + (this.#shaded[i] ?? 0) + white
      return Math.round((whole * levelScale) / (pixels * 255))
    })
    return this.#opaque ? [plane(false)] : [plane(false), plane(true)]
  }
}

const isOpaque = (alpha: Uint8Array, count: number): boolean => {
  for (let i = 0; i < count; i += 1) if (alpha[i] !== 255) return false
  return true
}

/** The fingerprint of a PNG whose facts were accepted. Throws `ImageProblem`. */
export const pngFingerprint = (bytes: Uint8Array): Fingerprint => {
  const png = readPng(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength))
  const passes = passesOf(png)
  const expected = passes.reduce(
    (sum, pass) => sum + pass.height * (1 + rowBytes(png, pass.width)), 0)
  const raw = inflate(png, expected)
  const reader = readerOf(png)
  const planes = new Planes(png.width, png.height)
  const grey = new Uint8Array(png.width)
  const alpha = new Uint8Array(png.width)
  const step = Math.max(1, bitsPerPixel(png) >> 3)
  let at = 0
  for (const pass of passes) {
    const length = rowBytes(png, pass.width)
    let before: Uint8Array | null = null
    for (let row = 0; row < pass.height; row += 1) {
      const line: Uint8Array = raw.subarray(at + 1, at + 1 + length)
      if (!unfilterRow(raw[at] ?? 0, line, before, step)) throw new ImageProblem('data_damaged')
      reader.read(line, pass.width, grey, alpha)
      planes.add(pass.y0 + row * pass.dy, pass, grey, reader.hasAlpha ? alpha : null)
      before = line
      at += length + 1
    }
  }
  return { format: 'png', width: png.width, height: png.height, planes: planes.finish() }
}
