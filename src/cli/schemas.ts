/** The schemas of what commands print and take, gathered from the contracts of their verbs. */
import { isDeepStrictEqual } from 'node:util'
import type { GenericSchema } from 'valibot'
import type { ContractFacts } from '../base/contract.js'
import { errorBodyShape, errorSchemaName } from '../base/error-shape.js'
import { jsonSchemaOf, type JsonSchema } from '../base/json-schema.js'
import type { SchemaRow } from '../base/json-schema-contract.js'
import { pageSchemaName, pageShape } from '../base/page.js'
import type { DescribedVerb } from './tree.js'
import type { VerbMeta } from './verb.js'

/** A schema, what it is of, and the shape that it was made from. */
export interface NamedSchema extends SchemaRow {
  readonly document: JsonSchema
  readonly shape: GenericSchema
}

/** The schema of every failure. */
export const errorSchema = (): JsonSchema => jsonSchemaOf(errorBodyShape, errorSchemaName)

/** The schema of any list with `--paged`. */
export const pageSchema = (): JsonSchema => jsonSchemaOf(pageShape, pageSchemaName)

/** The schema of what a command prints, each line of it where it goes on telling. */
export const resultSchema = ({ output, schemaName }: ContractFacts): JsonSchema =>
  jsonSchemaOf(output, schemaName)

export const inputSchema = ({ input, inputName }: ContractFacts): JsonSchema =>
  jsonSchemaOf(input, inputName)

/** What a verb may give, and the words that make it give that. */
const documentsOf = ({ json, name, joined }: VerbMeta): (readonly [VerbMeta['json'], string])[] =>
  [[json, name], ...joined.map(({ by, meta }) => [meta.json, `${name} ${by}`] as const)]

/** Every schema, by name. Throws where two shapes have one name: it would not say which. */
export const allSchemas = (verbs: readonly DescribedVerb[]): readonly NamedSchema[] => {
  const found = new Map<string, NamedSchema>([[errorSchemaName, {
    schema: errorSchemaName, kind: 'error', commands: [], document: errorSchema(),
    shape: errorBodyShape,
  }], [pageSchemaName, {
    schema: pageSchemaName, kind: 'result', commands: [], document: pageSchema(),
    shape: pageShape,
  }]])
  const add = (one: NamedSchema): void => {
    const known = found.get(one.schema)
    if (known !== undefined && !isDeepStrictEqual(known.document, one.document)) {
      throw new TypeError(`two shapes are called ${one.schema}`)
    }
    const commands = [...known?.commands ?? [], ...one.commands]
    found.set(one.schema, { ...one, commands })
  }
  for (const [json, name] of verbs.flatMap(({ meta }) => documentsOf(meta))) {
    if (json === null) continue
    const commands = [name]
    const { schemaName, inputName, output, input } = json
    add({
      schema: schemaName, kind: 'result', commands, document: resultSchema(json), shape: output,
    })
    add({ schema: inputName, kind: 'input', commands, document: inputSchema(json), shape: input })
  }
  return [...found.values()].sort((a, b) => (a.schema < b.schema ? -1 : 1))
}

export const schemaText = (document: JsonSchema): string =>
  `${JSON.stringify(document, null, 2)}\n`
