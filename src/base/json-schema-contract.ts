/** What goes in and comes out of asking for schemas. */
import * as v from 'valibot'
import { contract } from './contract.js'
import { closedObject } from './schema.js'

const schemaKinds = ['result', 'input', 'error'] as const

const rowShape = v.strictObject({
  /** Its name, which a result says in its field `schema`. */
  schema: v.string(),
  kind: v.picklist(schemaKinds),
  /** The commands that print or take it. */
  commands: v.array(v.string()),
})
export type SchemaRow = v.InferOutput<typeof rowShape>

const jsonSchemaShape = v.looseObject({
  $schema: v.literal('https://json-schema.org/draft/2020-12/schema'), $id: v.string(),
})
export type JsonSchemaDocument = v.InferOutput<typeof jsonSchemaShape>

/** The list of all schemas, or one of them: that of the named command, or of every error. */
export const schemaShow = contract({
  name: 'schema',
  input: closedObject({
    /** Words of a command, or `error`; none for the list. */
    command: v.array(v.string()),
    /** The request in place of the result. */
    input: v.optional(v.boolean()),
  }),
  output: v.union([v.array(rowShape), jsonSchemaShape]),
  toDocument: (found: readonly SchemaRow[] | JsonSchemaDocument) =>
    ('$schema' in found ? found : [...found]),
})
