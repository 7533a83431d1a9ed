/** Comparing fingerprints, and their form at rest. */
import fc from 'fast-check'
import t from 'tap'
import {
  compareFingerprints, decodeFingerprint, encodeFingerprint,
} from '../../src/images/fingerprint.js'
import { levelScale, visualLimit } from '../../src/images/image-limits.js'
import type { Fingerprint } from '../../src/images/types.js'
import { casesOf } from '../support/for-all.js'

const flat = (width: number, height: number, level: number, planes = 1): Fingerprint => ({
  format: 'png', width, height,
  planes: Array.from({ length: planes }, () =>
    new Uint16Array(Math.ceil(width / 8) * Math.ceil(height / 8)).fill(level * levelScale)),
})

const fingerprints: fc.Arbitrary<Fingerprint> = fc.record({
  format: fc.constantFrom('png' as const, 'jpeg' as const),
  width: fc.integer({ min: 0, max: 200 }), height: fc.integer({ min: 0, max: 120 }),
  count: fc.constantFrom(1, 2), seed: fc.nat(),
}).map(({ format, width, height, count, seed }) => {
  const cells = Math.ceil(width / 8) * Math.ceil(height / 8)
  const planes = Array.from({ length: count }, (_, plane) =>
    Uint16Array.from({ length: cells }, (__, i) => (seed + i * 977 + plane * 31) % 16_321))
  return { format, width, height, planes }
})

t.test('S-070 a fingerprint that was kept comes back as it was, and equals itself', async (t) => {
  let seen = 0
  fc.assert(fc.property(fingerprints, (given) => {
    seen += 1
    const back = decodeFingerprint(encodeFingerprint(given))
    t.strictSame(back, given)
    return back !== null && compareFingerprints(back, given).measure === 0
  }), { numRuns: 200 })
  t.equal(seen, casesOf(200))
})

t.test('bytes of another form, cut or lengthened are no fingerprint', async (t) => {
  const whole = encodeFingerprint(flat(40, 40, 100))
  for (let end = 0; end < whole.length; end += 1) {
    if (decodeFingerprint(whole.subarray(0, end)) !== null) t.fail(`taken at ${end} bytes`)
  }
  t.equal(decodeFingerprint(Buffer.concat([whole, Buffer.alloc(1)])), null)
  for (const [at, value] of [[0, 1], [4, 3], [4, 0], [5, 0], [5, 3], [8, 200]] as const) {
    const changed = Buffer.from(whole)
    changed[at] = value
    t.equal(decodeFingerprint(changed), null, `byte ${at}`)
  }
  for (const planes of [0, 3]) {
    const other = encodeFingerprint(flat(40, 40, 100, planes))
    t.equal(decodeFingerprint(other), null, `${planes} planes`)
  }
  fc.assert(fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) =>
    decodeFingerprint(bytes) === null))
})

t.test('the cell that differs most is named, whichever one it is', async (t) => {
  const one = flat(40, 24, 100)
  const cells = Array.from({ length: 15 }, (_, cell) => {
    const planes = one.planes.map((plane) => Uint16Array.from(plane))
    for (const plane of planes) plane[cell] = 120 * levelScale
    return compareFingerprints(one, { ...one, planes }).cell
  })
  t.strictSame(cells, Array.from({ length: 15 }, (_, cell) =>
    ({ x: cell % 5, y: Math.floor(cell / 5) })))
  t.equal(compareFingerprints(one, one).cell, null)
})

t.test('S-073 pictures of another size are never compared, one pixel apart or turned', async (t) => {
  for (const [width, height] of [[65, 48], [64, 49], [48, 64], [63, 48]] as const) {
    const { comparable, measure, cell } =
      compareFingerprints(flat(64, 48, 100), flat(width, height, 100))
    t.strictSame([comparable, measure, cell], [false, 255, null], `${width}x${height}`)
    t.ok(measure > visualLimit)
  }
  t.equal(compareFingerprints(flat(64, 48, 100), flat(64, 48, 100)).comparable, true)
})

t.test('S-074 a PNG and a JPEG are never compared', async (t) => {
  const png = flat(64, 48, 100)
  const { comparable, measure } = compareFingerprints(png, { ...png, format: 'jpeg' })
  t.strictSame([comparable, measure], [false, 255])
})

t.test('S-071 the largest difference of one cell counts, and where it is is told', async (t) => {
  const a = flat(160, 96, 100)
  const b = flat(160, 96, 100)
  b.planes[0]!.fill(101 * levelScale)
  b.planes[0]![43] = 107 * levelScale
  t.strictSame(compareFingerprints(a, b), { comparable: true, measure: 7, cell: { x: 3, y: 2 } })
  t.strictSame(compareFingerprints(b, a), compareFingerprints(a, b))
  t.strictSame(compareFingerprints(a, a), { comparable: true, measure: 0, cell: null })
})

t.test('S-071 three levels are the same picture, one 64th more is another', async (t) => {
  t.equal(visualLimit, 3)
  const a = flat(64, 48, 100)
  const b = flat(64, 48, 100)
  b.planes[0]![5] = 103 * levelScale
  t.ok(compareFingerprints(a, b).measure <= visualLimit)
  b.planes[0]![5] = 103 * levelScale + 1
  t.ok(compareFingerprints(a, b).measure > visualLimit)
})

t.test('S-071 what shows through is compared over black and over white', async (t) => {
  const opaque = flat(64, 48, 100)
  const clear = flat(64, 48, 100, 2)
  t.equal(compareFingerprints(opaque, clear).measure, 0)
  clear.planes[1]![0] = 200 * levelScale
  t.equal(compareFingerprints(opaque, clear).measure, 100)
  t.equal(compareFingerprints(clear, opaque).measure, 100)
})
