/** `sallyport schema`: JSON Schema of every result, request and error. */
import {
  schemaShow, type JsonSchemaDocument, type SchemaRow,
} from '../../../base/json-schema-contract.js'
import { fail } from '../../../base/errors.js'
import { verbNamed } from '../../line.js'
import { requestOf } from '../../request.js'
import { renderTable } from '../../table.js'
import type { JoinedMeta, VerbRecord, VerbDeps } from '../../verb.js'

type SchemaOptions = { readonly command?: readonly string[]; readonly input?: boolean }

type Shown = SchemaRow[] | JsonSchemaDocument

const unknown = () => fail.notFound('schema_not_found', 'There is no such schema.', {
  next: 'The list: `sallyport schema`.',
})

/** What stands for a verb that a flag or a word makes of another: `search` for `--search TEXT`. */
const wordOf = ({ by }: JoinedMeta): string =>
  (by.split(' ')[0] ?? '').replace(/^--/, '').toLowerCase()

const contractOf = async (deps: VerbDeps, words: readonly string[]) => {
  const named = await verbNamed(deps.commands, words, deps)
  if (named === null || named.words.length > 1) throw unknown()
  const { meta } = named.verb
  const [by] = named.words
  // `shots list search` is what `shots list --search` prints.
  const given = by === undefined
    ? meta : meta.joined.find((one) => wordOf(one) === by)?.meta
  if (given === undefined) throw unknown()
  const { json } = given
  if (json === null) {
    throw fail.notFound('schema_not_found', 'This command prints no JSON.', {
      next: 'The list: `sallyport schema`.',
    })
  }
  return json
}

/** Finds and converts. Throws `not_found` `schema_not_found`. */
export const schema: VerbRecord<SchemaOptions, Shown> = {
  summary: 'print the JSON Schema of results, requests and errors',
  description:
    'Prints the JSON Schema (2020-12) of what a command prints with --json, of each line '
    + 'where it prints several. With --input of the request it stands for, in the names of the '
    + 'HTTP service. `shots list search` is what `shots list --search` prints. `error` names '
    + 'the schema of every failure. Without words it lists all. '
    + 'Fields are only ever added under one version, so a reader skips those it does not know. '
    + 'It needs no state and touches nothing.',
  examples: [
    '$ sallyport schema',
    '$ sallyport schema alpha ask > answer.schema.json',
    '$ sallyport schema goal update --input',
    '$ sallyport schema error',
  ],
  damage: 'unasked',
  exits: ['not_found'],
  json: schemaShow,
  flags: (command) => command
    .argument('[command...]', 'the words of a command, or error or page')
    .option('--input', 'the request in place of the result'),
  text: (shown, view) => Array.isArray(shown)
    ? renderTable(
      view, ['schema', 'of', 'commands'],
      shown.map(({ schema, kind, commands }) => [schema, kind, commands.join(', ')]),
    )
    : { out: `${JSON.stringify(shown, null, 2)}\n`, exact: true },
  run: async (options, deps) => {
    const { command: words, input = false } = requestOf(schemaShow, { command: [], ...options })
    const schemas = await import('../../schemas.js')
    if (words.length === 0) {
      const { describeOlder, describeTree } = await import('../../tree.js')
      const all = schemas.allSchemas([...await describeTree(deps), ...await describeOlder(deps)])
      return schemaShow.answer(
        all.map(({ schema, kind, commands }) => ({ schema, kind, commands })))
    }
    if (words.length === 1 && words[0] === 'error' && !input) {
      return schemaShow.answer(schemas.errorSchema() as JsonSchemaDocument)
    }
    if (words.length === 1 && words[0] === 'page' && !input) {
      return schemaShow.answer(schemas.pageSchema() as JsonSchemaDocument)
    }
    const contract = await contractOf(deps, words)
    const found = input ? schemas.inputSchema(contract) : schemas.resultSchema(contract)
    return schemaShow.answer(found as JsonSchemaDocument)
  },
}
