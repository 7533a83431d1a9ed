/** Completion scripts, generated from the command tree. */
import { topicNames } from '../help/topics.js'
import type { DescribedNoun, DescribedVerb } from '../tree.js'
import { bashScript } from './bash.js'
import { fishScript } from './fish.js'
import { zshScript } from './zsh.js'

/** Shells that a script can be made for. */
export const shells = ['bash', 'zsh', 'fish'] as const
/** One of them. */
export type Shell = (typeof shells)[number]

/** Whole script for one shell. */
export const completionScript = (
  shell: Shell, verbs: readonly DescribedVerb[], nouns: readonly DescribedNoun[],
): string => {
  const tree = { verbs: verbs.map(withTopics), nouns }
  if (shell === 'bash') return bashScript(tree)
  if (shell === 'zsh') return zshScript(tree)
  return fishScript(tree)
}

// `help` takes any words; the topics are what is worth completing.
const withTopics = (verb: DescribedVerb): DescribedVerb =>
  verb.meta.name !== 'help'
    ? verb
    : { ...verb, arguments: verb.arguments.map((one) => ({ ...one, choices: topicNames })) }
