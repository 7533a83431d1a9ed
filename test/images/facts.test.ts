/** What is told by the bytes of an image alone. */
import fc from 'fast-check'
import sharp from 'sharp'
import t from 'tap'
import { readImageFacts } from '../../src/images/facts.js'
import { imageLimits } from '../../src/images/image-limits.js'
import { imageReasons } from '../../src/images/types.js'
import { header, pngSignature, writePng } from '../support/images/png-writer.js'
import { casesOf } from '../support/for-all.js'

const grey = (width: number, height: number): Buffer =>
  writePng({ width, height, depth: 8, colour: 0, sample: (x, y) => (x * 7 + y) & 255 })

const segment = (marker: number, content: Uint8Array): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(content.length + 2, 2)
  return Buffer.concat([head, content])
}

const frame = (marker: number, width: number, height: number): Buffer => {
  const content = Buffer.from([8, 0, 0, 0, 0, 1, 1, 0x11, 0])
  content.writeUInt16BE(height, 1)
  content.writeUInt16BE(width, 3)
  return segment(marker, content)
}

const start = Buffer.from([0xff, 0xd8])
const end = Buffer.from([0xff, 0xd9])
const jpeg = (...parts: readonly Uint8Array[]): Buffer => Buffer.concat([start, ...parts, end])

t.test('S-061 the format is told by the bytes: a PNG, a JPEG, and things that only look alike', async (t) => {
  const real = await sharp(grey(20, 10)).jpeg().toBuffer()
  t.equal(readImageFacts(grey(20, 10)).format, 'png')
  t.equal(readImageFacts(real).format, 'jpeg')
  const others = ['GIF89a', 'BM', 'RIFF....WEBP', 'plain text', '\u0089PNG', '<svg/>', '\xff\xd8']
  for (const text of others) {
    const facts = readImageFacts(Buffer.from(text, 'latin1'))
    t.strictSame([facts.format, facts.reason], [null, 'not_an_image'], text.slice(0, 4))
  }
  t.equal(readImageFacts(Buffer.alloc(0)).reason, 'empty')
})

t.test('S-062 width and height of a PNG come out of its header', async (t) => {
  for (const [width, height] of [[1, 1], [17, 3], [300, 200]] as const) {
    const { width: w, height: h, reason } = readImageFacts(grey(width, height))
    t.strictSame([w, h, reason], [width, height, null])
  }
})

t.test('S-062 width and height of a JPEG are found at every kind of frame, behind long segments', async (t) => {
  const kinds = [0, 1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15].map((kind) => 0xc0 + kind)
  const long = Array.from({ length: 20 }, () => segment(0xe1, Buffer.alloc(65_533, 0xff)))
  const comment = segment(0xfe, Buffer.from([0xff, 0xc0, 0, 11, 8, 0, 9, 0, 9]))
  for (const kind of kinds) {
    const facts = readImageFacts(jpeg(...long, comment, frame(kind, 1920, 1080)))
    t.strictSame([facts.width, facts.height, facts.reason], [1920, 1080, null], kind.toString(16))
  }
  const tables = [0xc4, 0xc8, 0xcc].map((marker) => frame(marker, 9, 9))
  const padded = jpeg(...tables, Buffer.from([0xff, 0xff]), frame(0xc2, 64, 48))
  t.strictSame([readImageFacts(padded).width, readImageFacts(padded).height], [64, 48])
})

t.test('S-062 a damaged header leaves the size unknown and refuses nothing', async (t) => {
  const png = grey(20, 10)
  const zero = Buffer.from(png)
  zero.writeUInt32BE(0, 16)
  const renamed = Buffer.from(png)
  renamed.write('JUNK', 12, 'latin1')
  const huge = Buffer.from(png)
  huge.writeUInt32BE(0xffffffff, 20)
  // A length counts itself: one of 0 or 1 holds no size.
  const shortSegments = [0, 1].map((length) => {
    const short = frame(0xc0, 10, 10)
    short.writeUInt16BE(length, 2)
    return jpeg(short)
  })
  const damaged = [
    zero, renamed, huge, png.subarray(0, 20),
    jpeg(), jpeg(segment(0xe0, Buffer.alloc(2)), Buffer.alloc(4)),
    jpeg(frame(0xc0, 0, 10)), jpeg(frame(0xc0, 10, 0)),
    jpeg(Buffer.from([0xff, 0xe0, 0, 1])), ...shortSegments,
    jpeg(segment(0xda, Buffer.alloc(6)), frame(0xc0, 9, 9)),
    Buffer.concat([start, frame(0xc0, 10, 10).subarray(0, 7)]),
  ]
  for (const [index, bytes] of damaged.entries()) {
    const { width, height, reason } = readImageFacts(bytes)
    t.strictSame([width, height, reason], [null, null, null], `case ${index}`)
  }
})

t.test('whether the bytes end as the format ends is told, also with a little behind the end', async (t) => {
  const png = grey(64, 64)
  const real = await sharp(png).jpeg().toBuffer()
  for (const whole of [png, real]) {
    t.equal(readImageFacts(whole).endsProperly, true)
    t.equal(readImageFacts(Buffer.concat([whole, Buffer.alloc(100)])).endsProperly, true)
    t.equal(readImageFacts(whole.subarray(0, whole.length - 1)).endsProperly, false)
    t.equal(readImageFacts(whole.subarray(0, whole.length >> 1)).endsProperly, false)
  }
})

t.test('what is too large is refused by its header, at the limit and one past it', async (t) => {
  const claim = (width: number, height: number): Buffer =>
    Buffer.concat([pngSignature, header(width, height, 8, 2)])
  t.equal(readImageFacts(claim(8_000, 8_000)).reason, null)
  t.equal(readImageFacts(claim(8_000, 8_001)).reason, 'too_many_pixels')
  t.equal(readImageFacts(claim(50_000, 50_000)).reason, 'too_many_pixels')
  t.equal(readImageFacts(jpeg(frame(0xc0, 65_535, 65_535))).reason, 'too_many_pixels')
  const most = Buffer.alloc(imageLimits.bytesMax + 1)
  grey(4, 4).copy(most)
  t.equal(readImageFacts(most).reason, 'too_many_bytes')
  t.equal(readImageFacts(most.subarray(0, imageLimits.bytesMax)).reason, null)
})

t.test('any bytes at all give facts of the closed form and no error', async (t) => {
  const real = [grey(33, 17), await sharp(grey(33, 17)).jpeg({ progressive: true }).toBuffer()]
  const cut = fc.tuple(fc.constantFrom(...real), fc.nat(3_000)).map(([b, n]) => b.subarray(0, n))
  const begun = fc.tuple(fc.constantFrom(pngSignature, Buffer.from([0xff, 0xd8, 0xff])),
    fc.uint8Array({ maxLength: 80 })).map((parts) => Buffer.concat(parts))
  const touched = fc.tuple(fc.constantFrom(...real), fc.nat(200), fc.nat(255))
    .map(([bytes, at, value]) => Buffer.from(bytes).fill(value, at, at + 1))
  let seen = 0
  fc.assert(fc.property(fc.oneof(fc.uint8Array(), cut, begun, touched), (bytes) => {
    const { reason, width, height } = readImageFacts(bytes)
    seen += 1
    const known = reason === null || imageReasons.includes(reason)
    return known && (width === null) === (height === null)
  }), { numRuns: 3_000 })
  t.ok(seen >= casesOf(3_000))
})
