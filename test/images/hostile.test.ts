/** Files made to harm, and threads that hang or die: each ends as a reason, the rest goes on. */
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import sharp from 'sharp'
import t from 'tap'
import { examine } from '../../src/images/examine.js'
import { createImagePool } from '../../src/images/pool.js'
import { imageReasons } from '../../src/images/types.js'
import { header, pngAround, pngSignature, writePng } from '../support/images/png-writer.js'
import { sha256 } from '../support/sha256.js'
import { timeOf } from '../support/speed.js'

const picture = writePng({
  width: 100, height: 70, depth: 8, colour: 2, chunkBytes: 500, filter: (y) => y % 5,
  sample: (x, y, channel) => (x * (channel + 3) + y * y) & 255,
})
const baseline = await sharp(picture).jpeg().toBuffer()
const progressive = await sharp(picture).jpeg({ progressive: true }).toBuffer()

const claim = (width: number, height: number): Buffer =>
  Buffer.concat([pngSignature, header(width, height, 8, 2)]).subarray(0, 29)

/** A megabyte of data, of which the first part alone inflates to 64 MiB. */
const interlacedBomb = (): Buffer => {
  const zeros = deflateSync(Buffer.alloc(64 * 1024 * 1024), { level: 9 })
  return pngAround([header(16, 16, 8, 6, 1)], Buffer.concat([zeros, Buffer.alloc(960_000)]))
}

/** A picture whose last part claims bytes that the file does not have. */
const endClaimsMore = (): Buffer => {
  const bytes = Buffer.from(picture)
  bytes.writeUInt32BE(5, bytes.length - 12)
  return bytes
}

const cases: Readonly<Record<string, readonly [Buffer, string]>> = {
  'nothing': [Buffer.alloc(0), 'empty'],
  'text': [Buffer.from('this is a note\n'), 'not_an_image'],
  'a claim of 1233092999x2337276672 in 29 bytes': [claim(1233092999, 2337276672), 'header_damaged'],
  'a claim of 1233092999x1337276672 in 29 bytes':
    [claim(1233092999, 1337276672), 'too_many_pixels'],
  'a claim of 50,000x50,000': [claim(50_000, 50_000), 'too_many_pixels'],
  'an end that claims more than there is': [endClaimsMore(), 'truncated'],
  'a header alone': [claim(100, 100), 'truncated'],
  'a small interlaced picture that inflates to megabytes': [interlacedBomb(), 'data_damaged'],
  'rows of 512 MB in a few bytes': [
    pngAround([header(8_000, 8_000, 16, 6)], deflateSync(Buffer.alloc(99))), 'too_many_bytes'],
  'too little data': [
    pngAround([header(64, 64, 8, 2)], deflateSync(Buffer.alloc(99))), 'truncated'],
  'no data': [pngAround([header(64, 64, 8, 2)], Buffer.alloc(0)), 'data_damaged'],
  'a depth there is not': [
    pngAround([header(8, 8, 3, 0)], deflateSync(Buffer.alloc(99))), 'header_damaged'],
  'a colour type there is not': [
    pngAround([header(8, 8, 8, 5)], deflateSync(Buffer.alloc(99))), 'header_damaged'],
  'an order of rows there is not': [
    pngAround([header(8, 8, 8, 0, 2)], deflateSync(Buffer.alloc(99))), 'header_damaged'],
  'two headers': [
    pngAround([header(8, 8, 8, 0), header(8, 8, 8, 0)], deflateSync(Buffer.alloc(72))),
    'header_damaged'],
  'no palette': [
    pngAround([header(8, 8, 8, 3)], deflateSync(Buffer.alloc(72))), 'header_damaged'],
  'a filter there is not': [
    pngAround([header(8, 8, 8, 2)], deflateSync(Buffer.alloc(200, 9))), 'data_damaged'],
}

t.test('S-062 hostile headers and data end as a reason, with hash and facts', async (t) => {
  const pool = createImagePool({ workers: 2 })
  for (const [name, [bytes, reason]] of Object.entries(cases)) {
    const digest = sha256(bytes)
    const here = examine(bytes)
    t.strictSame([here.reason, here.sha256, here.fingerprint], [reason, digest, null], name)
    t.strictSame(await pool.examine(Buffer.from(bytes)), here, `${name}, in a thread`)
  }
  t.ok((await pool.examine(Buffer.from(picture))).fingerprint, 'the pool goes on')
  await pool.close()
})

t.test('a bomb behind a small header costs no memory', async (t) => {
  const bomb = interlacedBomb()
  const before = process.memoryUsage().rss
  for (let i = 0; i < 50; i += 1) examine(bomb)
  const grown = (process.memoryUsage().rss - before) / 2 ** 20
  t.ok(grown < 64, `${grown.toFixed(0)} MiB more`)
})

t.test('every cut of a file ends as truncated or damaged', async (t) => {
  for (const whole of [picture, baseline, progressive]) {
    t.equal(examine(whole).reason, null)
    const reasons = new Set<string | null>()
    for (let end = 3; end < whole.length - 2; end += 37) {
      const { reason, fingerprint } = examine(whole.subarray(0, end))
      reasons.add(fingerprint === null ? reason : 'a picture')
    }
    const allowed = ['truncated', 'data_damaged', 'header_damaged', 'not_an_image']
    t.strictSame([...reasons].filter((reason) => !allowed.includes(reason ?? '')), [])
  }
})

const markerAt = (bytes: Buffer, marker: number): number => {
  for (let at = 2; bytes[at] === 0xff;) {
    if (bytes[at + 1] === marker) return at
    at += 2 + bytes.readUInt16BE(at + 2)
  }
  throw new TypeError('no such marker')
}

const patched = (bytes: Buffer, at: number, ...values: readonly number[]): Buffer => {
  const copy = Buffer.from(bytes)
  copy.set(values, at)
  return copy
}

const insertedAt = (bytes: Buffer, at: number, part: Buffer): Buffer =>
  Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(at)])

const segmentAt = (bytes: Buffer, at: number): Buffer =>
  bytes.subarray(at, at + 2 + bytes.readUInt16BE(at + 2))

t.test('S-062 no flipped bit of what the pixels of a PNG are made of goes unnoticed', (t) => {
  const entries = (bytes: number): Uint8Array => Uint8Array.from({ length: bytes }, (_, i) => i * 7)
  const bytes = writePng({
    width: 9, height: 9, depth: 8, colour: 3, sample: (x, y) => (x * y) & 15,
    palette: entries(48), transparency: entries(16),
  })
  t.equal(examine(bytes).reason, null)
  const end = bytes.length - 12
  const names = ['IHDR', 'PLTE', 'tRNS', 'IDAT']
  const named = new Set(names.flatMap((name) =>
    [4, 5, 6, 7].map((i) => bytes.indexOf(name) - 4 + i)))
  for (let at = 8; at < end; at += 1) {
    // A chunk that calls itself otherwise is another one: what misses it tells.
    if (named.has(at)) continue
    const flipped = Buffer.from(bytes)
    flipped[at]! ^= 1 << (at % 8)
    if (examine(flipped).reason === null) t.fail(`byte ${at}`)
  }
  t.end()
})

t.test('JPEGs that are legal but unusual, and JPEGs against the rules, have their reason', async (t) => {
  const [sof, dht, sos] = [0xc0, 0xc4, 0xda].map((marker) => markerAt(baseline, marker))
  const frame = segmentAt(baseline, sof!)
  const scan = sos! + segmentAt(baseline, sos!).length
  const tables = Buffer.from([0xff, 0xc4, 0, 19, ...Array<number>(17).fill(0)])
  const wide = Buffer.concat([Buffer.from([0xff, 0xc0, 3, 11 + 0]), Buffer.alloc(775, 0x11)])
  wide.set([8, 0, 99, 0, 99, 255], 4)
  const given: Readonly<Record<string, readonly [Buffer, string]>> = {
    'twelve bits': [patched(baseline, sof! + 4, 12), 'unsupported'],
    'a precision there is not': [patched(baseline, sof! + 4, 9), 'header_damaged'],
    'lossless': [patched(baseline, sof! + 1, 0xc3), 'unsupported'],
    'arithmetic': [patched(baseline, sof! + 1, 0xc9), 'unsupported'],
    'two frames': [insertedAt(baseline, sof!, frame), 'data_damaged'],
    'a frame behind the scan': [
      Buffer.concat([baseline.subarray(0, -2), frame, Buffer.from([0xff, 0xd9])]), 'data_damaged'],
    'a frame behind the scan only': [Buffer.concat([
      baseline.subarray(0, sof), baseline.subarray(sof! + frame.length, -2), frame,
      Buffer.from([0xff, 0xd9])]), 'header_damaged'],
    'more codes than there is room for':
      [patched(baseline, dht! + 5, 255, 255), 'data_damaged'],
    'codes that do not fit into their length':
      [insertedAt(baseline, sos!, Buffer.from([
        0xff, 0xc4, 0, 22, 3, 3, ...Array<number>(15).fill(0), 1, 2, 3])), 'data_damaged'],
    'a table cut short': [patched(baseline, dht! + 20, 200), 'data_damaged'],
    'no restart markers': [
      insertedAt(baseline, sos!, Buffer.from([0xff, 0xdd, 0, 4, 0, 2])), 'data_damaged'],
    'no data behind the scan header': [
      Buffer.concat([baseline.subarray(0, scan), Buffer.from([0xff, 0xd9])]), 'truncated'],
    'no component': [patched(baseline, sof! + 9, 0), 'header_damaged'],
    '255 components': [
      Buffer.concat([baseline.subarray(0, 2), wide, baseline.subarray(2)]), 'header_damaged'],
    'sampling of zero': [patched(baseline, sof! + 11, 0), 'header_damaged'],
    'nothing but tables': [Buffer.concat([
      baseline.subarray(0, dht), ...Array<Buffer>(6_000).fill(tables), baseline.subarray(dht)]),
    'data_damaged'],
  }
  for (const [name, [bytes, reason]] of Object.entries(given)) {
    t.strictSame([examine(bytes).reason, examine(bytes).fingerprint], [reason, null], name)
  }
})

t.test('any change of any bytes gives a picture or a reason of the list, never an error', async (t) => {
  const change = fc.tuple(fc.nat(8_000), fc.nat(255))
  const source = fc.constantFrom(picture, baseline, progressive)
  const seen = new Set<string>()
  fc.assert(fc.property(source, fc.array(change, { minLength: 1, maxLength: 4 }), (whole, list) => {
    const bytes = Buffer.from(whole)
    for (const [at, value] of list) bytes[at % bytes.length] = value
    const { reason, fingerprint } = examine(bytes)
    seen.add(reason ?? 'a picture')
    return reason === null ? fingerprint !== null : imageReasons.includes(reason)
  }), { numRuns: 1_500 })
  t.ok(seen.size > 2, [...seen].join())
})

const program = (source: string): URL =>
  new URL(`data:text/javascript,${encodeURIComponent(source)}`)

const obeying = `
  import { parentPort } from 'node:worker_threads'
  parentPort.on('message', (asked) => {
    const bytes = asked.bytes ?? asked
    if (bytes[0] === 1) while (true) {}
    if (bytes[0] === 2) process.exit(3)
    if (bytes[0] === 3) throw new Error('broken')
    if (bytes[0] === 4) return setTimeout(() => parentPort.postMessage({ fine: 4 }), 1_000)
    if (bytes[0] === 5) return
    parentPort.postMessage({ fine: bytes[0] })
  })`

t.test('a thread that hangs is ended at its time and the pool goes on', async (t) => {
  const pool = createImagePool({ workers: 1, timeLimitMs: timeOf(17), program: program(obeying) })
  const [hung, fine] = await Promise.all([1, 9].map(async (byte) =>
    pool.examine(Uint8Array.of(byte))))
  t.equal(hung?.reason, 'decode_timed_out')
  t.equal(hung?.sha256, sha256(Uint8Array.of(1)))
  t.strictSame(fine, { fine: 9 })
  await pool.close()
})

t.test('a picture keeps its time while the process has no processor, and no thread waits for ever', async (t) => {
  const pool = createImagePool({ workers: 1, timeLimitMs: 400, program: program(obeying) })
  t.strictSame(await pool.examine(Uint8Array.of(9)), { fine: 9 }, 'the thread has started')
  t.strictSame(await pool.examine(Uint8Array.of(4)), { fine: 4 }, 'behind two of its times')
  t.equal((await pool.examine(Uint8Array.of(5))).reason, 'decode_timed_out')
  t.strictSame(await pool.examine(Uint8Array.of(8)), { fine: 8 })
  await pool.close()
})

t.test('a thread that ends or throws costs one image and the pool goes on', async (t) => {
  const pool = createImagePool({ workers: 2, program: program(obeying) })
  const found = await Promise.all([2, 9, 3, 8, 2, 7].map(async (byte) =>
    pool.examine(Uint8Array.of(byte))))
  t.strictSame(found.map((one) => one.reason ?? one),
    ['decode_failed', { fine: 9 }, 'decode_failed', { fine: 8 }, 'decode_failed', { fine: 7 }])
  await pool.close()
})

t.test('S-071 a comparison that hangs, or whose thread ends, confirms nothing and the pool goes on', async (t) => {
  const pool = createImagePool({ workers: 1, timeLimitMs: timeOf(17), program: program(obeying) })
  const compared = async (byte: number) => pool.compare({
    bytes: Uint8Array.of(byte), standing: { sha256: 'x', bytes: Uint8Array.of(9) },
  })
  const none = { verdict: 'not_compared', difference: null }
  t.strictSame(
    await Promise.all([1, 9, 2, 8].map(compared)), [none, { fine: 9 }, none, { fine: 8 }])
  t.strictSame(await pool.examine(Uint8Array.of(7)), { fine: 7 })
  const [late] = [compared(1), await pool.close()]
  t.strictSame(await late, none, 'nor after the end')
})

t.test('closing ends what is under way and what waits, and nothing is taken afterwards', async (t) => {
  const pool = createImagePool({ workers: 1, program: program(obeying) })
  const under = [1, 1, 9].map(async (byte) => pool.examine(Uint8Array.of(byte)))
  await pool.close()
  t.strictSame((await Promise.all(under)).map(({ reason }) => reason),
    ['decode_failed', 'decode_failed', 'decode_failed'])
  await t.rejects(async () => pool.examine(Uint8Array.of(9)), new TypeError('the pool is closed'))
})

t.test('bytes stay with the caller, in shared memory or not, and a view has no neighbours', async (t) => {
  const pool = createImagePool({ workers: 1 })
  const own = Uint8Array.from(picture)
  const room = Buffer.concat([Buffer.alloc(8), picture, Buffer.alloc(8)])
  const memory = Buffer.from(new SharedArrayBuffer(room.length))
  room.copy(memory)
  const view = (bytes: Buffer): Buffer => bytes.subarray(8, 8 + picture.length)
  const found = await Promise.all([own, view(room), view(memory)].map((one) => pool.examine(one)))
  t.strictSame(found, found.map(() => examine(picture)))
  t.strictSame(own, Uint8Array.from(picture))
  await pool.close()
})
