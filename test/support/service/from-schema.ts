/** Requests made from the JSON Schemas of a served description, valid and not. */
import fc from 'fast-check'
import type { Loose } from '../../world/place.js'

/** Looks up a reference of the description. */
export type Resolve = (reference: string) => Loose

const textOf = (schema: Loose): fc.Arbitrary<string> => {
  if (schema.format === 'date-time') {
    return fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true })
      .map((date) => date.toISOString())
  }
  if (schema.pattern !== undefined) return fc.stringMatching(new RegExp(schema.pattern, 'u'))
  return fc.string({
    minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 40, 200),
  })
}

const recordOf = (schema: Loose, resolve: Resolve): fc.Arbitrary<Loose> => {
  const names = Object.keys(schema.properties ?? {})
  const entries = Object.fromEntries(names.map((name) =>
    [name, validOf(schema.properties[name], resolve)]))
  return fc.record(entries, { requiredKeys: schema.required ?? [] })
}

const numberOf = ({ type, minimum, maximum }: Loose): fc.Arbitrary<number> =>
  (type === 'integer'
    ? fc.integer({ min: minimum ?? -1_000, max: Math.min(maximum ?? 1_000, 2 ** 31 - 1) })
    : fc.integer({ min: Math.ceil(minimum ?? 0), max: Math.floor(Math.min(maximum ?? 9, 1e6)) }))

/** Values that a schema accepts. Throws for a keyword that it does not know what to make of. */
export const validOf = (schema: Loose, resolve: Resolve): fc.Arbitrary<Loose> => {
  if (schema.$ref !== undefined) return validOf(resolve(schema.$ref), resolve)
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  if (schema.anyOf !== undefined) {
    return fc.oneof(...schema.anyOf.map((one: Loose) => validOf(one, resolve)))
  }
  const { type } = schema
  if (type === 'object') return recordOf(schema, resolve)
  if (type === 'array') return fc.array(validOf(schema.items, resolve), { maxLength: 3 })
  if (type === 'string') return textOf(schema)
  if (type === 'boolean') return fc.boolean()
  if (type === 'null') return fc.constant(null)
  if (type === 'integer' || type === 'number') return numberOf(schema)
  throw new TypeError(`a schema of no known kind: ${Object.keys(schema).join()}`)
}

/** One way in which a body is spoilt, and the text that comes of it. */
export interface Spoilt {
  readonly how: string
  readonly text: string
}

const others: readonly Loose[] = [null, true, 7, 1.5, 'text', [], {}, '', -1, [[]]]

const kindOf = (value: Loose): string =>
  (value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value)

/** Everything that is wrong about a member by its own, made of a valid object. */
const spoilMember = (value: Loose, name: string, other: Loose): readonly Spoilt[] => {
  const { [name]: member, ...rest } = value
  const text = JSON.stringify(value)
  const pair = `${JSON.stringify(name)}:${JSON.stringify(member)}`
  return [
    { how: `removed ${name}`, text: JSON.stringify(rest) },
    { how: `retyped ${name} ${kindOf(other)}`, text: JSON.stringify({ ...value, [name]: other }) },
    { how: `doubled ${name}`, text: text.replace('{', `{${pair},`) },
    { how: `renamed ${name}`, text: JSON.stringify({ ...rest, [`${name}_`]: member }) },
    { how: `nested ${name}`, text: JSON.stringify({ ...value, [name]: { [name]: member } }) },
    { how: `nested deep ${name}`,
      text: JSON.stringify(rest).replace(/\}$/, `${Object.keys(rest).length > 0 ? ',' : ''}${
        JSON.stringify(name)}:${'['.repeat(64)}${']'.repeat(64)}}`) },
    { how: `oversized ${name}`, text: JSON.stringify({ ...value, [name]: 'x'.repeat(30_000) }) },
    { how: `oversized number ${name}`,
      text: text.replace(pair, `${JSON.stringify(name)}:${'9'.repeat(400)}`) },
  ]
}

/** Bodies that are one change away from a valid one. */
export const spoiltOf = (schema: Loose, resolve: Resolve): fc.Arbitrary<Spoilt> =>
  fc.tuple(validOf(schema, resolve), fc.constantFrom(...others), fc.nat()).map(
    ([value, other, at]) => {
      const names = Object.keys(value)
      const all = [
        { how: 'another kind', text: JSON.stringify(other) },
        { how: 'one more member', text: JSON.stringify({ ...value, surplus: other }) },
        { how: 'cut off', text: JSON.stringify(value).slice(0, -1) },
        ...(names.length === 0
          ? [] : spoilMember(value, names[at % names.length] ?? '', other)),
      ]
      return all[Math.floor(at / Math.max(names.length, 1)) % all.length] as Spoilt
    })
