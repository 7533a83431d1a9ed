import fc from 'fast-check'
import t from 'tap'
import * as v from 'valibot'
import { SallyportError } from '../../src/base/errors.js'
import {
  closedObject, finiteNumber, parseClosed, replyObject, strictInteger, strictIntegerText,
} from '../../src/base/schema.js'
import { parseStrictJson } from '../../src/base/strict-json.js'
import { forAll } from '../support/for-all.js'

const json = (text: string): unknown =>
  parseStrictJson(new TextEncoder().encode(text), { bytesMax: 1 << 16, depthMax: 32 })
const about = { code: 'thing_invalid', what: 'the thing' }

const rejectionOf = (schema: v.GenericSchema, value: unknown): SallyportError => {
  try {
    parseClosed(schema, value, about)
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
  throw new Error('the value was accepted')
}
const accepts = (schema: v.GenericSchema, value: unknown): boolean => v.is(schema, value)

t.test('an integer field takes only plain integers of its range', async (t) => {
  const schema = strictInteger(0, 1024)
  for (const text of ['0', '1', '1024']) t.ok(accepts(schema, json(text)), text)
  for (const text of ['-1', '1025', '1.0', '1e2', '-0', '1.5', '"5"', 'true', 'null', '[]', '{}',
    '1e999']) {
    t.notOk(accepts(schema, json(text)), text)
  }
  t.notOk(accepts(schema, -0), 'negative zero that no text spelled')
  t.matchStrict(rejectionOf(schema, 4711), {
    kind: 'rejected', code: 'thing_invalid',
    message: 'The thing must be a plain integer from 0 to 1024.',
  })
})

t.test('a number field takes every finite spelling and yields a number', async (t) => {
  const schema = finiteNumber(1, 45)
  for (const text of ['1', '2.5', '45', '1.0', '4.5e1', '45.000']) {
    t.equal(parseClosed(schema, json(text), about), Number(text), text)
  }
  for (const text of ['0.99', '45.01', '1e999', '-1e999', '"2"', 'true', 'null']) {
    t.notOk(accepts(schema, json(text)), text)
  }
  t.notOk(accepts(schema, Number.NaN))
  t.notOk(accepts(schema, Infinity))
  t.ok(accepts(finiteNumber(), json('-1e300')))
  t.notOk(accepts(finiteNumber(), json('1e999')))
})

t.test('an integer flag takes only decimal digits', async (t) => {
  const schema = strictIntegerText(-5, 1000)
  for (const text of ['0', '-5', '1000']) t.equal(parseClosed(schema, text, about), Number(text))
  for (const text of ['', ' ', '+1', '0x10', '1e2', '1.0', '01', '-0', ' 1', '1 ', '1_0', '٣', '-6',
    '1001',
    '99999999999999999999', 'NaN', '1\n']) {
    t.notOk(accepts(schema, text), JSON.stringify(text))
  }
  t.notOk(accepts(schema, 5))
})

t.test('a closed object refuses unknown fields, arrays and numbers, naming no field', async (t) => {
  const schema = closedObject({ a: v.optional(v.string()), b: v.optional(v.string()) })
  t.strictSame(parseClosed(schema, json('{"a":"x"}'), about), { a: 'x' })
  const error = rejectionOf(schema, json('{"sk-hidden-key":1}'))
  t.notMatch(error.message, /hidden/)
  t.equal(error.message, 'The thing, field *, is not a known field (known: a, b).')
  t.strictSame(error.details, { field: '*', rule: 'unknown_field' })
  for (const text of ['[]', '1.5', 'null', '"x"', '{"constructor":1}', '{"__proto__":{}}',
    '{"toString":1}']) {
    t.notOk(accepts(schema, json(text)), text)
  }
  t.strictSame(parseClosed(replyObject({ a: v.string() }), json('{"a":"x","z":1}'), about),
    { a: 'x' })
  t.notOk(accepts(replyObject({}), json('[]')))
  t.notOk(accepts(replyObject({}), json('1.5')))
})

t.test('an error names the path and the rule of the field', async (t) => {
  const schema = closedObject({
    name: v.pipe(v.string(), v.minLength(2), v.maxBytes(8)),
    kind: v.optional(v.picklist(['x', 'y'])),
    list: v.optional(v.array(closedObject({ n: strictInteger(1, 9) }))),
    either: v.nullish(v.union([v.literal(1), closedObject({ deep: v.boolean() })])),
    map: v.optional(v.record(v.string(), closedObject({ n: v.number() }))),
    id: v.optional(v.pipe(v.string(), v.regex(/^a$/))),
    ok: v.optional(v.pipe(v.string(), v.check((value) => value === '1', 'must be one'))),
    own: v.optional(v.pipe(v.string(), v.check((value) => value === '1'))),
  })
  const cases: [string, string][] = [
    ['{}', 'The thing, field name, is required.'],
    ['{"name":5}', 'The thing, field name, must be string.'],
    ['{"name":"a"}', 'The thing, field name, must have a length of at least 2.'],
    ['{"name":"aaaaaaaaaaa"}', 'The thing, field name, must have at most 8 UTF-8 bytes.'],
    ['{"name":"aa","kind":"q"}', 'The thing, field kind, must be ("x" | "y").'],
    ['{"name":"aa","list":[{"n":1},{"n":1.0}]}',
      'The thing, field list[1].n, must be a plain integer from 1 to 9.'],
    ['{"name":"aa","list":[{"n":1,"s3":1}]}',
      'The thing, field list[0].*, is not a known field (known: n).'],
    ['{"name":"aa","list":{}}', 'The thing, field list, must be Array.'],
    ['{"name":"aa","either":3}', 'The thing, field either, has none of the permitted forms.'],
    ['{"name":"aa","map":{"pw":{"n":"z"}}}', 'The thing, field map.*.n, must be number.'],
    ['{"name":"aa","id":"b"}', 'The thing, field id, does not have the required form.'],
    ['{"name":"aa","ok":"b"}', 'The thing, field ok, must be one.'],
    ['{"name":"aa","own":"b"}', 'The thing, field own, breaks a rule of this field.'],
    ['[]', 'The thing must be an object.'],
  ]
  for (const [text, message] of cases) t.equal(rejectionOf(schema, json(text)).message, message)
  t.strictSame(rejectionOf(schema, json('{"name":"a"}')).details,
    { field: 'name', rule: 'min_length', limit: 2 })
})

t.test('no rejection ever holds a received value or a received key', async (t) => {
  const marker = 'ZQXZQX'
  const schema = closedObject({
    a: v.pipe(v.string(), v.maxLength(1)), b: v.optional(strictInteger(1, 2)),
    c: v.optional(v.array(v.picklist(['p']))), d: v.optional(v.record(v.string(), v.number())),
    e: v.optional(v.variant('type', [v.strictObject({ type: v.literal('t'), x: v.number() })])),
    f: v.optional(v.pipe(v.string(), v.uuid())), g: v.optional(v.tuple([v.string(), v.number()])),
    h: v.optional(finiteNumber(0, 1)), i: v.optional(v.nullable(v.boolean())),
  })
  const value = fc.oneof(
    fc.constantFrom<unknown>(marker, [marker], { [marker]: marker }, { type: marker }, 7777.5, null,
      true),
    fc.jsonValue({ maxDepth: 2 }),
  )
  forAll(
    t,
    fc.property(fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', marker),
      value), (input) => {
      try {
        parseClosed(schema, input, about)
      } catch (error) {
        if (!(error instanceof SallyportError)) throw error
        const told = JSON.stringify([error.message, error.details, error.reason, error.next])
        if (/ZQX|7777/.test(told) || error.cause !== undefined) throw new Error(`leaks: ${told}`)
      }
    }),
    { numRuns: 500 },
  )
})
