import { isObject } from '../json.js'
import type { JsonObject } from '../types.js'

/** Deepest schema that is followed; deeper parts become null. */
const depthMax = 32
/** Most values made for one schema: one that refers to itself twice would double at each level. */
const valuesMax = 10_000
/** Longest text and list that a schema's minimum is followed to. */
const charactersMax = 10_000
const itemsMax = 1_000

/** What one schema's walk carries along. */
interface Walk {
  readonly root: JsonObject
  valuesLeft: number
}

const bound = (value: unknown, fallback: number, most: number): number =>
  typeof value === 'number' && value >= 0 ? Math.min(Math.floor(value), most) : fallback

const text = (schema: JsonObject, name: string): string => {
  const given = schema.format === 'date-time' ? '2026-01-15T12:00:00.000Z' : `Sandbox ${name}`
  const padded = given.padEnd(bound(schema.minLength, 0, charactersMax), '.')
  return padded.slice(0, bound(schema.maxLength, charactersMax, charactersMax))
}

const number = (schema: JsonObject, whole: boolean): number => {
  const least = typeof schema.minimum === 'number' ? schema.minimum : null
  const most = typeof schema.maximum === 'number' ? schema.maximum : null
  const value = least ?? Math.min(1, most ?? 1)
  return whole ? Math.ceil(value) : value
}

const typeOf = (schema: JsonObject): unknown => {
  const type = schema.type
  if (Array.isArray(type)) return (type as unknown[]).find((one) => one !== 'null') ?? 'null'
  if (type !== undefined) return type
  if (schema.properties !== undefined) return 'object'
  return schema.items === undefined ? 'string' : 'array'
}

const resolved = (schema: unknown, root: JsonObject): JsonObject => {
  if (!isObject(schema)) return {}
  if (typeof schema.$ref !== 'string') return schema
  const found = schema.$ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (isObject(at) ? at[key] : undefined), root)
  return isObject(found) ? found : {}
}

const list = (schema: JsonObject, name: string, walk: Walk, depth: number): unknown[] => {
  const least = Math.max(1, bound(schema.minItems, 1, itemsMax))
  const length = Math.min(least, bound(schema.maxItems, itemsMax, itemsMax))
  return Array.from({ length }, () => shaped(schema.items, name, walk, depth + 1))
}

const members = (schema: JsonObject, walk: Walk, depth: number): JsonObject =>
  Object.fromEntries(
    Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([key, part]) => [
      key,
      shaped(part, key, walk, depth + 1),
    ]),
  )

const shaped = (given: unknown, name: string, walk: Walk, depth: number): unknown => {
  walk.valuesLeft -= 1
  if (depth > depthMax || walk.valuesLeft < 0) return null
  const schema = resolved(given, walk.root)
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return (schema.enum as unknown[])[0]
  const [variant] = [schema.anyOf, schema.oneOf, schema.allOf].filter(Array.isArray)
  if (variant !== undefined) return shaped((variant as unknown[])[0], name, walk, depth + 1)
  switch (typeOf(schema)) {
    case 'object':
      return members(schema, walk, depth)
    case 'array':
      return list(schema, name, walk, depth)
    case 'integer':
      return number(schema, true)
    case 'number':
      return number(schema, false)
    case 'boolean':
      return false
    case 'null':
      return null
    default:
      return text(schema, name)
  }
}

/** A value that fits a JSON schema: every named member, shortest lists, first choices. */
export const schemaShaped = (schema: JsonObject): unknown =>
  shaped(schema, 'answer', { root: schema, valuesLeft: valuesMax }, 0)
