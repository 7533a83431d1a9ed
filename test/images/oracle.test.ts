/** The fast ways beside whole decoding by libraries, over pictures of every kind. */
import { readFileSync, readdirSync } from 'node:fs'
import fc from 'fast-check'
import jpegJs from 'jpeg-js'
import { PNG } from 'pngjs'
import sharp from 'sharp'
import { examine } from '../../src/images/examine.js'
import type { Fingerprint } from '../../src/images/types.js'
import { anyPng, noise, pngKinds, pngOf } from '../support/images/any-png.js'
import { writePng, type PngPicture } from '../support/images/png-writer.js'
import { t } from '../support/tests-in-slices.js'

const side = 8

/** The plane of an RGBA picture over a background, by the plainest of ways, in levels. */
const planeOver = (rgba: Uint8Array, width: number, height: number, back: number): number[] => {
  const columns = Math.ceil(width / side)
  const cells = columns * Math.ceil(height / side)
  const [sums, counts] = [Array<number>(cells).fill(0), Array<number>(cells).fill(0)]
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 4
      const [r, g, b, a] = [rgba[at]!, rgba[at + 1]!, rgba[at + 2]!, rgba[at + 3]! / 255]
      const cell = Math.floor(y / side) * columns + Math.floor(x / side)
      sums[cell]! += (0.299 * r + 0.587 * g + 0.114 * b) * a + back * (1 - a)
      counts[cell]! += 1
    }
  }
  return sums.map((sum, cell) => sum / counts[cell]!)
}

const farthest = (plane: Uint16Array | undefined, wanted: readonly number[]): number => {
  if (plane?.length !== wanted.length) return 255
  return wanted.reduce((most, level, i) => Math.max(most, Math.abs(plane[i]! / 64 - level)), 0)
}

/** Largest difference in levels between a fingerprint and the libraries' pixels. */
const offBy = (
  found: Fingerprint | null, rgba: Uint8Array, width: number, height: number,
): number => {
  if (found === null) return 255
  const [black, white = black] = found.planes
  return Math.max(
    farthest(black, planeOver(rgba, width, height, 0)),
    farthest(white, planeOver(rgba, width, height, 255)),
  )
}

// The weights are rounded to 1/65536 and the result to 1/64 of a level.
const pngLevels = 1 / 64
const jpegLevels = 3
/** A block that the picture's edge cuts is averaged with its padding. */
const jpegEdgeLevels = 8

/** What pngjs makes of a picture, and how far the fingerprint is from it. */
const pngOff = (given: PngPicture): number => {
  const bytes = writePng(given)
  const { width, height, data } = PNG.sync.read(bytes)
  return offBy(examine(bytes).fingerprint, data, width, height)
}

t.test('S-070 PNGs of every colour type, depth, filter and order of rows average as pngjs decodes them', async (t) => {
  const numRuns = 1_500
  let most = 0
  const any = anyPng()
  fc.assert(fc.property(any, (given) => {
    const off = pngOff(given)
    most = Math.max(most, off)
    return off <= pngLevels
  }), { numRuns })
  t.comment(`${numRuns} PNGs, at most ${most.toFixed(4)} of 255 levels off`)
  t.ok(most <= pngLevels)
})

t.test('S-070 every combination of kind, order, filter and transparency is held to pngjs once', async (t) => {
  const off: string[] = []
  for (const kind of pngKinds) {
    for (const interlaced of [false, true]) {
      for (const filter of [0, 1, 2, 3, 4, 5]) {
        for (const clear of [0, 1]) {
          const given = pngOf(kind, 37, 21, 11 + filter, interlaced, filter, clear)
          const levels = pngOff(given)
          const name = `${kind.join()} ${interlaced} ${filter} ${clear}`
          if (levels > pngLevels) off.push(`${name}: ${levels}`)
        }
      }
    }
  }
  t.strictSame(off, [])
})

interface JpegKind {
  readonly name: string
  readonly options: Parameters<ReturnType<typeof sharp>['jpeg']>[0]
  readonly grey?: boolean
}

const jpegKinds: readonly JpegKind[] = [false, true].flatMap((progressive) => [
  ...['4:4:4', '4:2:0'].flatMap((chromaSubsampling) =>
    [95, 80, 60].map((quality) => ({
      name: `${chromaSubsampling} q${quality}`,
      options: { progressive, chromaSubsampling, quality },
    }))),
  { name: 'grey', grey: true, options: { progressive } },
  { name: 'optimised', options: { progressive, optimizeScans: progressive, mozjpeg: true } },
])

/** Text-like strokes on soft colour: flat parts, hard edges, no extremes that clip a block. */
const painted = (width: number, height: number, seed: number): Buffer => {
  const pixels = Buffer.alloc(width * height * 3)
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const stroke = noise(seed, x >> 1, y >> 2) % 5 === 0 ? 90 : 0
      for (let c = 0; c < 3; c += 1) {
        pixels[(y * width + x) * 3 + c] = 190 - stroke - ((x + y * (c + 1)) >> 2) % 60
      }
    }
  }
  return pixels
}

const jpegOff = (bytes: Buffer): number => {
  const { width, height, data } = jpegJs.decode(bytes, { useTArray: true, formatAsRGBA: true })
  return offBy(examine(bytes).fingerprint, data, width, height)
}

t.test('S-070 JPEGs, baseline and progressive, lie within three levels of jpeg-js, eight where the edge cuts a block', async (t) => {
  let most = 0
  let count = 0
  for (const { name, options, grey } of jpegKinds) {
    for (const [width, height] of [[64, 48], [160, 96], [8, 8], [65, 47], [33, 100]] as const) {
      count += 1
      const raw = { width, height, channels: 3 as const }
      const made = sharp(painted(width, height, count), { raw })
      const bytes = await (grey === true ? made.greyscale() : made).jpeg(options).toBuffer()
      const off = jpegOff(bytes)
      most = Math.max(most, off)
      const limit = width % 8 === 0 && height % 8 === 0 ? jpegLevels : jpegEdgeLevels
      if (off > limit) t.fail(`${name} ${width}x${height} is ${off.toFixed(2)} off`)
    }
  }
  t.comment(`${count} JPEGs, at most ${most.toFixed(2)} of 255 levels off`)
  t.ok(most > 0 && most <= jpegEdgeLevels)
})

/** Largest difference over cells that are whole blocks, and over all. */
const jpegOffs = (bytes: Buffer): { readonly whole: number; readonly all: number } => {
  const { width, height, data } = jpegJs.decode(bytes, { useTArray: true, formatAsRGBA: true })
  const plane = examine(bytes).fingerprint?.planes[0]
  const wanted = planeOver(data, width, height, 0)
  const columns = Math.ceil(width / side)
  const offs = wanted.map((level, i) => Math.abs((plane?.[i] ?? 1e6) / 64 - level))
  const isWhole = (i: number): boolean =>
    (i % columns + 1) * side <= width && (Math.floor(i / columns) + 1) * side <= height
  return { whole: Math.max(...offs.filter((_, i) => isWhole(i))), all: Math.max(...offs) }
}

t.test('S-070 other samplings and restart intervals, written by libjpeg, lie within the same levels of jpeg-js', async (t) => {
  // By cjpeg -quality 80 -sample HxV, -restart N or NB, -progressive; 96x64 and 90x51 pixels.
  const names = readdirSync('test/images/fixtures').filter((name) => name.endsWith('.jpg'))
  t.ok(names.length >= 18, `${names.length} files`)
  for (const name of names) {
    const { whole, all } = jpegOffs(readFileSync(`test/images/fixtures/${name}`))
    t.ok(whole <= jpegLevels, `${name}: whole blocks ${whole.toFixed(2)} levels off`)
    t.ok(all <= 2 * jpegEdgeLevels, `${name}: edge blocks ${all.toFixed(2)} levels off`)
  }
})

t.test('S-070 a CMYK JPEG is decoded whole and equals the library', async (t) => {
  for (const [width, height] of [[64, 64], [50, 35]] as const) {
    const raw = { width, height, channels: 3 as const }
    const bytes = await sharp(painted(width, height, 5), { raw })
      .toColourspace('cmyk').jpeg().toBuffer()
    t.equal(bytes.includes(Buffer.from([0xff, 0xc0])), true)
    t.ok(jpegOff(bytes) <= pngLevels)
  }
})
