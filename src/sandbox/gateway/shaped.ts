import { isObject } from '../json.js'
import type { JsonObject } from '../types.js'

/** Deepest schema that is followed; deeper parts become null. */
const depthMax = 32

const text = (schema: JsonObject, name: string): string => {
  const given = schema.format === 'date-time' ? '2026-01-15T12:00:00.000Z' : `Sandbox ${name}`
  const least = typeof schema.minLength === 'number' ? schema.minLength : 0
  const most = typeof schema.maxLength === 'number' ? schema.maxLength : Infinity
  return given.padEnd(least, '.').slice(0, most)
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

const list = (schema: JsonObject, name: string, root: JsonObject, depth: number): unknown[] => {
  const least = typeof schema.minItems === 'number' ? schema.minItems : 1
  const most = typeof schema.maxItems === 'number' ? schema.maxItems : Infinity
  const length = Math.min(Math.max(least, 1), most)
  return Array.from({ length }, () => shaped(schema.items, name, root, depth + 1))
}

const shaped = (given: unknown, name: string, root: JsonObject, depth: number): unknown => {
  if (depth > depthMax) return null
  const schema = resolved(given, root)
  if (schema.const !== undefined) return schema.const
  if (Array.isArray(schema.enum)) return (schema.enum as unknown[])[0]
  const [variant] = [schema.anyOf, schema.oneOf, schema.allOf].filter(Array.isArray)
  if (variant !== undefined) return shaped((variant as unknown[])[0], name, root, depth + 1)
  switch (typeOf(schema)) {
    case 'object':
      return Object.fromEntries(
        Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([key, part]) => [
          key,
          shaped(part, key, root, depth + 1),
        ]),
      )
    case 'array':
      return list(schema, name, root, depth)
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
export const schemaShaped = (schema: JsonObject): unknown => shaped(schema, 'answer', schema, 0)
