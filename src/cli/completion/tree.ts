import type { DescribedFlag, DescribedNoun, DescribedVerb } from '../tree.js'
import { globalFlags } from '../globals.js'
import { listFor, mayBePath } from './ids.js'

/** What a script is made from. */
export interface CompletionTree {
  readonly verbs: readonly DescribedVerb[]
  readonly nouns: readonly DescribedNoun[]
}

/** A verb's flags and the global ones. */
export const flagsOf = (verb: DescribedVerb): readonly DescribedFlag[] => [
  ...verb.flags,
  ...globalFlags.map(({ long, value, text }) => ({ short: null, long, value, text, choices: [] })),
]

/** The global flags behind which a value stands. */
export const valueFlags = (): readonly string[] =>
  globalFlags.filter(({ value }) => value !== null).map(({ long }) => long)

/** What prints the names of states, one a line: the one thing that a script asks for at use. */
export const namesOfStates = 'sallyport at list 2>/dev/null | cut -f1'

/** Whether the argument of a verb is such a name. */
export const takesNameOfState = ({ meta }: DescribedVerb): boolean => meta.name === 'at remove'

/** Words of the first position: nouns, and verbs without a noun. */
export const firstWords = ({ verbs, nouns }: CompletionTree): readonly [string, string][] => [
  ...nouns.filter(({ noun }) => !noun.includes(' '))
    .map(({ noun, summary }): [string, string] => [noun, summary]),
  ...verbs
    .filter(({ noun }) => noun === null)
    .map(({ verb, meta }): [string, string] => [verb, meta.summary]),
]

/** Words of the next position behind a noun: its verbs, and the nouns of one word more. */
export const verbsOf = (
  { verbs, nouns }: CompletionTree, noun: string,
): readonly [string, string][] => [
  ...verbs
    .filter((verb) => verb.noun === noun)
    .map(({ verb, meta }): [string, string] => [verb, meta.summary]),
  ...nounsBehind(nouns, noun)
    .map((one): [string, string] => [one.noun.slice(noun.length + 1), one.summary]),
]

/** Nouns whose first words are those of another: `codehost recover` of `codehost`. */
export const nounsBehind = (
  nouns: readonly DescribedNoun[], noun: string,
): readonly DescribedNoun[] => nouns.filter((one) => one.noun.startsWith(`${noun} `))

const isPathName = (name: string): boolean => /file|dir|folder|path|receipt/i.test(name)

/** Whether a flag's value is a file or a folder, by the name its value is shown with. */
export const takesPath = ({ value }: DescribedFlag): boolean =>
  value !== null && isPathName(value)

/** What the arguments of a verb take, all of them together: no verb has two of a kind. */
export interface ArgumentOffers {
  readonly words: readonly string[]
  /** The list that has their ids; null where they are none. */
  readonly list: string | null
  /** Whether one may be a file or a folder. */
  readonly paths: boolean
}

export const argumentOffers = (verb: DescribedVerb): ArgumentOffers => ({
  words: verb.arguments.flatMap((one) => one.choices),
  list: verb.arguments.map(({ name }) => listFor(verb, name)).find((one) => one !== null) ?? null,
  paths: verb.arguments.some(({ name }) => isPathName(name) || mayBePath(verb, name)),
})

/** What `help` explains besides topics: every first word, and the verbs of a noun behind it. */
export const isHelp = ({ meta }: DescribedVerb): boolean => meta.name === 'help'
