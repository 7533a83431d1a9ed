/** Both readers of a baseline scan side by side: what one gives, or refuses, so does the other. */
import { readFileSync, readdirSync } from 'node:fs'
import fc from 'fast-check'
import sharp from 'sharp'
import { codeOf } from '../../src/images/huffman-code.js'
import { readScanFast, type FastReader } from '../../src/images/jpeg-fast.js'
import { jpegFingerprint } from '../../src/images/jpeg.js'
import { ImageProblem } from '../../src/images/problem.js'
import { madeJpeg, type MadeJpeg } from '../support/images/jpeg-maker.js'
import { t } from '../support/tests-in-slices.js'
import { casesOf } from '../support/for-all.js'

type Seen = readonly number[] | string | null

/** The cells, the reason of a refusal, or null where the luma does not tell. */
const seenBy = (bytes: Uint8Array, fast: FastReader | null): Seen => {
  try {
    const found = jpegFingerprint(bytes, fast)
    return found === null ? null : [found.width, found.height, ...found.planes[0] ?? []]
  } catch (error) {
    if (error instanceof ImageProblem) return error.reason
    throw error
  }
}

/** Whether the fast way was taken to its end. */
const isFast = (bytes: Uint8Array): boolean => {
  let ended = 0
  seenBy(bytes, (scan) => {
    const found = readScanFast(scan)
    if (found !== null) ended += 1
    return found
  })
  return ended > 0
}

const same = (bytes: Uint8Array): boolean =>
  JSON.stringify(seenBy(bytes, readScanFast)) === JSON.stringify(seenBy(bytes, null))

const noise = (width: number, height: number, seed: number): Buffer =>
  Buffer.from(Uint8Array.from({ length: width * height * 3 }, (_, i) =>
    (Math.imul(i + seed, 0x9e3779b1) >>> (i % 7 === 0 ? 24 : 26)) & 255))

const made = await Promise.all([
  [100, 70, { quality: 85 }], [64, 64, { quality: 100, chromaSubsampling: '4:4:4' }],
  [33, 49, { quality: 20, trellisQuantisation: true, overshootDeringing: true }],
  [120, 8, { quality: 95, optimiseCoding: false }],
].map(async ([width, height, options], seed) =>
  sharp(noise(width as number, height as number, seed), {
    raw: { width: width as number, height: height as number, channels: 3 },
  }).jpeg(options as object).toBuffer()))
const fixtures = readdirSync('test/images/fixtures').filter((name) => !/progressive/.test(name))
  .map((name) => readFileSync(`test/images/fixtures/${name}`))
const baselines = [...made, ...fixtures]

t.test('S-070 sound baseline JPEGs go the fast way to its end, with the very same cells', async (t) => {
  for (const [i, bytes] of baselines.entries()) {
    t.ok(Array.isArray(seenBy(bytes, null)), `${i} has cells`)
    t.ok(isFast(bytes), `${i} is read fast`)
    t.ok(same(bytes), `${i} has the same cells`)
  }
})

t.test('S-062 any change of any bytes of a baseline JPEG ends alike with both readers', async (t) => {
  const change = fc.tuple(fc.nat(6_000), fc.nat(255))
  const ends = new Map<string, number>()
  fc.assert(fc.property(
    fc.constantFrom(...baselines), fc.array(change, { minLength: 1, maxLength: 4 }), fc.nat(9_999),
    (whole, list, cut) => {
      const bytes = Buffer.from(cut % 5 === 0 ? whole.subarray(0, cut % whole.length) : whole)
      for (const [at, value] of list) if (bytes.length > 0) bytes[at % bytes.length] = value
      const seen = seenBy(bytes, null)
      const end = typeof seen === 'string' ? seen : isFast(bytes) ? 'fast' : 'plain'
      ends.set(end, (ends.get(end) ?? 0) + 1)
      return same(bytes)
    }), { numRuns: 3_000 })
  t.comment(JSON.stringify([...ends]))
  t.strictSame(['data_damaged', 'fast', 'plain', 'truncated'].filter((one) => !ends.has(one)), [])
})

const shape = fc.record<MadeJpeg>({
  seed: fc.nat(), width: fc.integer({ min: 1, max: 70 }), height: fc.integer({ min: 1, max: 70 }),
  sampling: fc.array(fc.constantFrom(0x11, 0x21, 0x12, 0x22, 0x41, 0x33), {
    minLength: 1, maxLength: 3,
  }),
  interval: fc.constantFrom(0, 0, 1, 2, 5),
  dataBytes: fc.constantFrom(40, 4_000, 40_000),
  strange: fc.boolean(),
  separate: fc.constantFrom(0, 1, 2), twice: fc.boolean(),
})

t.test('S-062 made-up codes and data of any bits end alike with both readers', async (t) => {
  let fast = 0
  fc.assert(fc.property(shape, (one) => {
    const bytes = madeJpeg(one)
    if (isFast(bytes)) fast += 1
    return same(bytes)
  }), { numRuns: 1_500 })
  t.comment(`${fast} of 1500 went the fast way to its end`)
  t.ok(fast > casesOf(100))
})

t.test('S-062 a file of many scans is not copied for each of them', async (t) => {
  const asked = {
    seed: 1, width: 16, height: 16, sampling: [0x11], interval: 0, dataBytes: 4_000,
    strange: false, separate: 9, twice: false,
  }
  let tried = 0
  const bytes = madeJpeg(asked)
  seenBy(bytes, (scan) => {
    tried += 1
    return readScanFast(scan)
  })
  t.equal(tried, 4)
  t.ok(same(bytes))
})

t.test('S-062 what does not fit into the memory of the fast way, or traps there, goes the other way', async (t) => {
  const [bytes] = made
  const code = (kind: 'dc' | 'ac') =>
    codeOf(kind, Uint8Array.of(1, ...Array<number>(15).fill(0)), Uint8Array.of(0))
  const scan = {
    data: new Uint8Array(64), columns: 3, rows: 2, stride: 3, blocks: 6, interval: 0,
    parts: [{ h: 1, v: 1, dc: code('dc'), ac: code('ac'), kept: true }],
  }
  t.strictSame([...readScanFast(scan)?.values ?? []], [0, 0, 0, 0, 0, 0])
  t.equal(readScanFast({ ...scan, stride: 2 ** 28 }), null, 'a trap')
  t.equal(readScanFast({ ...scan, data: new Uint8Array(13_000_000) }), null, 'too large')
  t.equal(readScanFast({ ...scan, data: new Uint8Array(1) }), null, 'bits that are not there')
  const padded = Buffer.concat([
    bytes!.subarray(0, -2), Buffer.alloc(13_000_000), bytes!.subarray(-2)])
  t.equal(isFast(padded), false)
  t.ok(same(padded))
  t.ok(same(bytes!), 'and the next one is as before')
})
