/** Shapes as plain functions say what valibot says, for every collection that any layer keeps. */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import * as v from 'valibot'
import { shapeCheck } from '../../src/base/compiled-shape.js'
import { closedObject, finiteNumber, strictInteger } from '../../src/base/schema.js'
import { stateRules } from '../../src/fabric/state-rules.js'
import { indexCollections } from '../../src/state/indexes.js'
import { manifestShape } from '../../src/state/snapshot/manifest.js'
import { mutatedValuesOfShape, valuesOfShape } from '../support/base/shape-values.js'
import { t } from '../support/tests-in-slices.js'
import { casesOf } from '../support/for-all.js'

const { collections } = await stateRules()
const declared: readonly (readonly [string, v.GenericSchema])[] = [
  ...collections.flatMap((spec) => [spec, ...indexCollections(spec)])
    .map(({ name, schema }) => [name, schema] as const),
  ['a manifest', manifestShape],
]

/** A schema that throws where valibot is asked. */
const withoutValibot = (schema: v.GenericSchema): v.GenericSchema => ({
  ...schema,
  '~run': () => {
    throw new Error('left to valibot')
  },
})

/** Keys that valibot leaves out of a record; no document of the program has them. */
const unseen: readonly string[] = ['__proto__', 'prototype', 'constructor']

/** What is in a value: valibot takes a list for an object, and gives an object for it. */
const fieldsOf = (value: unknown): unknown =>
  typeof value !== 'object' || value === null ? value
    : Object.fromEntries(Object.entries(value)
      .filter(([key]) => !unseen.includes(key))
      .map(([key, member]) => [key, fieldsOf(member)]))

t.test('every declared collection takes and refuses what its schema does, and keeps it as it is', async (t) => {
  let [taken, refused] = [0, 0]
  for (const [name, schema] of declared) {
    const check = shapeCheck(schema)
    const values = fc.oneof(valuesOfShape(schema), mutatedValuesOfShape(schema))
    t.doesNotThrow(() => fc.assert(fc.property(values, (value) => {
      const parsed = v.safeParse(schema, value)
      if (parsed.success) taken += 1
      else refused += 1
      // What is stored is the document itself: nothing of it may be made by parsing.
      const same = !parsed.success || isDeepStrictEqual(fieldsOf(parsed.output), fieldsOf(value))
      return check(value) === parsed.success && same
    }), { numRuns: 60 }), name)
    t.doesNotThrow(() => shapeCheck(withoutValibot(schema))({}), `${name} is compiled`)
  }
  t.ok(taken > casesOf(20) * declared.length, `${taken} were taken`)
  t.ok(refused > casesOf(10) * declared.length, `${refused} were refused`)
})

const upper = v.pipe(v.string(), v.transform((text) => text.toUpperCase()))
const name = v.pipe(v.string(), v.regex(/^[a-z]+$/), v.minLength(2), v.maxLength(4))
/** Whatever a shape is made of, what is left to valibot too. */
const shapes: Readonly<Record<string, v.GenericSchema>> = {
  'a closed object': closedObject({ n: strictInteger(0, 9), f: v.optional(finiteNumber(0, 1)) }),
  'all optional': v.strictObject({ a: v.optional(name), b: v.nullish(v.boolean()) }),
  'a default': v.strictObject({ a: v.optional(name, 'ab'), b: v.nullable(name, 'ab') }),
  'fallbacks': v.array(v.fallback(name, 'ab')),
  'a fallback': v.strictObject({ a: v.fallback(name, 'ab') }),
  'a default that does not fit': v.strictObject({ a: v.optional(name, 'A') }),
  'a rule between fields': v.pipe(
    v.strictObject({ from: v.number(), to: v.number() }), v.check(({ from, to }) => from <= to)),
  'a rule behind a transformation': v.pipe(
    v.strictObject({ a: upper }), v.check(({ a }) => a === 'X')),
  'a rule over a record': v.pipe(v.record(name, v.number()), v.check((one) =>
    Object.keys(one).length < 2)),
  'a record': v.record(name, v.nullable(v.number())),
  'a tuple': v.strictTuple([name, v.optional(v.number()), v.unknown()]),
  'a union': v.union([v.strictObject({ a: name }), v.array(name), v.literal(Number.NaN)]),
  'a variant': v.variant('k', [
    v.strictObject({ k: v.literal('a'), n: v.number() }), v.strictObject({ k: v.literal('b') })]),
  'other kinds': v.strictObject({
    d: v.optional(v.date()), o: v.optional(v.object({ a: name })),
    p: v.optional(v.picklist(['x', 1])),
    r: v.optional(v.pipe(v.array(name), v.length(1), v.readonly())),
    s: v.optional(v.pipe(v.string(), v.startsWith('x'), v.isoTimestamp())),
  }),
}

const oddities: readonly unknown[] = [
  JSON.parse('{"__proto__":1}'), { constructor: 1, ab: 1 }, { prototype: 'x' }, [], ['ab'],
  Object.create({ a: 'ab' }), Object.create({ n: 1 }), new Date(0), Number.NaN, 0, -0, undefined,
  { a: undefined }, { a: 'ab', b: undefined }, { from: 2, to: 1 }, { a: 'x' }, { a: 'X' }, {},
  { d: new Date(0), o: { a: 'ab', more: 1 }, p: 1, r: ['ab'] }, { k: 'b' }, { k: 'a', n: 1 },
]

t.test('so does every kind of shape, known or left to valibot', async (t) => {
  for (const [what, schema] of Object.entries(shapes)) {
    const check = shapeCheck(schema)
    for (const [at, value] of oddities.entries()) {
      t.equal(check(value), v.is(schema, value), `${what}, ${at}`)
    }
    const values = fc.oneof(valuesOfShape(schema), mutatedValuesOfShape(schema))
    t.doesNotThrow(() => fc.assert(fc.property(values, (value) =>
      check(value) === v.is(schema, value)), { numRuns: 200 }), what)
  }
})
