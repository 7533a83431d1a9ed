/** What the table of commands is made of; apart from the table, so that verbs may read it. */
import type { Build, VerbRecord } from './verb.js'

/** A verb and how to load it. */
export interface VerbEntry {
  readonly verb: string
  load(): Promise<VerbRecord | { readonly build: Build }>
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
