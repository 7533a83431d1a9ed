import zlib from 'node:zlib'
import fc from 'fast-check'
import { canonicalJson, sha256Hex } from '../../../src/base/canonical.js'
import { canonicalCopy, canonicalText } from '../../../src/state/log/canonical-text.js'
import {
  crc32, decodeLogHeader, encodeLogHeader, encodeRecord, firstChain, payloadBytesMax,
  readRecordHeader, type LogBinding,
} from '../../../src/state/log/format.js'
import { countRecordHeaders } from '../../../src/state/log/scan.js'
import type { Change } from '../../../src/state/log/record.js'
import {
  decodePayload, encodePayload, isDocumentId, opsIn,
} from '../../../src/state/log/record.js'
import { bytesInMemory, scanRecords } from '../../support/state/records.js'
import { forAll } from '../../support/for-all.js'
import { t } from '../../support/tests-in-slices.js'

const storeId = '00000000-0000-4000-8000-000000000000'
/** Logs of format 2 are those of states of before format 7: they are read for ever. */
const formats = [2, 3] as const
const binding: LogBinding = { storeId, epoch: 3, format: 3 }
const from = { sequence: 7, chain: firstChain(storeId) }

const threeRecords = (to = binding): { bytes: Buffer; ends: number[] } => {
  const parts: Buffer[] = []
  const ends: number[] = []
  let { sequence, chain } = from
  for (const text of ['{"a":1}', '{"ü":"…"}', '{}']) {
    sequence += 1
    const record = encodeRecord(to, sequence, chain, text)
    parts.push(record.bytes)
    ends.push((ends.at(-1) ?? 0) + record.bytes.length)
    chain = record.chain
  }
  return { bytes: Buffer.concat(parts), ends }
}

for (const format of formats) {
  const to = { ...binding, format }

  t.test(`format ${format}: records come back in order with their payloads and chain`, async (t) => {
    const { bytes, ends } = threeRecords(to)
    const scan = scanRecords(to, bytes, from)
    t.equal(scan.tail, 'clean')
    t.strictSame(scan.records.map((r) => [r.sequence, r.payload, r.end]), [
      [8, '{"a":1}', ends[0]], [9, '{"ü":"…"}', ends[1]], [10, '{}', ends[2]],
    ])
  })

  t.test(`durability 3 and 11: format ${format}: records cut at any byte are the whole ones before, then torn`, async (t) => {
    const { bytes, ends } = threeRecords(to)
    let wrong = 0
    for (let size = 0; size <= bytes.length; size += 1) {
      const scan = scanRecords(to, bytes.subarray(0, size), from)
      const whole = ends.filter((end) => end <= size).length
      const clean = size === 0 || ends.includes(size)
      if (scan.records.length !== whole || scan.tail !== (clean ? 'clean' : 'torn')) wrong += 1
    }
    t.equal(wrong, 0)
  })

  t.test(`durability 3 and 11: format ${format}: no flipped bit passes or is taken for a torn end`, async (t) => {
    const { bytes, ends } = threeRecords(to)
    const seen = new Map<string, number>()
    for (let at = 0; at < bytes.length; at += 1) {
      for (let bit = 0; bit < 8; bit += 1) {
        const flipped = Buffer.from(bytes)
        flipped[at] = (flipped[at] ?? 0) ^ (1 << bit)
        const { records, tail } = scanRecords(to, flipped, from)
        const before = ends.filter((end) => end <= at).length
        const inLast = before === 2
        const right = records.length === before && tail === (inLast ? 'ambiguous' : 'damaged')
        seen.set(right ? 'right' : `${records.length} ${tail} at ${at}`, 1)
      }
    }
    t.strictSame([...seen.keys()], ['right'])
  })

  t.test(`format ${format}: records of another store, epoch or chain do not pass`, async (t) => {
    const { bytes } = threeRecords(to)
    for (const [other, start] of [
      [{ ...to, epoch: 4 }, from],
      [{ ...to, storeId: 'x' }, from],
      [to, { ...from, chain: firstChain('x') }],
      [to, { ...from, sequence: 8 }],
    ] as const) {
      const scan = scanRecords(other, bytes, start)
      t.equal(scan.records.length, 0)
      t.not(scan.tail, 'clean')
      t.not(scan.tail, 'torn')
    }
  })
}

t.test('a chain names the history: it is the same in whichever log a record lies', async (t) => {
  const chainIn = (to: Partial<LogBinding>): string =>
    encodeRecord({ ...binding, ...to }, 8, from.chain, '{"a":1}').chain
  t.equal(chainIn({ epoch: 4 }), chainIn({}))
  t.not(chainIn({ format: 2, epoch: 4 }), chainIn({ format: 2 }), 'in format 2 it was another')
  const covered = `${from.chain}#c 0000000000000008 0000000007 {"a":1}`
  t.equal(chainIn({}), sha256Hex(covered))
  t.not(encodeRecord(binding, 9, from.chain, '{"a":1}').chain, chainIn({}), 'another sequence')
})

t.test('whatever is said of a record, both formats take it for true or neither does', async (t) => {
  const said = fc.record({
    epoch: fc.constantFrom(3, 4), storeId: fc.constantFrom(storeId, 'x'), sequence: fc.nat(9),
    chain: fc.constantFrom(from.chain, firstChain('x')), payload: fc.constantFrom('{}', '{"a":1}'),
    flip: fc.option(fc.nat(8 * 114 - 1)),
  })
  forAll(t, fc.property(said, ({ epoch, storeId: store, sequence, chain, payload, flip }) => {
    const [old, present] = formats.map((format) => {
      const wrote = { storeId: store, epoch, format }
      const bytes = Buffer.from(encodeRecord(wrote, sequence, chain, payload).bytes)
      const at = (flip ?? 0) >> 3
      if (flip !== null && at < bytes.length) bytes[at] = (bytes[at] ?? 0) ^ (1 << (flip & 7))
      return scanRecords({ ...binding, format }, bytes, from)
    })
    return old?.tail === present?.tail && old?.records.length === present?.records.length
  }))
})

const header = {
  schema: 'sallyport.log.v3' as const, format_version: 3 as const, store_id: storeId, epoch: 3,
  manifest_sha256: 'a'.repeat(64), base_sequence: 7, base_chain: 'b'.repeat(64),
}

t.test('durability 3: a log header is read whole or not at all', async (t) => {
  const bytes = encodeLogHeader(header)
  t.strictSame(decodeLogHeader(bytes), { header, end: bytes.length })
  let passed = 0
  for (let at = 0; at < bytes.length; at += 1) {
    for (let bit = 0; bit < 8; bit += 1) {
      const flipped = Buffer.from(bytes)
      flipped[at] = (flipped[at] ?? 0) ^ (1 << bit)
      if (decodeLogHeader(flipped) !== undefined) passed += 1
    }
    if (decodeLogHeader(bytes.subarray(0, at)) !== undefined) passed += 1
  }
  t.equal(passed, 0)
})

t.test('the quick canonical text equals the library\'s for every JSON value', async (t) => {
  fc.assert(fc.property(fc.jsonValue(), (value) => canonicalText(value) === canonicalJson(value)))
  fc.assert(fc.property(
    fc.dictionary(fc.string({ unit: 'binary' }), fc.oneof(fc.double(), fc.string(), fc.nat())),
    (value) => {
      const tries = [canonicalText, canonicalJson].map((how) => {
        try {
          return how(value)
        } catch {
          return 'refused'
        }
      })
      return tries[0] === tries[1]
    }))
  for (const value of [
    { b: 1, a: { 10: 1, 9: 2 } }, { a: new Date(0) }, { a: '\\ud800' }, [undefined, null],
    JSON.parse('{"__proto__":1,"a":2}') as unknown, { a: undefined, b: -0 },
  ]) {
    t.equal(canonicalText(value), canonicalJson(value))
  }
  t.throws(() => canonicalText({ a: Number.NaN }), { message: 'NaN is not allowed' })
  t.throws(() => canonicalText('\ud800'), { message: 'Lone surrogate is not allowed' })
  t.throws(() => canonicalText({ '\ud800': 1 }), { message: 'Lone surrogate is not allowed' })
})

t.test('a payload is canonical JSON and comes back as it was', async (t) => {
  const at = '2026-01-01T00:00:00.000Z'
  for (const content of [{ doc: { n: 1 }, text: undefined }, { doc: undefined, text: '{"n":1}' }]) {
    const text = encodePayload(at, 'a "verb"', [
      { collection: 'notes', kind: 1, id: 'a"b', content },
      { collection: 'items', kind: 256, id: 'ü', content: null },
    ], { number: 2, policy_revision: null })
    t.equal(text, canonicalJson(JSON.parse(text)))
    t.strictSame(decodePayload(text), {
      at, mark: { number: 2, policy_revision: null }, verb: 'a "verb"',
      ops: [['notes', 1, 'a"b', { n: 1 }], ['items', 256, 'ü']],
    })
  }
})

const anyChange: fc.Arbitrary<Change> = fc.record({
  collection: fc.constantFrom('notes', 'notes:by_text'),
  kind: fc.constantFrom<1 | 256>(1, 256),
  id: fc.string({ unit: 'grapheme', minLength: 1 }).filter(isDocumentId),
  content: fc.option(fc.jsonValue().map((value) => {
    const doc = canonicalCopy(value)
    return doc === undefined ? { doc, text: canonicalJson(value) } : { doc, text: undefined }
  })),
})

t.test('whatever a record holds, it is canonical, and each document is found again in its bytes', async (t) => {
  forAll(t, fc.property(fc.array(anyChange), fc.string({ unit: 'grapheme' }), (changes, verb) => {
    const text = encodePayload('2026-01-01T00:00:00.000Z', verb, changes, undefined)
    const bytes = Buffer.from(`before${text}behind`)
    const found = Array.from(opsIn(bytes, 6), ({ collection, id, start, end }) =>
      [collection, id, bytes.toString('utf8', start, end)])
    const wanted = changes.map(({ collection, id, content }) =>
      [collection, id, content === null ? '' : content.text ?? canonicalJson(content.doc)])
    return text === canonicalJson(JSON.parse(text)) &&
      canonicalJson(found) === canonicalJson(wanted)
  }))
})

t.test('what no record may hold is not read as one', async (t) => {
  for (const text of [
    '', '[]', '{}', 'null', '{"at":"x","ops":[["notes"]],"verb":"x"}',
    '{"at":"x","ops":[["../x",1,"id",{}]],"verb":"x"}',
    '{"at":"x","ops":[["notes",7,"id",{}]],"verb":"x"}',
    '{"at":"x","ops":[],"verb":"x","more":1}',
    '{"at":"x","mark":{"number":-1,"policy_revision":null},"ops":[],"verb":"x"}',
  ]) {
    t.equal(decodePayload(text), undefined, text)
  }
})

t.test('a header that names a byte more than a record may have is no header', async (t) => {
  const headerOf = (length: number) =>
    readRecordHeader(binding, encodeRecord(binding, 8, from.chain, 'x'.repeat(length)).bytes, 0)
  t.strictSame(headerOf(payloadBytesMax), { sequence: 8, length: payloadBytesMax })
  t.equal(headerOf(payloadBytesMax + 1), undefined)
})

t.test('however small the pieces are in which a log is read, it ends in the same way', async (t) => {
  const { bytes } = threeRecords()
  const altered = fc.record({
    cut: fc.nat(bytes.length), flip: fc.option(fc.nat(8 * bytes.length - 1)), piece: fc.nat(300),
    zeros: fc.constantFrom(0, 1, 39, 40, 500),
  })
  fc.assert(fc.property(altered, ({ cut, flip, piece: size, zeros }) => {
    const given = Buffer.concat([bytes.subarray(0, cut), Buffer.alloc(zeros)])
    const at = flip === null ? given.length : flip >> 3
    if (at < given.length) given[at] = (given[at] ?? 0) ^ (1 << ((flip ?? 0) & 7))
    const [whole, pieces] = [given.length + 1, size + 1]
    const start = given.length >> 1
    const source = bytesInMemory(given)
    const scan = (piece: number) => scanRecords(binding, given, from, piece)
    t.strictSame(scan(pieces), scan(whole))
    t.equal(
      countRecordHeaders(binding, source, start, pieces),
      countRecordHeaders(binding, source, start, whole))
  }), { numRuns: 500 })
})

t.test('the check of a header is the CRC-32 of zlib', async (t) => {
  t.equal(crc32('123456789'), 0xcbf43926)
  t.doesNotThrow(() => fc.assert(fc.property(fc.uint8Array(), (bytes) =>
    crc32(Buffer.from(bytes).toString('latin1')) === zlib.crc32(bytes))))
})
