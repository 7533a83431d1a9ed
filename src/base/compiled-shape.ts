/**
 * Shapes as plain functions: a valibot schema is walked once and becomes one closure that says
 * whether a value fits, without the objects that valibot makes for every value it looks at. The
 * schema stays the only place where a shape is written down; a kind that is not known here is left
 * to valibot itself, so that the answer is always valibot's own. A property test compares the two
 * over every declared collection.
 */
import * as v from 'valibot'

type ShapeCheck = (value: unknown) => boolean

/** One part of a shape; `asIs` where what valibot hands on is the value itself. */
interface Part {
  readonly check: ShapeCheck
  readonly asIs: boolean
}

/** What the kinds of schemas and rules hold; each kind has some of it. */
export interface Pieces {
  readonly kind: string
  readonly type: string
  readonly pipe?: readonly Pieces[]
  readonly entries?: Readonly<Record<string, Pieces>>
  readonly item?: Pieces
  readonly items?: readonly Pieces[]
  readonly options?: readonly unknown[]
  readonly wrapped?: Pieces
  /** The shape of a record's keys; of a variant the name of a field. */
  readonly key?: Pieces | string
  readonly value?: Pieces
  readonly literal?: unknown
  readonly check?: (value: unknown) => boolean
  readonly default?: unknown
  readonly requirement?: unknown
}

const yes: ShapeCheck = () => true
const of = (check: ShapeCheck): Part => ({ check, asIs: true })

const partsOf = (pieces: readonly Pieces[]): readonly Part[] => pieces.map((one) => partOf(one))
const checksOf = (parts: readonly Part[]): readonly ShapeCheck[] => parts.map(({ check }) => check)
const allAsIs = (parts: readonly Part[]): boolean => parts.every(({ asIs }) => asIs)

/** Wrappers under which a field may be absent. */
const mayBeAbsent = new Set(['exact_optional', 'optional', 'nullish'])

const strictObject = ({ entries = {} }: Pieces): Part | undefined => {
  const keys: string[] = []
  for (const key in entries) keys.push(key)
  const fields = keys.map((key) => entries[key] as Pieces)
  const known = new Set(Object.keys(entries))
  const absent = fields.map(({ type }) => mayBeAbsent.has(type))
  // Left to valibot: what it puts where a field is absent; and inherited entries, which count in
  // one of its two looks and not in the other.
  const filled = fields.some((field, at) =>
    'fallback' in field || (absent[at] === true && field.default !== undefined))
  if (filled || known.size !== keys.length) return undefined
  const parts = partsOf(fields)
  const checks = checksOf(parts)
  const check: ShapeCheck = (value) => {
    if (typeof value !== 'object' || value === null) return false
    const input = value as Readonly<Record<string, unknown>>
    for (let at = 0; at < keys.length; at += 1) {
      const key = keys[at] as string
      const member = input[key]
      if (member === undefined && !(key in input)) {
        if (absent[at] !== true) return false
      } else if (checks[at]?.(member) !== true) return false
    }
    let at = 0
    for (const key in input) {
      if (key !== keys[at] && !known.has(key)) return false
      at += 1
    }
    return true
  }
  return { check, asIs: allAsIs(parts) }
}

const array = ({ item }: Pieces): Part => {
  const { check, asIs } = partOf(item as Pieces)
  return {
    check: (value) => {
      if (!Array.isArray(value)) return false
      for (let at = 0; at < value.length; at += 1) if (!check(value[at])) return false
      return true
    },
    asIs,
  }
}

const strictTuple = ({ items = [] }: Pieces): Part => {
  const parts = partsOf(items)
  const checks = checksOf(parts)
  return {
    check: (value) => {
      if (!Array.isArray(value) || value.length > checks.length) return false
      for (let at = 0; at < checks.length; at += 1) {
        if (checks[at]?.(value[at]) !== true) return false
      }
      return true
    },
    asIs: allAsIs(parts),
  }
}

const union = ({ options = [] }: Pieces): Part => {
  const parts = partsOf(options as readonly Pieces[])
  const checks = checksOf(parts)
  return {
    check: (value) => {
      for (const check of checks) if (check(value)) return true
      return false
    },
    asIs: allAsIs(parts),
  }
}

/** One of several objects that a field tells apart: with a literal each, only one can fit. */
const variant = (pieces: Pieces): Part | undefined => {
  const { key, options = [] } = pieces
  const names = (options as readonly Pieces[]).map(({ type, pipe, entries }) => {
    const field = typeof key === 'string' ? entries?.[key] : undefined
    const isPlain = type === 'strict_object' && pipe === undefined && field?.pipe === undefined
    return isPlain && field?.type === 'literal' ? field.literal : undefined
  })
  const apart = !names.includes(undefined) && new Set(names).size === names.length
  return apart ? union(pieces) : undefined
}

/** Keys that valibot leaves out of a record. */
const unseenKeys = new Set(['__proto__', 'prototype', 'constructor'])

const record = ({ key, value: member }: Pieces): Part => {
  const [keys, members] = [partOf(key as Pieces), partOf(member as Pieces)]
  return {
    check: (value) => {
      if (typeof value !== 'object' || value === null) return false
      const input = value as Readonly<Record<string, unknown>>
      for (const name in input) {
        if (!Object.hasOwn(input, name) || unseenKeys.has(name)) continue
        if (!keys.check(name) || !members.check(input[name])) return false
      }
      return true
    },
    // What it hands on lacks those keys.
    asIs: false,
  }
}

/** A wrapper that lets one or two more values pass, without a default in their place. */
const wrapper = (extra: ShapeCheck) => ({ wrapped, default: other }: Pieces): Part | undefined => {
  if (other !== undefined) return undefined
  const { check, asIs } = partOf(wrapped as Pieces)
  return { check: (value) => extra(value) || check(value), asIs }
}

/** A value of the same kind as valibot's `literal`: NaN is NaN, and 0 is -0. */
const isSame = (a: unknown, b: unknown): boolean => a === b || Object.is(a, b)

/** Schemas by type; undefined where one has something that is left to valibot. */
const schemas: Readonly<Record<string, (pieces: Pieces) => Part | undefined>> = {
  string: () => of((value) => typeof value === 'string'),
  boolean: () => of((value) => typeof value === 'boolean'),
  number: () => of((value) => typeof value === 'number' && !Number.isNaN(value)),
  null: () => of((value) => value === null),
  unknown: () => of(yes),
  literal: ({ literal }) => of((value) => isSame(value, literal)),
  picklist: ({ options = [] }) => of((value) => options.includes(value)),
  custom: ({ check = yes }) => of((value) => Boolean(check(value))),
  nullable: wrapper((value) => value === null),
  optional: wrapper((value) => value === undefined),
  nullish: wrapper((value) => value === null || value === undefined),
  strict_object: strictObject,
  array,
  strict_tuple: strictTuple,
  union,
  variant,
  record,
}

type Rule = (requirement: never) => ShapeCheck
const long = (value: unknown): number => (value as { readonly length: number }).length
const pattern: Rule = (form: RegExp) => (value) => form.test(value as string)
const predicate: Rule = (holds: (value: unknown) => unknown) => (value) => Boolean(holds(value))

/** Rules in a pipe, by type. */
const rules: Readonly<Record<string, Rule>> = {
  regex: pattern,
  iso_timestamp: pattern,
  check: predicate,
  safe_integer: predicate,
  integer: predicate,
  finite: predicate,
  min_value: (least: number) => (value) => (value as number) >= least,
  max_value: (most: number) => (value) => (value as number) <= most,
  min_length: (least: number) => (value) => long(value) >= least,
  max_length: (most: number) => (value) => long(value) <= most,
  length: (exactly: number) => (value) => long(value) === exactly,
  starts_with: (start: string) => (value) => (value as string).startsWith(start),
}

/** A pipe whose steps hand on what they were given: then each may look at the value itself. */
const pipeOf = (steps: readonly Pieces[]): Part | undefined => {
  const checks: ShapeCheck[] = []
  let asIs = true
  for (const step of steps) {
    if (step.kind === 'metadata' || step.type === 'readonly') continue
    if (!asIs) return undefined
    if (step.kind === 'schema') {
      const part = partOf(step)
      asIs = part.asIs
      checks.push(part.check)
    } else {
      const rule = step.kind === 'validation' ? rules[step.type] : undefined
      if (rule === undefined) return undefined
      checks.push(rule(step.requirement as never))
    }
  }
  const [first = yes, second, ...rest] = checks
  if (second === undefined) return { check: first, asIs }
  if (rest.length === 0) return { check: (value) => first(value) && second(value), asIs }
  const check: ShapeCheck = (value) => {
    for (const one of checks) if (!one(value)) return false
    return true
  }
  return { check, asIs }
}

/** Undefined where something in it is not known here. */
const compiled = (schema: Pieces): Part | undefined => {
  if ('fallback' in schema) return undefined
  if (schema.pipe !== undefined) return pipeOf(schema.pipe)
  return Object.hasOwn(schemas, schema.type) ? schemas[schema.type]?.(schema) : undefined
}

const made = new WeakMap<object, Part>()

const partOf = (schema: Pieces): Part => {
  let part = made.get(schema)
  if (part === undefined) {
    const valibots = (value: unknown): boolean => v.is(schema as unknown as v.GenericSchema, value)
    part = compiled(schema) ?? { check: valibots, asIs: false }
    made.set(schema, part)
  }
  return part
}

/** Says whether a value has a shape, as `v.is` does; made at its first use and kept. */
export const shapeCheck = <T>(schema: v.GenericSchema<T>): ((value: unknown) => value is T) =>
  partOf(schema).check as (value: unknown) => value is T
