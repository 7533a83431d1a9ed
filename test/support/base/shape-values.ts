/** Values for a shape: such as fit it, mostly, and such as were changed in one place. */
import fc from 'fast-check'
import type { GenericSchema } from 'valibot'
import type { Pieces } from '../../../src/base/compiled-shape.js'

const requirement = <T>(rules: readonly Pieces[], type: string): T | undefined =>
  rules.find((rule) => rule.type === type)?.requirement as T | undefined

const texts = (rules: readonly Pieces[]): fc.Arbitrary<unknown> => {
  const form = requirement<RegExp>(rules, 'regex')
  if (rules.some(({ type }) => type === 'iso_timestamp')) {
    return fc.constantFrom('2026-01-02T03:04:05.678Z', '1970-01-01T00:00:00Z')
  }
  const start = requirement<string>(rules, 'starts_with')
  if (start !== undefined) return fc.string().map((text) => start + text)
  // What the generator cannot follow (a look-ahead, a class by name) is left to chance.
  try {
    if (form !== undefined) return fc.stringMatching(form)
  } catch { /* any text */ }
  const exactly = requirement<number>(rules, 'length')
  return fc.string({
    minLength: exactly ?? requirement<number>(rules, 'min_length') ?? 0,
    ...(exactly === undefined ? {} : { maxLength: exactly }),
  })
}

const numbers = (rules: readonly Pieces[]): fc.Arbitrary<unknown> => {
  const min = requirement<number>(rules, 'min_value') ?? -3
  const max = requirement<number>(rules, 'max_value') ?? Math.max(min, 1_000_000_000_000)
  return fc.integer({ min: Math.ceil(min), max: Math.floor(max) })
}

const objects = (entries: Readonly<Record<string, Pieces>>): fc.Arbitrary<unknown> => {
  const optional = Object.keys(entries).filter((key) => entries[key]?.type === 'optional')
  const requiredKeys = Object.keys(entries).filter((key) => !optional.includes(key))
  const fields = Object.fromEntries(Object.entries(entries).map(([key, one]) =>
    [key, optional.includes(key) ? valuesOf(one.wrapped ?? one) : valuesOf(one)]))
  return fc.record(fields, { requiredKeys, noNullPrototype: true })
}

const byType: Readonly<Record<string, (pieces: Pieces, rules: readonly Pieces[]) =>
  fc.Arbitrary<unknown>>> = {
  string: (_, rules) => texts(rules),
  number: (_, rules) => numbers(rules),
  boolean: () => fc.boolean(),
  null: () => fc.constant(null),
  literal: ({ literal }) => fc.constant(literal),
  picklist: ({ options = [] }) => fc.constantFrom(...options),
  nullable: ({ wrapped }) => fc.option(valuesOf(wrapped as Pieces)),
  optional: ({ wrapped }) => fc.option(valuesOf(wrapped as Pieces), { nil: undefined }),
  strict_object: ({ entries = {} }) => objects(entries),
  array: ({ item }) => fc.array(valuesOf(item as Pieces), { maxLength: 3 }),
  strict_tuple: ({ items = [] }) => fc.tuple(...items.map(valuesOf)),
  union: ({ options = [] }) => fc.oneof(...(options as readonly Pieces[]).map(valuesOf)),
  variant: ({ options = [] }) => fc.oneof(...(options as readonly Pieces[]).map(valuesOf)),
  record: ({ key, value }) => fc.dictionary(
    valuesOf(key as Pieces) as fc.Arbitrary<string>, valuesOf(value as Pieces),
    { maxKeys: 3, noNullPrototype: true }),
}

/** The steps of a pipe, those of the pipes within it too. */
const stepsOf = (pieces: Pieces): readonly Pieces[] =>
  pieces.pipe === undefined ? [pieces]
    : pieces.pipe.flatMap((step) => step.kind === 'schema' ? stepsOf(step) : [step])

const valuesOf = (pieces: Pieces): fc.Arbitrary<unknown> => {
  const steps = stepsOf(pieces)
  const shape = steps.findLast(({ kind }) => kind === 'schema') ?? pieces
  return byType[shape.type]?.(shape, steps) ?? fc.jsonValue()
}

/** Values that a schema takes, but for what rules between fields forbid. */
export const valuesOfShape = (schema: GenericSchema): fc.Arbitrary<unknown> =>
  valuesOf(schema)

/** What stands in a value where something else belongs. */
const strange: readonly unknown[] = [
  null, undefined, true, -1, 1.5, -0, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, '', 'x',
  '2026-13-01T00:00:00Z', 'A'.repeat(64), 'f'.repeat(64), [], [null], {}, { x: 1 },
  Object.create({ inherited: 1 }),
]

/** A copy of a value, changed in one place that `pick` chooses among so many. */
const mutate = (value: unknown, pick: (many: number) => number): unknown => {
  const isNested = typeof value === 'object' && value !== null && Object.keys(value).length > 0
  if (!isNested || pick(4) === 0) return strange[pick(strange.length)]
  const copy = (Array.isArray(value) ? [...value as unknown[]] : { ...value }) as
    Record<string, unknown>
  const keys = Object.keys(copy)
  const key = keys[pick(keys.length)] as string
  const how = pick(6)
  if (how === 0) delete copy[key]
  else if (how === 1) copy[Array.isArray(value) ? String(keys.length) : `${key}_`] = copy[key]
  else copy[key] = mutate(copy[key], pick)
  return copy
}

/** Values of a shape, and the same with one change somewhere. */
export const mutatedValuesOfShape = (schema: GenericSchema): fc.Arbitrary<unknown> =>
  fc.tuple(valuesOfShape(schema), fc.infiniteStream(fc.nat())).map(([value, chance]) =>
    mutate(value, (many) => (chance.next().value as number) % many))
