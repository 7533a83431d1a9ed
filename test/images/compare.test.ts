/** Two whole pictures: what is a repeat of the other, and what never is. */
import fc from 'fast-check'
import jpegJs from 'jpeg-js'
import { PNG } from 'pngjs'
import sharp, { type JpegOptions } from 'sharp'
import { compareJpegs } from '../../src/images/compare-jpeg.js'
import { comparePictures, readPicture } from '../../src/images/compare.js'
import { compareWithStanding } from '../../src/images/compare-job.js'
import { readJpegPicture, type JpegPart, type JpegPicture } from '../../src/images/jpeg-picture.js'
import { readPngPicture } from '../../src/images/png-picture.js'
import type { PictureComparison } from '../../src/images/types.js'
import { anyPng, noise } from '../support/images/any-png.js'
import {
  chunk, header, pngAround, writePng, type PngPicture,
} from '../support/images/png-writer.js'
import { t } from '../support/tests-in-slices.js'

const compare = (a: Buffer, b: Buffer): PictureComparison =>
  comparePictures(readPicture(a), readPicture(b))

/** RGBA as a plain PNG. */
const plainPng = (rgba: Uint8Array, width: number, height: number): Buffer => writePng({
  width, height, depth: 8, colour: 6,
  sample: (x, y, channel) => rgba[(y * width + x) * 4 + channel]!,
})

t.test('S-072 a PNG is the same picture in every order of rows, filter, colour type and depth', async (t) => {
  const verdicts = new Set<string>()
  fc.assert(fc.property(anyPng(), fc.nat(4), (given, filter) => {
    const other: PngPicture = {
      ...given, interlaced: given.interlaced !== true, filter: () => filter,
    }
    verdicts.add(compare(writePng(given), writePng(other)).verdict)
  }), { numRuns: 300 })
  t.strictSame([...verdicts], ['same'])
  fc.assert(fc.property(anyPng(), (given) => {
    const bytes = writePng(given)
    const { width, height, data } = PNG.sync.read(bytes)
    const { verdict, difference } = compare(bytes, plainPng(data, width, height))
    // Samples of 16 bits are rounded to 8, by up to half a level.
    return given.depth === 16 ? verdict !== 'differs' && difference! <= 1 : verdict === 'same'
  }), { numRuns: 300 })
})

type Changes = (x: number, y: number, channel: number) => number

const opaque = (changes: Changes = () => 0): PngPicture => ({
  width: 37, height: 29, depth: 8, colour: 2,
  sample: (x, y, channel) => 100 + (noise(1, x, y, channel) % 50) + changes(x, y, channel),
})

t.test('S-071 one channel of one pixel decides: two levels are noise, three are another picture', async (t) => {
  const base = writePng(opaque())
  fc.assert(fc.property(
    fc.nat(36), fc.nat(28), fc.nat(2), fc.integer({ min: -9, max: 9 }), fc.boolean(),
    (x, y, channel, by, interlaced) => {
      const changed = opaque((...at) => at.join() === [x, y, channel].join() ? by : 0)
      const { verdict, difference } = compare(base, writePng({ ...changed, interlaced }))
      if (Math.abs(by) > 2) return verdict === 'differs' && difference === null
      return difference === Math.abs(by) && verdict === (by === 0 ? 'same' : 'alike')
    },
  ))
  const deep = (by: number): Buffer => writePng({
    ...opaque(), depth: 16, sample: (x, y) => 20_000 + (x + y === 0 ? by : 0),
  })
  t.strictSame(compare(deep(0), deep(514)), { verdict: 'alike', difference: 2 }, '2 levels')
  t.equal(compare(deep(0), deep(515)).verdict, 'differs', 'and one part of 65,535 more')
  t.strictSame(compare(deep(0), deep(1)), { verdict: 'alike', difference: 1 }, 'never called equal')
})

t.test('S-071 what shows through is compared over black and over white', async (t) => {
  const over = (colour: number, alpha: number): Buffer => writePng({
    width: 9, height: 9, depth: 8, colour: 6,
    sample: (x, y, channel) =>
      x + y > 0 ? [9, 9, 9, 255][channel]! : channel === 3 ? alpha : colour,
  })
  t.equal(compare(over(0, 0), over(255, 0)).verdict, 'same', 'nothing is seen of a clear pixel')
  t.equal(compare(over(0, 0), over(0, 255)).verdict, 'differs', 'black ink over white')
  t.equal(compare(over(255, 0), over(255, 255)).verdict, 'differs', 'white ink over black')
  t.equal(compare(over(200, 128), over(203, 128)).verdict, 'alike')
  t.equal(compare(over(200, 128), over(205, 128)).verdict, 'differs')
})

const withChunks = (...chunks: readonly Buffer[]): Buffer => {
  const bytes = writePng(opaque())
  return Buffer.concat([bytes.subarray(0, 33), ...chunks, bytes.subarray(33)])
}

const tiff = (orientation: number): Buffer => {
  const bytes = Buffer.alloc(26)
  bytes.write('II*\0', 'latin1')
  bytes.writeUInt32LE(8, 4)
  bytes.writeUInt16LE(1, 8)
  bytes.writeUInt16LE(0x0112, 10)
  bytes.writeUInt16LE(3, 12)
  bytes.writeUInt32LE(1, 14)
  bytes.writeUInt16LE(orientation, 18)
  return bytes
}

t.test('S-071 PNGs whose colours or orientation mean something else, and animated ones, are never merged', async (t) => {
  const plain = withChunks()
  const verdict = (one: Buffer, other: Buffer): string => compare(one, other).verdict
  const gamma = chunk('gAMA', Buffer.from([0, 0, 0xb1, 0x8f]))
  t.equal(verdict(plain, withChunks(gamma)), 'other_colours')
  t.equal(verdict(withChunks(gamma), withChunks(gamma)), 'same')
  const darker = withChunks(chunk('gAMA', Buffer.alloc(4, 1)))
  t.equal(verdict(withChunks(gamma), darker), 'other_colours')
  t.equal(verdict(plain, withChunks(chunk('iCCP', Buffer.from('p\0\0profile')))), 'other_colours')
  t.equal(verdict(plain, withChunks(chunk('cICP', Buffer.from([9, 16, 0, 1])))), 'other_colours')
  const told = withChunks(chunk('tEXt', Buffer.from('k\0v')))
  t.equal(verdict(plain, told), 'same', 'a text says nothing of pixels')
  t.equal(verdict(plain, withChunks(chunk('eXIf', tiff(6)))), 'other_colours')
  t.equal(verdict(plain, withChunks(chunk('eXIf', tiff(1)))), 'same', 'upright, as without')
  t.equal(verdict(plain, withChunks(chunk('eXIf', Buffer.from('II')))), 'other_colours', 'unread')
  const animated = withChunks(chunk('acTL', Buffer.alloc(8, 1)))
  t.equal(verdict(animated, animated), 'animated')
  t.equal(verdict(plain, animated), 'animated')
})

/** Soft shapes and hard edges in colour. */
const screen = (width: number, height: number): Buffer => Buffer.from(
  Uint8Array.from({ length: width * height * 3 }, (_, i) => {
    const [x, y, channel] = [Math.floor(i / 3) % width, Math.floor(i / 3 / width), i % 3]
    const ink = noise(3, x >> 3, y >> 4) % 5 === 0 && (x * 7 + y * 3) % 5 < 2
    return ink ? 40 * channel : 235 - ((x >> 5) + channel * 9) % 30
  }))

const sizes = [[64, 48], [83, 61], [17, 9]] as const

const jpeg = (
  [width, height]: readonly [number, number], options: JpegOptions,
): Promise<Buffer> =>
  sharp(screen(width, height), { raw: { width, height, channels: 3 } }).jpeg(options).toBuffer()

const basis = Array.from({ length: 8 }, (_, x) => Array.from({ length: 8 }, (__, u) =>
  (u === 0 ? Math.SQRT1_2 : 1) * Math.cos(((2 * x + 1) * u * Math.PI) / 16) / 2))

const zigzag: readonly number[] = Array.from({ length: 64 }, (_, i) => i).sort((a, b) => {
  const [ya, xa, yb, xb] = [a >> 3, a & 7, b >> 3, b & 7]
  const way = xa + ya - xb - yb
  return way !== 0 ? way : (xa + ya) % 2 === 0 ? yb - ya : ya - yb
})

/** The luma of a pixel, transformed back by the plainest of ways. */
const lumaAt = ({ values, steps, stride }: JpegPart, x: number, y: number): number => {
  const at = ((y >> 3) * stride + (x >> 3)) * 64
  let sum = 128
  for (let k = 0; k < 64; k += 1) {
    const [v, u] = [zigzag[k]! >> 3, zigzag[k]! & 7]
    sum += values[at + k]! * steps[k]! * basis[x & 7]![u]! * basis[y & 7]![v]!
  }
  return Math.min(255, Math.max(0, sum))
}

t.test('S-072 the coefficients of a JPEG, baseline or progressive, are those of a library', async (t) => {
  for (const progressive of [false, true]) {
    for (const [width, height] of sizes) {
      const bytes = await sharp(screen(width, height), { raw: { width, height, channels: 3 } })
        .greyscale().jpeg({ quality: 83, progressive }).toBuffer()
      const wanted = await sharp(bytes).greyscale().raw().toBuffer()
      const { parts: [luma] } = readJpegPicture(bytes)
      let off = 0
      for (let i = 0; i < width * height; i += 1) {
        off = Math.max(off, Math.abs(lumaAt(luma!, i % width, Math.floor(i / width)) - wanted[i]!))
      }
      t.ok(off < 2, `${width}x${height}, progressive ${progressive}: ${off.toFixed(2)} levels off`)
    }
  }
})

t.test('S-072 a JPEG is the same picture progressive, optimised, or with other metadata', async (t) => {
  for (const size of sizes) {
    for (const chromaSubsampling of ['4:2:0', '4:4:4']) {
      const base = await jpeg(size, { quality: 80, chromaSubsampling })
      for (const options of [
        { progressive: true }, { progressive: true, optimiseScans: true },
        { optimiseCoding: false },
      ]) {
        const other = await jpeg(size, { quality: 80, chromaSubsampling, ...options })
        t.strictSame(compare(base, other), { verdict: 'same', difference: 0 })
      }
      const note = Buffer.from([0xff, 0xfe, 0, 5, 1, 2, 3])
      const noted = Buffer.concat([base.subarray(0, 2), note, base.subarray(2)])
      t.equal(compare(base, noted).verdict, 'same')
    }
  }
})

const segment = (marker: number, content: Buffer): Buffer => Buffer.concat([
  Buffer.from([0xff, marker, (content.length + 2) >> 8, (content.length + 2) & 255]), content,
])

t.test('S-071 JPEGs with another profile, transform or orientation, and CMYK, are never merged', async (t) => {
  const base = await jpeg(sizes[0], { quality: 80 })
  const withSegment = (marker: number, content: Buffer): Buffer =>
    Buffer.concat([base.subarray(0, 2), segment(marker, content), base.subarray(2)])
  const exif = (orientation: number): Buffer =>
    withSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff(orientation)]))
  const profile = (text: string): Buffer =>
    withSegment(0xe2, Buffer.from(`ICC_PROFILE\0\x01\x01${text}`, 'latin1'))
  const adobe = withSegment(0xee, Buffer.from('Adobe\0\x64\0\0\0\0\x01', 'latin1'))
  t.equal(compare(base, exif(3)).verdict, 'other_colours')
  t.equal(compare(base, exif(1)).verdict, 'same')
  t.equal(compare(base, profile('one')).verdict, 'other_colours')
  t.equal(compare(profile('one'), profile('one')).verdict, 'same')
  t.equal(compare(profile('one'), profile('two')).verdict, 'other_colours')
  t.equal(compare(base, adobe).verdict, 'other_colours')
  const [width, height] = sizes[0]
  const cmyk = await sharp(screen(width, height), { raw: { width, height, channels: 3 } })
    .toColourspace('cmyk').jpeg().toBuffer()
  t.equal(compare(cmyk, cmyk).verdict, 'not_compared')
  t.equal(compare(base, writePng(opaque())).verdict, 'differs', 'nor two formats')
})

t.test('S-072 JPEGs that were encoded once from the same pixels are repeats at any two qualities of 75 and above and any samplings', async (t) => {
  for (const size of sizes) {
    const [width, height] = size
    const rgb = screen(width, height)
    const data = Buffer.alloc(width * height * 4, 255)
    for (let i = 0; i < width * height; i += 1) rgb.copy(data, i * 4, i * 3, i * 3 + 3)
    const files = await Promise.all([75, 80, 90, 95].flatMap((quality) =>
      ['4:2:0', '4:4:4'].map(async (chromaSubsampling) =>
        jpeg(size, { quality, chromaSubsampling }))))
    // At nearly the same tables two encoders are apart: theirs is none of these.
    files.push(...[93].map((quality) =>
      Buffer.from(jpegJs.encode({ data, width, height }, quality).data)))
    const verdicts = files.flatMap((one) => files.map((other) => compare(one, other).verdict))
    t.equal(verdicts.filter((one) => one === 'same').length, files.length, 'each with itself')
    t.strictSame([...new Set(verdicts)].sort(), ['alike', 'same'], `${width}x${height}`)
  }
})

/** One block of luma, all 64 of one value and one step. */
const block = (step: number, value: number, k = 5): JpegPicture => ({
  format: 'jpeg', width: 8, height: 8, meaning: [], bytes: 0,
  parts: [{
    columns: 1, rows: 1, stride: 1, across: 1, down: 1, steps: new Uint16Array(64).fill(step),
    values: new Int16Array(64).map((_, i) => i === k ? value : 0),
  }],
})

t.test('S-071 S-072 with the same tables a coefficient is equal or it is not; with others intervals meet or they do not', async (t) => {
  const step = fc.integer({ min: 1, max: 5 })
  const value = fc.integer({ min: -30, max: 30 })
  t.strictSame(compareJpegs(block(5, 3), block(3, 3)), { verdict: 'differs', difference: null })
  t.strictSame(compareJpegs(block(5, 2), block(3, 2)), { verdict: 'alike', difference: 4 })
  fc.assert(fc.property(step, step, value, value, fc.nat(63), (one, other, a, b, k) => {
    const { verdict, difference } = compareJpegs(block(one, a, k), block(other, b, k))
    const apart = Math.abs(a * one - b * other)
    if (one === other) return verdict === (a === b ? 'same' : 'differs')
    const slack = Math.min(one, other) === 4 ? 0 : 0.5
    if (apart > (one + other) / 2 + slack) return verdict === 'differs'
    return difference === apart && verdict === (apart === 0 ? 'same' : 'alike')
  }), { numRuns: 2_000 })
})

/** One block of luma with these steps and values, the rest of both those of a fine table. */
const finely = (steps: readonly number[], values: readonly number[]): JpegPicture => {
  const picture = block(2, 0)
  const [part] = picture.parts
  part!.steps.set(steps)
  part!.values.set(values)
  return picture
}

t.test('S-071 where tables differ, equal steps of luma hold equal coefficients, near ones no more than rounding does, and coarse ones confirm nothing', (t) => {
  const verdict = (
    [one, a]: readonly [number, number], [other, b]: readonly [number, number],
  ): string => compareJpegs(finely([one, 1], [a, 0]), finely([other, 2], [b, 0])).verdict
  t.equal(verdict([7, 4], [7, 4]), 'same')
  t.equal(verdict([7, 4], [7, 5]), 'differs', 'one step apart is a change where steps are equal')
  t.equal(verdict([3, 4], [3, 5]), 'alike', 'but for the finest, which transforms leave apart')
  t.equal(verdict([3, 4], [3, 6]), 'differs')
  t.equal(verdict([7, 0], [6, 1]), 'alike', 'within half of both steps')
  t.equal(verdict([8, 1], [7, 0]), 'differs', 'one more')
  t.equal(verdict([8, 4], [5, 5]), 'alike', 'a step half as large again leaves half a level more')
  t.equal(verdict([8, 0], [5, 2]), 'differs')
  t.equal(verdict([9, 2], [5, 4]), 'differs', 'coarser than quality 75, and equal')
  t.equal(verdict([9, 2], [9, 2]), 'same', 'but where the steps are equal')
  t.end()
})

t.test('S-071 a block whose coefficients are all as far apart as rounding allows is another picture', (t) => {
  const all = (step: number, value: number, upTo: number): JpegPicture => finely(
    Array<number>(64).fill(step), Array.from({ length: 64 }, (_, k) => k < upTo ? value : 0))
  const of = (upTo: number): string => compareJpegs(all(5, 0, upTo), all(4, 1, upTo)).verdict
  t.equal(of(4), 'alike', 'some are')
  t.equal(of(64), 'differs', 'all are not')
  t.end()
})

/** Two blocks of luma side by side, and chroma in one block or in two. */
const chroma = (step: number, ...values: readonly number[]): JpegPicture => ({
  ...block(step, 1), width: 16,
  parts: [1, 2].map((_, part) => {
    const columns = part === 0 ? 2 : values.length
    const of = (i: number): number => part === 0 ? 0 : values[i]!
    return {
      columns, rows: 1, stride: columns, across: 2 / columns, down: 1,
      steps: new Uint16Array(64).fill(step),
      values: new Int16Array(columns * 64).map((_value, i) => i % 64 === 0 ? of(i / 64) : 0),
    }
  }),
})

t.test('S-071 where the sampling differs the mean chroma of the covered blocks decides', async (t) => {
  const verdict = (...values: readonly number[]): string =>
    compareJpegs(chroma(10, 20), chroma(10, ...values)).verdict
  t.equal(verdict(10, 30), 'alike', 'the mean is the same')
  t.equal(verdict(20, 22), 'alike', 'within one step and one')
  t.equal(verdict(20, 23), 'differs')
  t.equal(verdict(-20, -20), 'differs', 'another colour of the same luma')
  const both = (...values: readonly number[]): string =>
    compareJpegs(chroma(10, 20, 20), chroma(10, ...values)).verdict
  t.equal(both(20, 20), 'same')
  t.equal(both(20, 21), 'differs', 'with the same tables and sampling chroma is equal or it is not')
})

t.test('S-071 what cannot be decoded, or would take too much memory, is not compared', async (t) => {
  const sound = writePng(opaque())
  const huge = pngAround([header(8_000, 8_000, 16, 6)], Buffer.alloc(10))
  t.equal(compare(sound, sound.subarray(0, 90)).verdict, 'not_compared')
  t.equal(compare(sound, huge).verdict, 'not_compared')
  t.throws(() => readPngPicture(huge, 'passing'), { message: 'too_many_bytes' })
  // 8,000 x 8,000 pixels of three components, none of them sampled more coarsely.
  const large = Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    segment(0xc0, Buffer.from([8, 0x1f, 0x40, 0x1f, 0x40, 3, 1, 17, 0, 2, 17, 0, 3, 17, 0])),
    segment(0xda, Buffer.from([3, 1, 0, 2, 0, 3, 0, 0, 63, 0])), Buffer.from([0xff, 0xd9]),
  ])
  t.throws(() => readJpegPicture(large), { message: 'too_many_bytes' })
  const base = await jpeg(sizes[0], { quality: 80 })
  fc.assert(fc.property(fc.nat(base.length - 1), fc.nat(255), (at, byte) => {
    const broken = Buffer.from(base)
    broken[at] = byte
    return compare(broken, broken).verdict !== 'differs'
  }), { numRuns: 500 })
})

t.test('S-071 the picture that stands is told by its hash, and another one takes its place', async (t) => {
  const [one, other] = [opaque(), opaque(() => 40)].map(writePng)
  const ask = (bytes: Buffer, sha256: string, standing: Buffer): string =>
    compareWithStanding({ bytes, standing: { sha256, bytes: standing } }).verdict
  t.equal(ask(one!, 'one', one!), 'same')
  t.equal(ask(other!, 'one', one!), 'differs')
  t.equal(ask(other!, 'other', other!), 'same')
  t.equal(ask(one!, 'other', other!), 'differs')
  t.equal(ask(one!, 'broken', one!.subarray(0, 80)), 'not_compared')
  t.equal(ask(one!, 'one', one!), 'same')
})
