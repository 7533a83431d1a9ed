/** Areas that do not count: what lies in them decides nothing, what lies beside them everything. */
import fc from 'fast-check'
import sharp, { type JpegOptions } from 'sharp'
import { comparePictures, readPicture } from '../../src/images/compare.js'
import { compareWithStanding } from '../../src/images/compare-job.js'
import { examine } from '../../src/images/examine.js'
import { compareOutside, smallChangeOf } from '../../src/images/fingerprint.js'
import { visualLimit } from '../../src/images/image-limits.js'
import { createImagePool } from '../../src/images/pool.js'
import { liesIn, meet, pixelsIn } from '../../src/images/rect.js'
import type { PictureComparison, PixelRect } from '../../src/images/types.js'
import { anyPng, noise } from '../support/images/any-png.js'
import { dice } from '../support/images/edit-suite.js'
import { writePng, type PngPicture } from '../support/images/png-writer.js'
import { t } from '../support/tests-in-slices.js'
import { casesOf } from '../support/for-all.js'

const compare = (
  a: Buffer, b: Buffer, ignored: readonly PixelRect[] = [],
): PictureComparison => comparePictures(readPicture(a), readPicture(b), ignored)

const holds = ({ x, y, width, height }: PixelRect, px: number, py: number): boolean =>
  px >= x && px < x + width && py >= y && py < y + height

/** A rectangle within a picture, made of four numbers. */
const rectIn = (
  { width, height }: { readonly width: number; readonly height: number }, seed: number,
): PixelRect => {
  const [x, y] = [noise(seed, 1) % width, noise(seed, 2) % height]
  return {
    x, y, width: 1 + (noise(seed, 3) % (width - x)), height: 1 + (noise(seed, 4) % (height - y)),
  }
}

/** Another sample where `here` says so, half of all values away. */
const changed = (given: PngPicture, here: (x: number, y: number) => boolean): PngPicture => ({
  ...given,
  sample: (x, y, channel) => {
    const value = given.sample(x, y, channel)
    return here(x, y) ? (value + 2 ** (given.depth - 1)) % 2 ** given.depth : value
  },
})

/** A pixel just beside one of these and in none of them; null where there is none. */
const beside = (
  { width, height }: PngPicture, rects: readonly PixelRect[], seed: number,
): { readonly x: number; readonly y: number } | null => {
  const near: { x: number; y: number }[] = []
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const isNear = [-1, 0, 1].some((dx) => [-1, 0, 1].some((dy) =>
        rects.some((rect) => holds(rect, x + dx, y + dy))))
      if (isNear && !rects.some((rect) => holds(rect, x, y))) near.push({ x, y })
    }
  }
  return near[seed % Math.max(1, near.length)] ?? null
}

t.test('S-071 PNGs of every kind that differ in ignored areas alone are alike outside of them, and one pixel beside them is another picture', async (t) => {
  const found = { inside: 0, outside: 0 }
  fc.assert(fc.property(
    anyPng(), fc.array(fc.nat(), { minLength: 1, maxLength: 4 }), fc.nat(), fc.boolean(),
    (given, seeds, seed, interlaced) => {
      const rects = seeds.map((one) => rectIn(given, one))
      const base = writePng(given)
      const isInside = (x: number, y: number): boolean => rects.some((rect) => holds(rect, x, y))
      const within = writePng({ ...changed(given, isInside), interlaced })
      const { verdict } = compare(base, within)
      const outside = compare(base, within, rects)
      if (verdict === 'differs') found.inside += 1
      const merges = verdict === 'differs'
        ? outside.verdict === 'alike_outside' && outside.difference === 0
        : outside.verdict === verdict
      const pixel = beside(given, rects, seed)
      if (!merges || pixel === null) return merges
      const isBeside = (x: number, y: number): boolean => x === pixel.x && y === pixel.y
      const alone = writePng({ ...changed(given, isBeside), interlaced })
      if (compare(base, alone).verdict !== 'differs') return true
      found.outside += 1
      const both = writePng({
        ...changed(given, (x, y) => isBeside(x, y) || isInside(x, y)), interlaced,
      })
      return compare(base, alone, rects).verdict === 'differs'
        && compare(base, both, rects).verdict === 'differs'
    },
  ), { numRuns: 400 })
  t.ok(found.inside > casesOf(200) && found.outside > casesOf(150), JSON.stringify(found))
})

const plain = (sample: (x: number, y: number) => number): Buffer => writePng({
  width: 320, height: 200, depth: 8, colour: 2, sample: (x, y) => sample(x, y),
})
const clock: PixelRect = { x: 250, y: 10, width: 40, height: 12 }

t.test('S-071 S-072 noise outside of ignored areas is measured, and more of it than two levels is another picture', async (t) => {
  const base = plain(() => 100)
  const with_ = (level: number): Buffer => plain((x, y) =>
    holds(clock, x, y) ? 200 : x === 249 && y === 10 ? 100 + level : 100)
  t.strictSame(compare(base, with_(0), [clock]), { verdict: 'alike_outside', difference: 0 })
  t.strictSame(compare(base, with_(2), [clock]), { verdict: 'alike_outside', difference: 2 })
  t.equal(compare(base, with_(3), [clock]).verdict, 'differs')
  const noisy = plain((x, y) => holds(clock, x, y) ? 102 : 100)
  t.strictSame(compare(base, noisy, [clock]), { verdict: 'alike', difference: 2 },
    'what is alike as a whole is called so')
})

t.test('S-071 of two pictures that differ in one small rectangle it is told where, and of no others', async (t) => {
  const base = plain(() => 100)
  const region = (changes: (x: number, y: number) => boolean, ignored: PixelRect[] = []) =>
    compare(base, plain((x, y) => changes(x, y) ? 180 : 100), ignored).region
  t.strictSame(region((x, y) => holds(clock, x, y)), clock)
  t.strictSame(region((x, y) => holds(clock, x, y) && (x + y) % 3 === 0),
    { x: 250, y: 10, width: 40, height: 12 }, 'what holds every pixel that differs')
  const second = { x: 20, y: 150, width: 10, height: 5 }
  t.equal(region((x, y) => holds(clock, x, y) || holds(second, x, y)), undefined, 'two places')
  t.strictSame(
    region((x, y) => holds(clock, x, y) || holds(second, x, y), [clock]), second,
    'one of which is ignored')
  fc.assert(fc.property(fc.nat(280), fc.nat(39), fc.nat(39), (x, first, last) => {
    const [from, to] = [x + Math.min(first, last), x + Math.max(first, last)]
    const found = region((px, py) => (px === from || px === to) && py === 7)
    return found?.x === from && found.width === to - from + 1 && found.y === 7
      && found.height === 1
  }), { numRuns: 40 })
  // 2 of 100 parts of 64,000 pixels are 1,280.
  t.strictSame(region((x, y) => x < 40 && y < 32), { x: 0, y: 0, width: 40, height: 32 })
  t.equal(region((x, y) => x < 41 && y < 32), undefined)
})

const printOf = (bytes: Buffer) => {
  const { fingerprint } = examine(bytes)
  if (fingerprint === null) throw new TypeError('not decoded')
  return fingerprint
}

t.test('S-070 a cell that an ignored area touches refuses nothing, and its neighbours refuse as ever', async (t) => {
  const base = printOf(plain(() => 100))
  const measure = (bytes: Buffer, ignored: readonly PixelRect[]): number =>
    compareOutside(base, printOf(bytes), ignored).measure
  const ticked = plain((x, y) => holds(clock, x, y) ? 250 : 100)
  t.ok(measure(ticked, []) > visualLimit)
  t.equal(measure(ticked, [clock]), 0)
  fc.assert(fc.property(fc.nat(39), fc.nat(24), fc.nat(), (column, row, seed) => {
    const rect = rectIn({ width: 320, height: 200 }, seed)
    const cell = { x: column * 8, y: row * 8, width: 8, height: 8 }
    const bytes = plain((x, y) => holds(cell, x, y) ? 250 : 100)
    return measure(bytes, [rect]) > visualLimit === !meet(rect, cell)
  }), { numRuns: 100 })
  t.strictSame(smallChangeOf(base, printOf(ticked), []), { x: 248, y: 8, width: 48, height: 16 })
  t.equal(smallChangeOf(base, printOf(ticked), [clock]), null)
  t.equal(smallChangeOf(base, printOf(plain((x) => x < 40 ? 250 : 100)), []), null, 'too large')
  t.equal(smallChangeOf(base, base, []), null)
})

interface Screen {
  readonly width: number
  readonly height: number
  readonly rgb: Buffer
}

const screenOf = (width: number, height: number, seed: number): Screen => ({
  width, height,
  rgb: Buffer.from(Uint8Array.from({ length: width * height * 3 }, (_, i) => {
    const [x, y, channel] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width), i % 3]
    const ink = noise(seed, x >> 2, y >> 3) % 4 === 0 && (x * 7 + y * 3) % 5 < 2
    return ink ? 40 * channel : 225 - ((x >> 5) + channel * 9) % 30
  })),
})

/** Another colour of every pixel of a rectangle. */
const painted = (screen: Screen, rect: PixelRect, by: readonly number[]): Screen => {
  const rgb = Buffer.from(screen.rgb)
  for (let y = rect.y; y < rect.y + rect.height; y += 1) {
    for (let x = rect.x; x < rect.x + rect.width; x += 1) {
      for (const channel of [0, 1, 2]) {
        const at = (y * screen.width + x) * 3 + channel
        rgb[at] = (rgb[at]! + by[channel]!) & 255
      }
    }
  }
  return { ...screen, rgb }
}

const jpeg = ({ width, height, rgb }: Screen, options: JpegOptions): Promise<Buffer> =>
  sharp(rgb, { raw: { width, height, channels: 3 } }).jpeg(options).toBuffer()

const kinds: readonly (readonly [string, JpegOptions, JpegOptions])[] = [
  ['equal tables, 4:2:0', { quality: 85 }, { quality: 85 }],
  ['equal tables, progressive', { quality: 85 }, { quality: 85, progressive: true }],
  ['equal tables, 4:4:4', { quality: 90, chromaSubsampling: '4:4:4' },
    { quality: 90, chromaSubsampling: '4:4:4' }],
  ['other tables', { quality: 80 }, { quality: 93 }],
  ['other tables and sampling', { quality: 90, chromaSubsampling: '4:4:4' },
    { quality: 82, chromaSubsampling: '4:2:0', progressive: true }],
]

/** Areas whose borders lie on no border of a block, most of them. */
const areaOf = (next: (below: number) => number, { width, height }: Screen): PixelRect => ({
  x: next(width - 30), y: next(height - 20), width: 1 + next(30), height: 1 + next(20),
})

t.test('S-071 S-072 JPEGs of any tables and sampling that differ in an ignored area alone are alike outside of it, and a block beside it is another picture', async (t) => {
  const next = dice(11)
  let seen = 0
  for (const [name, one, other] of kinds) {
    const wrong: string[] = []
    for (let round = 0; round < 14; round += 1) {
      // Where the sampling differs what cuts a block at the edge of the picture is no repeat.
      const cut = name.endsWith('sampling') ? 0 : 1 + next(15)
      const screen = screenOf(160 + cut, 96 + cut, next(1_000))
      const area = areaOf(next, screen)
      const base = await jpeg(screen, one)
      const within = await jpeg(painted(screen, area, [90, 30, 60]), other)
      if (compare(base, within).verdict === 'differs') seen += 1
      if (compare(base, within, [area]).verdict !== 'alike_outside') wrong.push(`missed ${round}`)
      // A block that touches no coarser one of the area's.
      const blocks = [-16, 16].flatMap((by) => [
        { x: ((area.x >> 4) << 4) + by * 3, y: (area.y >> 3) << 3, width: 8, height: 8 },
        { x: (area.x >> 3) << 3, y: ((area.y >> 4) << 4) + by * 3, width: 8, height: 8 },
      ]).filter((block) =>
        liesIn(block, { x: 0, y: 0, width: screen.width, height: screen.height }))
      for (const block of blocks) {
        const beside = await jpeg(painted(screen, block, [60, 60, 60]), other)
        if (compare(base, beside, [area]).verdict !== 'differs') wrong.push(`merged ${round}`)
      }
    }
    t.strictSame(wrong, [], name)
  }
  t.equal(seen, 14 * kinds.length)
})

/** Grey blocks, 128 but where a rectangle holds them. */
const blocksOf = (width: number, height: number, changes: readonly PixelRect[]): Screen => ({
  width, height,
  rgb: Buffer.from(Uint8Array.from({ length: width * height * 3 }, (_, i) => {
    const [x, y] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width)]
    return changes.some((rect) => holds(rect, x, y)) ? 30 : 128
  })),
})

t.test('S-071 of a JPEG no block counts that an area touches, and the next one does, to the pixel', async (t) => {
  const options = { quality: 90, chromaSubsampling: '4:4:4' }
  const base = await jpeg(blocksOf(160, 120, []), options)
  const block = { x: 80, y: 40, width: 8, height: 8 }
  const ticked = await jpeg(blocksOf(160, 120, [block]), options)
  const verdict = (x: number, y: number): string =>
    compare(base, ticked, [{ x, y, width: 1, height: 1 }]).verdict
  for (const [x, y] of [[80, 40], [87, 40], [80, 47], [87, 47]] as const) {
    t.equal(verdict(x, y), 'alike_outside', `${x},${y} lies in the block`)
  }
  for (const [x, y] of [[79, 40], [88, 47], [80, 39], [87, 48]] as const) {
    t.equal(verdict(x, y), 'differs', `${x},${y} lies beside it`)
  }
  t.strictSame(compare(base, ticked).region, block)
  const edge = await jpeg(blocksOf(157, 120, [{ x: 152, y: 0, width: 5, height: 8 }]), options)
  const empty = await jpeg(blocksOf(157, 120, []), options)
  t.strictSame(compare(empty, edge).region, { x: 152, y: 0, width: 5, height: 8 },
    'never beyond the edge')
})

t.test('S-071 areas whose blocks are more than half of a JPEG ignore nothing of it', async (t) => {
  const options = { quality: 90, chromaSubsampling: '4:2:0' }
  // Units of 16 pixels, 4 across and 2 down.
  const dots = (units: number): PixelRect[] => Array.from({ length: units }, (_, i) =>
    ({ x: (i % 4) * 16 + 3, y: Math.floor(i / 4) * 16 + 3, width: 1, height: 1 }))
  const base = await jpeg(blocksOf(64, 32, []), options)
  const ticked = await jpeg(blocksOf(64, 32, [{ x: 0, y: 0, width: 8, height: 8 }]), options)
  t.equal(compare(base, ticked, dots(4)).verdict, 'alike_outside', 'half of it')
  t.equal(compare(base, ticked, dots(5)).verdict, 'differs')
})

t.test('S-071 what is ignored reaches the thread that compares', async (t) => {
  const [base, ticked] = [plain(() => 100), plain((x, y) => holds(clock, x, y) ? 250 : 100)]
  const job = { bytes: ticked, standing: { sha256: 'base', bytes: base } }
  t.equal(compareWithStanding({ ...job, ignored: [clock] }).verdict, 'alike_outside')
  const pool = createImagePool({ workers: 1 })
  try {
    t.equal((await pool.compare({ ...job, ignored: [clock] })).verdict, 'alike_outside')
    t.equal((await pool.compare(job)).verdict, 'differs')
  } finally {
    await pool.close()
  }
})

t.test('S-071 pixels of several rectangles are counted once', async (t) => {
  const size = { width: 24, height: 18 }
  fc.assert(fc.property(fc.array(fc.nat(), { maxLength: 5 }), (seeds) => {
    const rects = seeds.map((seed) => rectIn(size, seed))
    let pixels = 0
    for (let i = 0; i < size.width * size.height; i += 1) {
      const [x, y] = [i % size.width, Math.floor(i / size.width)]
      if (rects.some((rect) => holds(rect, x, y))) pixels += 1
    }
    return pixelsIn(rects) === pixels
  }))
  t.equal(pixelsIn([]), 0)
})
