/** Rows of every kind of PNG as grey and alpha. */
import { weigh, weightScale } from './cells.js'
import type { Png } from './png-chunks.js'
import { ImageProblem } from './problem.js'

/** Weighed grey (see cells.ts) and 8-bit alpha of one row. */
interface RowReader {
  /** Fills `grey` (and `alpha` where there is any) with `count` pixels of a row. */
  read(row: Uint8Array, count: number, grey: Uint32Array, alpha: Uint8Array): void
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
  const greys = Uint32Array.from({ length: entries }, (_, i) =>
    weigh(palette[i * 4] ?? 0, palette[i * 4 + 1] ?? 0, palette[i * 4 + 2] ?? 0))
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
        grey[i] = to8(value, most) * weightScale
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
        grey[i] = weigh(to8(r, 65_535), to8(g, 65_535), to8(b, 65_535))
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
      grey[i] = weigh(row[at]!, row[at + 1]!, row[at + 2]!)
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
      grey[i] = weigh(row[at]!, row[at + 1]!, row[at + 2]!)
      alpha[i] = row[at + 3]!
    }
  },
}

/** How this picture's rows are read. */
export const readerOf = (png: Png): RowReader => {
  if (png.palette !== null) return paletteReader(png.palette, png.depth)
  if (png.colour === 0 || png.colour === 4) return greyReader(png)
  if (png.depth === 16) return wideColourReader(png)
  return png.colour === 6 ? rgbaReader : rgbReader(png)
}
