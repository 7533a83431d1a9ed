/**
 * Older names of verbs: the one table of them. An older name goes on working as it did, with the
 * same flags, documents and statuses, because scripts know it; help, man pages, completions and
 * counts know the names of today alone.
 */
import { nameOf, type NounEntry, type VerbRecord } from '../verb.js'
import { commands } from './table.js'

/** An older name of a verb. */
export interface OlderName {
  /** Its words: `alpha tasks`. */
  readonly name: string
  /** The lines that do the same today. */
  readonly today: readonly string[]
  /** The verb itself: the one of today, or the part of it that the older name had. */
  load(): Promise<VerbRecord>
}

/** A verb that only has other words today. */
const moved = (name: string, today: string): OlderName => {
  const words = today.split(' ')
  const noun = commands.find((one) => nameOf(one) === words.slice(0, -1).join(' ')) as NounEntry
  const entry = noun.verbs.find(({ verb }) => verb === words.at(-1))
  if (entry === undefined) throw new TypeError(`${name}: there is no ${today}`)
  return { name, today: [today], load: () => entry.load() }
}

/** A verb that others of today do beside their own. */
const joined = (
  name: string, today: readonly string[], load: () => Promise<VerbRecord>,
): OlderName => ({ name, today, load })

/** All of them, by the nouns that they had. */
export const olderNames: readonly OlderName[] = [
  joined('alpha tasks', ['task list'], async () => (await import('./alpha/tasks.js')).tasks),
  joined('alpha task', ['task show'], async () => (await import('./alpha/tasks.js')).task),
  joined('alpha review', ['task review'], async () => (await import('./alpha/review.js')).review),
  joined('alpha cancel', ['task cancel'], async () => (await import('./alpha/review.js')).cancel),
  ...['reconcile', 'adopt', 'closures', 'inspect', 'discard', 'observe', 'verify']
    .map((verb) => moved(`codehost ${verb}`, `codehost recover ${verb}`)),
]

/** The older name that a line begins with; null for none. */
export const olderNamed = (line: readonly string[]): OlderName | null =>
  olderNames.find(({ name }) => name === line.slice(0, 2).join(' ')) ?? null
