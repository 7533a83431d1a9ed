import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { canonicalJson } from '../../src/base/canonical.js'
import { SallyportError } from '../../src/base/errors.js'
import { NumberLexeme, parseStrictJson } from '../../src/base/strict-json.js'
import type { StrictJsonLimits } from '../../src/base/strict-json.js'
import { forAll } from '../support/for-all.js'

const wide: StrictJsonLimits = { bytesMax: 1 << 20, depthMax: 64 }
const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text)
const read = (text: string, limits = wide): unknown => parseStrictJson(utf8(text), limits)

const faultOf = (bytes: Uint8Array, limits = wide): SallyportError => {
  try {
    parseStrictJson(bytes, limits)
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
  throw new Error('the document was accepted')
}
const codeOf = (text: string, limits = wide): string => faultOf(utf8(text), limits).code

t.test('plain documents come out as JSON.parse gives them', async (t) => {
  for (const text of ['null', ' true ', '0', '-7', '"a\\u00e9\\n"', '[]', '{}', '[[1,2],{"a":[]}]',
    '{"a":{"b":[null,false]},"":1}', '\t[\r\n1 ,2 ]\n', '"\\ud83d\\ude00"', '9007199254740991']) {
    t.strictSame(read(text), JSON.parse(text), text)
  }
})

t.test('a field named twice is refused at any depth, also when escaped', async (t) => {
  for (const text of ['{"a":1,"a":1}', '{"a":1,"\\u0061":2}', '[{"x":{"k":1,"j":2,"k":1}}]',
    '{"__proto__":1,"__proto__":2}', '{"":1,"":1}']) {
    t.equal(codeOf(text), 'json_duplicate_key', text)
  }
  t.strictSame(read('{"a":{"a":1},"b":{"a":1}}'), { a: { a: 1 }, b: { a: 1 } })
})

t.test('a fault is told with its place where it has one, counted from 1', async (t) => {
  const placed = faultOf(utf8('{\n "a": 1,\n "a": 2}'))
  t.strictSame(placed.details, { line: 3, column: 2 })
  t.equal(placed.message,
    'The document holds an object that names one field twice (line 3, column 2).')
  for (const text of ['', ']', '[1,]']) {
    t.equal(faultOf(utf8(text)).details['line'], 1, text)
  }
  t.strictSame(faultOf(utf8('[\n\n"\\ud83d"]')).details, { line: 3, column: 1 })
  t.strictSame(faultOf(utf8('[\n[[[]]]]'), { ...wide, depthMax: 2 }).details,
    { line: 2, column: 2 })
  const whole = faultOf(utf8('[1]'), { ...wide, bytesMax: 2 })
  t.strictSame(whole.details, {})
  t.equal(whole.message, 'The document is larger than the limit of 2 bytes.')
})

t.test('a field is an ordinary property, whatever its name', async (t) => {
  const read1 = read('{"a":1,"__proto__":2}') as object
  for (const name of ['a', '__proto__']) {
    t.hasStrict(Object.getOwnPropertyDescriptor(read1, name),
      { writable: true, enumerable: true, configurable: true }, name)
  }
})

t.test('a depth that nobody could mean is a defect of the caller', async (t) => {
  for (const depthMax of [-1, 513, Number.NaN]) {
    t.throws(() => read('1', { ...wide, depthMax }),
      new RangeError('depthMax must be from 0 to 512'), String(depthMax))
  }
  t.equal(read('1', { ...wide, depthMax: 0 }), 1)
  t.strictSame(read('[]', { ...wide, depthMax: 512 }), [])
})

t.test('depth is bounded exactly, and far too deep ends without a crash', async (t) => {
  const limits = { bytesMax: 1 << 20, depthMax: 3 }
  t.strictSame(read('[[[1]]]', limits), [[[1]]])
  t.equal(codeOf('[[[[1]]]]', limits), 'json_too_deep')
  t.equal(codeOf('{"a":{"a":{"a":{}}}}', limits), 'json_too_deep')
  t.equal(read('5', { bytesMax: 9, depthMax: 0 }), 5)
  t.equal(codeOf('[]', { bytesMax: 9, depthMax: 0 }), 'json_too_deep')
  t.equal(codeOf('['.repeat(500_000), { bytesMax: 1 << 20, depthMax: 512 }), 'json_too_deep')
  t.throws(() => read('1', { bytesMax: 9, depthMax: 513 }),
    new RangeError('depthMax must be from 0 to 512'))
})

t.test('bytes are counted before anything is read', async (t) => {
  const limits = { bytesMax: 6, depthMax: 4 }
  t.equal(read('"abcd"', limits), 'abcd')
  t.equal(read('"éé"', limits), 'éé')
  t.equal(codeOf('"ééa"', limits), 'json_too_large')
  t.equal(codeOf('1      ', limits), 'json_too_large')
})

t.test('bytes that are not UTF-8 and a byte order mark are refused', async (t) => {
  const quote = 0x22
  for (const bytes of [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0xaf], [0xf5, 0x80, 0x80,
    0x80]]) {
    t.equal(faultOf(Uint8Array.from([quote, ...bytes, quote])).code, 'json_not_utf8')
  }
  t.equal(faultOf(Uint8Array.from([0xef, 0xbb, 0xbf, 0x31])).code, 'json_has_bom')
  t.equal(faultOf(Buffer.from('{"a":1}', 'utf16le')).code, 'not_json')
})

t.test('lone surrogates are refused in values and in keys', async (t) => {
  for (const text of ['"\\ud800"', '"a\\udc00b"', '"\\ude00\\ud83d"', '{"\\ud800":1}',
    '["\\ud83d "]']) {
    t.equal(codeOf(text), 'json_lone_surrogate', text)
  }
})

t.test('what RFC 8259 does not allow is refused', async (t) => {
  for (const text of ['', ' ', '{', '[', '[1,]', '{"a":1,}', '[,1]', '[1,,2]', '[1 2]', '{"a" 1}',
    '{a:1}',
    "{'a':1}", '// x\n1', '/* x */ 1', '1 // x', '01', '-', '+1', '.5', '1.', '1e', '1e+', '0x10',
    'NaN', 'Infinity', '-Infinity', 'True', 'nul', 'truee', '"a', '"a\nb"', '"a\tb"', '"\\x41"',
    '"\\u12"', '1 2', '[1]]', '{}{}', '"a"b', '\u00a01', '1\u2028', '[1\v]', '1\0', ':1', '/',
      '{"a":}',
    '{"a"}', '{,}', '-01', '--1', '1.e3', '"\u0000"']) {
    t.equal(codeOf(text), 'not_json', encodeURI(text))
  }
})

t.test('only the plain spelling of a safe integer becomes a number', async (t) => {
  for (const text of ['1.0', '1e3', '1E3', '-0', '0.5', '-0.0', '9007199254740992', '1e999',
    '-1e999',
    '0e0', '123456789012345678901234567890', '1e-7', '-9007199254740993']) {
    const value = read(text)
    t.ok(value instanceof NumberLexeme, text)
    t.matchStrict(value, { lexeme: text, value: Number(text) })
    t.ok((read(`{"a":[${text}]}`) as { a: unknown[] }).a[0] instanceof NumberLexeme)
  }
  t.equal(read('-9007199254740991'), Number.MIN_SAFE_INTEGER)
  t.equal(JSON.stringify(read('[1.0,0.5]')), '[1,0.5]', 'written again it is the number')
})

t.test('a field named __proto__ is an ordinary own field', async (t) => {
  const value = read('{"__proto__":{"polluted":true},"constructor":1}') as Record<string, unknown>
  t.strictSame(Object.keys(value), ['__proto__', 'constructor'])
  t.equal(Object.getPrototypeOf(value), Object.prototype)
  t.equal((value as { polluted?: unknown }).polluted, undefined)
  t.equal(({} as { polluted?: unknown }).polluted, undefined)
})

/** The value with every NumberLexeme replaced by its number. */
const loosened = (value: unknown): unknown => {
  if (value instanceof NumberLexeme) return value.value
  if (Array.isArray(value)) return value.map(loosened)
  if (typeof value !== 'object' || value === null) return value
  const copy: Record<string, unknown> = {}
  for (const [key, inner] of Object.entries(value)) {
    Object.defineProperty(copy, key, {
      value: loosened(inner), enumerable: true, writable: true, configurable: true,
    })
  }
  return copy
}

t.test('every value round-trips through JSON.stringify and through canonical JSON', async (t) => {
  forAll(
    t,
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 3 }), (value, indent) => {
      const text = JSON.stringify(value, null, indent)
      deepStrictEqual(loosened(read(text)), JSON.parse(text))
      const canonical = canonicalJson(JSON.parse(text))
      if (canonicalJson(loosened(read(canonical))) !== canonical) throw new Error('not stable')
    }),
    { numRuns: 300 },
  )
})

t.test('a damaged document never crashes, leaks, or differs from JSON.parse', async (t) => {
  const secret = 'SECRETSECRET'
  const document = fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify([secret, value,
    secret]))
  const edit = fc.record({
    at: fc.nat({ max: 400 }), drop: fc.nat({ max: 3 }),
    insert: fc.oneof(
      fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', '\\ud800', '/*', '//', '\0', '1',
        '-', 'é'),
      fc.string({ maxLength: 2 }),
    ),
  })
  forAll(
    t,
    fc.property(document, fc.array(edit, { minLength: 1, maxLength: 3 }), (text, edits) => {
      for (const { at, drop, insert } of edits) {
        const place = at % (text.length + 1)
        text = text.slice(0, place) + insert + text.slice(place + drop)
      }
      let value: unknown
      try {
        value = read(text)
      } catch (error) {
        if (!(error instanceof SallyportError)) throw error
        const told = JSON.stringify([error.message, error.code, error.details, error.next])
        if (/SECR|CRET/.test(told) || error.cause !== undefined) throw new Error('leaks input')
        return
      }
      deepStrictEqual(loosened(value), JSON.parse(new TextDecoder().decode(utf8(text))))
    }),
    { numRuns: 600 },
  )
})

t.test('random bytes never crash the parser', async (t) => {
  forAll(
    t,
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      try {
        parseStrictJson(bytes, wide)
      } catch (error) {
        if (!(error instanceof SallyportError) || error.kind !== 'rejected') throw error
      }
    }),
    { numRuns: 500 },
  )
})
