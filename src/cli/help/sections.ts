/** The parts of a verb's help that follow its own flags. */
import type { GenericSchema } from 'valibot'
import { exitStatus, type ExitName } from '../../base/outcome.js'
import { globalFlags } from '../globals.js'
import { needsWholeIds } from '../short-ids.js'
import type { SessionNeed, VerbMeta } from '../verb.js'
import { commonExits, exitMeaning, inOrder, sentSentence } from './exits.js'

// Names of the fields of a JSON output, read from its schema.

interface Parts {
  readonly entries?: Readonly<Record<string, unknown>>
  readonly item?: unknown
  readonly options?: readonly unknown[]
  readonly wrapped?: unknown
}

/** Field names of an object, or of the rows of a list (shown as `[].name`). */
const topLevelFields = (schema: GenericSchema): readonly string[] => fieldsOf(schema, '')

const fieldsOf = (schema: unknown, prefix: string): readonly string[] => {
  if (typeof schema !== 'object' || schema === null) return []
  const { entries, item, options, wrapped } = schema as Parts
  if (entries !== undefined) return Object.keys(entries).map((name) => prefix + name)
  if (item !== undefined) return fieldsOf(item, `${prefix}[].`)
  if (wrapped !== undefined) return fieldsOf(wrapped, prefix)
  if (Array.isArray(options)) {
    return [...new Set(options.flatMap((option) => fieldsOf(option, prefix)))]
  }
  return []
}

/** What the session line of help says. */
export const sessionText: Readonly<Record<SessionNeed, string>> = {
  none: 'needs no session',
  optional: 'a session is used where there is one',
  required: 'needs a session: sallyport login',
}

/** What the line on ids of help says; none for a verb that takes no id. */
export const idsText = (meta: VerbMeta): string[] => {
  if (meta.ids === undefined) return []
  const forms = 'whole, or the beginning, or the last 8 digits or more, of one of yours alone'
  return [needsWholeIds(meta) ? `${forms}; with --no-input whole` : forms]
}

/** The sections, beginning with an empty line. */
export const helpSections = (meta: VerbMeta): string =>
  [
    '',
    'Global flags:',
    ...columns(globalFlagRows()),
    '',
    `Session: ${sessionText[meta.session]}`,
    ...idsText(meta).map((line) => `Ids: ${line}`),
    `JSON: ${jsonText(meta)}`,
    ...joinedText(meta),
    '',
    'Examples:',
    ...meta.examples.map((line) => `  ${line}`),
    '',
    'Exit status:',
    ...columns(exitRows(meta)),
    ...sentLines(meta),
    '',
  ].join('\n')

/** What the statuses of a verb that may contact somebody say about requests; [] for others. */
export const sentLines = (meta: VerbMeta): string[] =>
  (meta.contacts === true ? [sentSentence([...commonExits, ...meta.exits])] : [])

export const globalFlagRows = (): [string, string][] =>
  globalFlags.map(({ long, value, text }) => [`${long} ${value ?? ''}`, text])

/** A verb that asks something of the anchor refuses a state that it does not vouch for. */
const anchorExits = ({ anchor = 'vouches', exits }: VerbMeta): readonly ExitName[] =>
  exits.includes('no_state') && anchor !== 'any' ? ['blocked'] : []

/** Numbers and meanings of the statuses that a verb can end with. */
export const exitRows = (meta: VerbMeta): [string, string][] =>
  inOrder([...commonExits, ...meta.exits, ...anchorExits(meta)]).map((name) => [
    String(exitStatus[name]), `${name}: ${exitMeaning[name]}`,
  ])

/** What the JSON line of help says. */
export const jsonText = ({ json }: VerbMeta): string => {
  if (json === null) return 'none; the output is the same with --json'
  const fields = topLevelFields(json.output)
  const form = json.lines ? ', one document a line' : ''
  return `version ${json.version}${form}${fields.length === 0 ? '' : `: ${fields.join(', ')}`}`
}

/** What help says of the verbs that a flag or a word makes of one: what they give and need. */
export const joinedText = ({ joined, session }: VerbMeta): string[] =>
  joined.map(({ by, meta }) => `With ${by}: JSON is ${meta.json?.schemaName ?? 'none'}`
    + (meta.session === session ? '' : `; ${sessionText[meta.session]}`))

/** Two columns, indented as commander indents its own. */
export const columns = (rows: readonly (readonly [string, string])[]): string[] => {
  const width = Math.max(...rows.map(([left]) => left.trimEnd().length)) + 2
  return rows.map(([left, right]) => `  ${left.trimEnd().padEnd(width)}${right}`)
}
