/** What the table of commands is made of; apart from the table, so that verbs may read it. */
import type { Camel, VerbRecord } from './verb.js'

/** A verb and how to load it. */
export interface VerbEntry {
  readonly verb: string
  load(): Promise<VerbRecord>
}

/** A noun and its verbs. */
export interface NounEntry {
  readonly noun: string
  /** One short line, lowercase, no full stop. */
  readonly summary: string
  readonly verbs: readonly VerbEntry[]
}

/** A table of commands. */
export type CommandTable = readonly (NounEntry | VerbEntry)[]

/** The word that names an entry. */
export const nameOf = (entry: NounEntry | VerbEntry): string =>
  'noun' in entry ? entry.noun : entry.verb

/** `clear-stale` as a name in code. */
export const camelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Loads a file that exports the record of a verb under its word. */
type Loading<Verb extends string> =
  () => Promise<{ readonly [Name in Camel<Verb, '-'>]: VerbRecord }>

/** A verb without a noun. */
export const alone = <Verb extends string>(verb: Verb, load: Loading<Verb>): VerbEntry =>
  ({ verb, load: async () => (await load())[camelCase(verb) as Camel<Verb, '-'>] })

/** A noun whose verbs lie in one file, or in one each. */
export const noun: {
  <Verb extends string>(
    noun: string, summary: string, verbs: readonly Verb[], load: Loading<Verb>,
  ): NounEntry
  <Verb extends string>(
    noun: string, summary: string, verbs: { readonly [One in Verb]: Loading<One> },
  ): NounEntry
} = (name: string, summary: string, verbs: readonly string[] | object, load?: Loading<string>) => ({
  noun: name, summary,
  verbs: Array.isArray(verbs)
    ? verbs.map((verb: string) => alone(verb, load as Loading<string>))
    : Object.entries(verbs).map(([verb, one]) => alone(verb, one as Loading<string>)),
})
