/** Completion scripts, generated from the command tree. */
import { topicNames } from '../help/topics.js'
import type { DescribedNoun, DescribedVerb } from '../tree.js'
import { bashScript } from './bash.js'
import { fishScript } from './fish.js'
import { firstWords, isHelp } from './tree.js'
import { zshScript } from './zsh.js'

/** Shells that a script can be made for. */
export const shells = ['bash', 'zsh', 'fish'] as const
/** One of them. */
export type Shell = (typeof shells)[number]

export const completionScript = (
  shell: Shell, verbs: readonly DescribedVerb[], nouns: readonly DescribedNoun[],
): string => {
  const bare = { verbs, nouns }
  const helped = [...topicNames, ...firstWords(bare).map(([word]) => word)]
  const tree = {
    verbs: verbs.map((verb) => (isHelp(verb) ? withWords(verb, helped) : verb)), nouns,
  }
  if (shell === 'bash') return bashScript(tree)
  if (shell === 'zsh') return zshScript(tree)
  return fishScript(tree)
}

// `help` takes any words; topics and the words of commands are what is worth completing.
const withWords = (verb: DescribedVerb, choices: readonly string[]): DescribedVerb =>
  ({ ...verb, arguments: verb.arguments.map((one) => ({ ...one, choices })) })
