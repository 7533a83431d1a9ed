/** The JSON Schemas say what the shapes say, and what the program prints has them. */
import Ajv from 'ajv'
import * as v from 'valibot'
import type { Test } from 'tap'
import { jsonSchemaOf, type JsonSchema } from '../../src/base/json-schema.js'
import { closedObject, finiteNumber, replyObject } from '../../src/base/schema.js'
import { allSchemas, type NamedSchema } from '../../src/cli/schemas.js'
import type { Loose, Place, Ran } from '../world/place.js'
import { allVerbs, olderVerbs } from '../world/program.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

const verbs = [...await allVerbs(), ...await olderVerbs()]
const schemas = allSchemas(verbs)

/** Names, required names and closedness at every place of a shape, read from valibot alone. */
const placesOfShape = (shape: Loose, at: string): string[] => {
  const { type, entries, pipe } = shape
  // A pipe begins with a copy of its own first schema.
  if (pipe !== undefined) {
    const [first, ...rest] = pipe
    return [{ ...first, pipe: undefined }, ...rest].flatMap((one: Loose) =>
      one.kind === 'schema' ? placesOfShape(one, at) : [])
  }
  if (type === 'nullable' || type === 'optional') return placesOfShape(shape.wrapped, at)
  if (type === 'union') {
    return shape.options.flatMap((one: Loose) => placesOfShape(one, at))
  }
  if (type === 'array') return placesOfShape(shape.item, `${at}[]`)
  if (type === 'record') return placesOfShape(shape.value, `${at}{}`)
  if (entries === undefined) return []
  const names = Object.keys(entries)
  const required = names.filter((name) => entries[name].type !== 'optional')
  const line = `${at}: ${names.join()}; required ${required.join()}; `
    + (type === 'strict_object' ? 'closed' : 'open')
  return [line, ...names.flatMap((name) => placesOfShape(entries[name], `${at}.${name}`))]
}

/** The same, read from a JSON Schema alone. */
const placesOfSchema = (schema: Loose, at: string): string[] => {
  if (schema === false || typeof schema !== 'object') return []
  const { properties, required = [], additionalProperties: more, items, anyOf } = schema
  const here = properties === undefined ? [] : [
    `${at}: ${Object.keys(properties).join()}; required ${required.join()}; `
      + (more === false ? 'closed' : 'open'),
    ...Object.entries(properties).flatMap(([name, one]) => placesOfSchema(one, `${at}.${name}`)),
  ]
  const record = properties === undefined && more !== undefined ? more : null
  return [
    ...here,
    ...(items === undefined ? [] : placesOfSchema(items, `${at}[]`)),
    ...(record === null ? [] : placesOfSchema(record, `${at}{}`)),
    ...(anyOf ?? []).flatMap((one: Loose) => placesOfSchema(one, at)),
  ]
}

/** What a draft-07 validator checks in the same way. */
const keywords = new Set([
  '$schema', '$id', 'type', 'properties', 'required', 'additionalProperties', 'propertyNames',
  'items', 'minItems', 'maxItems', 'anyOf', 'const', 'enum', 'pattern', 'format', 'minLength',
  'maxLength', 'minimum', 'maximum', 'default',
])

const keywordsOf = (schema: Loose): string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  const { properties = {}, items, additionalProperties, propertyNames, anyOf = [] } = schema
  const inner = [...Object.values(properties), items, additionalProperties, propertyNames, ...anyOf]
  return [...Object.keys(schema), ...inner.flatMap(keywordsOf)]
}

const validatorOf = (schema: JsonSchema) => {
  const { $schema, ...rest } = schema
  t.equal($schema, 'https://json-schema.org/draft/2020-12/schema')
  return new Ajv({ allErrors: true }).compile(rest)
}

const schemaOf = (name: string): NamedSchema => {
  const found = schemas.find(({ schema }) => schema === name)
  if (found === undefined) throw new Error(`no schema ${name}`)
  return found
}

t.test('names, required names and closedness of every schema are those of its shape', (t) => {
  t.ok(schemas.length > 100)
  for (const { schema, document, shape } of schemas) {
    const wanted = placesOfShape(shape, '')
    t.strictSame(placesOfSchema(document, ''), wanted, schema)
    t.equal(document['$id'], schema)
    t.strictSame(keywordsOf(document).filter((word) => !keywords.has(word)), [], schema)
  }
  t.end()
})

t.test('every verb that prints JSON has both schemas; its objects name theirs', (t) => {
  for (const { meta } of verbs) {
    const { json } = meta
    if (json === null) continue
    t.ok(schemaOf(json.schemaName).commands.includes(meta.name), meta.name)
    t.ok(schemaOf(json.inputName).commands.includes(meta.name), meta.name)
    const shape = json.output as Loose
    for (const one of shape.type === 'union' ? shape.options : [shape]) {
      if (one.type === 'array' || one.type === 'loose_object') continue
      const { schema: name } = one.entries
      const named = name?.literal ?? json.schemaName
      // What another operation gives too keeps the name that it has there.
      const isOwn = named === json.schemaName || shape.type === 'union'
      t.ok(isOwn && schemaOf(named).commands.length > 0, `${meta.name} names its schema`)
    }
  }
  t.end()
})

t.test('a shape that JSON Schema cannot say is refused, never turned into one that takes all', (t) => {
  t.throws(() => jsonSchemaOf(v.custom(() => true), 'x'),
    { message: 'The "custom" schema cannot be converted to JSON Schema.' })
  t.throws(() => jsonSchemaOf(v.pipe(v.string(), v.creditCard()), 'x'),
    { message: 'The "credit_card" action cannot be converted to JSON Schema.' })
  t.throws(() => jsonSchemaOf(v.strictObject({ at: v.instance(Date) }), 'x'),
    { message: 'The "instance" schema cannot be converted to JSON Schema.' })
  t.hasStrict(jsonSchemaOf(closedObject({ a: v.optional(finiteNumber(1, 2)) }), 'x'), {
    type: 'object', additionalProperties: false, required: [],
    properties: { a: { type: 'number', minimum: 1, maximum: 2 } },
  })
  t.equal(jsonSchemaOf(replyObject({ a: v.string() }), 'x')['additionalProperties'], undefined)
  t.end()
})

const lines = (place: Place, ids: Record<string, string>): string[][] => [
  ['session', 'show'], ['session', 'list'],
  ['principal', 'add', 'maria', '--passphrase-file', place.path('passphrase')],
  ['principal', 'list'],
  ['goal', 'list'], ['goal', 'show', ids['goal'] ?? ''],
  ['goal', 'update', ids['goal'] ?? '', '--title', 'Moons'], ['goal', 'close', ids['goal'] ?? ''],
  ['alpha', 'show'], ['alpha', 'tasks'], ['gateway', 'show'], ['config', 'show'], ['task', 'list'],
  ['policy', 'show'], ['policy', 'history'], ['ledger', 'show'], ['ledger', 'reservations'],
  ['audit', 'list'], ['audit', 'show', ids['audit'] ?? ''], ['status'],
  ['state', 'path'], ['state', 'check'], ['state', 'compact'], ['state', 'repair'],
  ['state', 'backup', place.path('backup')], ['sandbox', 'faults'],
  ['sandbox', 'samples', place.path('samples')], ['doctor'], ['schema'], ['schema', 'goal', 'add'],
  ['principal', 'disable', 'maria'], ['policy', 'revoke'], ['logout'],
]

const nameOfLine = (argv: readonly string[]): string =>
  verbs.find(({ meta: { name } }) => `${argv.join(' ')} `.startsWith(`${name} `))?.meta.name ?? ''

/** Without any one of its required fields, or with one more, a document has not its schema. */
const notWithout = (t: Test, argv: string[], document: Loose, schema: JsonSchema): void => {
  const check = validatorOf(schema)
  for (const name of schema['required'] as string[]) {
    const rest = Object.fromEntries(Object.entries(document).filter(([one]) => one !== name))
    t.ok(check(rest) === false, `${argv.join(' ')} without ${name}`)
  }
  t.ok(check({ ...document, unheard_of: 1 }) === false, `${argv.join(' ')} with one more`)
}

t.test('what the program prints has its JSON Schema, as a validator reads it', async (t) => {
  const { place } = World.in(t)
  place.write('passphrase', 'correct horse')
  const check = (argv: string[], ran: Ran): Loose => {
    t.equal(ran.status, 0, `${argv.join(' ')}: ${ran.stderr}`)
    const { json } = verbs.find(({ meta }) => meta.name === nameOfLine(argv))?.meta ?? {}
    if (json === undefined || json === null) throw new Error('no contract')
    const { document: schema } = schemaOf(json.schemaName)
    const validate = validatorOf(schema)
    const document = ran.json()
    t.ok(validate(document) === true, `${argv.join(' ')}: ${JSON.stringify(validate.errors)}`)
    if (schema['type'] === 'object') notWithout(t, argv, document, schema)
    return document
  }
  const run = async (...argv: string[]): Promise<Loose> =>
    check(argv, await place.run([...argv, '--json']))
  await run('init')
  await run('login')
  const { id: goal } = await run('goal', 'add', 'Tides')
  const [{ id: audit }] = await run('audit', 'list', '--limit', '1')
  for (const argv of lines(place, { goal, audit })) await run(...argv)
})

t.test('failures have the schema of errors', async (t) => {
  const { place } = World.in(t)
  const validate = validatorOf(schemaOf('sallyport.error.v1').document)
  for (const argv of [
    ['status'], ['goal', 'nonsense'], ['alpha', 'ask', 'why?'], ['schema', 'nonsense'],
    ['login', '--idle', 'x'], ['schema', 'completion'], ['schema', 'goal'],
    ['schema', 'status', 'x'],
  ]) {
    const ran = await place.run([...argv, '--json'])
    t.not(ran.status, 0)
    t.ok(validate({ error: ran.error() }) === true, `${argv.join(' ')}: ${JSON.stringify(validate.errors)}`)
  }
})

t.test('sallyport schema lists all and prints each', async (t) => {
  const { place } = World.in(t)
  const rows = (await place.run(['schema', '--json'])).json()
  t.strictSame(rows.map(({ schema }: Loose) => schema), schemas.map(({ schema }) => schema))
  const printed = async (...words: string[]) => (await place.run(['schema', ...words])).stdout
  t.strictSame(JSON.parse(await printed('goal', 'add')), schemaOf('sallyport.goal.v1').document)
  t.strictSame(JSON.parse(await printed('status')), schemaOf('sallyport.status.v1').document)
  t.strictSame(JSON.parse(await printed('error')), schemaOf('sallyport.error.v1').document)
  t.strictSame(
    JSON.parse(await printed('goal', 'update', '--input')),
    schemaOf('sallyport.goal.update.input.v1').document,
  )
  t.match(await printed(), /sallyport\.goal\.v1\tresult\tgoal add, goal show, goal update/)
  t.equal((await place.run(['schema', 'nonsense'])).status, 6)
})
