/** `sallyport help [TOPIC | COMMAND…]`: a topic, or the help of a command. */
import { fail } from '../../../base/errors.js'
import { closeTo } from '../../edit-distance.js'
import { helpText } from '../../wrap.js'
import { columns } from '../../help/sections.js'
import { glossaryText, glossaryWords } from '../../help/topics/glossary.js'
import { topicList, topicText } from '../../help/topics.js'
import { describeOlderNamed, describeTree } from '../../tree.js'
import { nounHelp, overview } from '../../help/overview.js'
import type { VerbRecord } from '../../verb.js'

type HelpOptions = { readonly topic?: readonly string[] }

/** Finds the page. Throws `not_found`. */
export const help: VerbRecord<HelpOptions, string> = {
  summary: 'explain a topic, a command or a word',
  description: [
    'Prints a help topic, the help of a command, or what a word means.\n\nTopics:',
    ...columns(topicList()),
  ].join('\n'),
  examples: ['$ sallyport help money', '$ sallyport help state check', '$ sallyport help ceiling'],
  damage: 'unasked',
  exits: ['not_found'],
  json: null,
  flags: (command) => command
    .argument('[topic...]', 'a topic, the words of a command, or a word of the glossary'),
  text: helpText,
  run: async ({ topic: words = [] }, deps) => {
    const name = words.join(' ')
    if (words.length === 0) return overview(deps)
    const topic = words.length === 1 ? topicText(name) : null
    if (topic !== null) return topic
    const noun = deps.commands.find((entry) => 'noun' in entry && entry.noun === name)
    if (noun !== undefined && 'noun' in noun) return nounHelp(noun, deps)
    const tree = await describeTree(deps)
    const verb = tree.find(({ meta: { name: one } }) => one === name)
      ?? await describeOlderNamed(name, deps)
    if (verb !== null) return verb.help
    const meaning = glossaryText(name)
    if (meaning !== null) return meaning
    const topics = topicList().map(([one]) => one)
    const verbs = tree.map(({ meta: { name: one } }) => one)
    const known = [...topics, ...verbs, ...glossaryWords]
    const close = closeTo(name, known)
    throw fail.notFound('no_such_topic', 'There is no such topic, command or word.', {
      next: close.length > 0
        ? `Did you mean ${close.map((one) => `\`sallyport help ${one}\``).join(' or ')}?`
        : `Topics: ${topics.join(', ')}.`,
    })
  },
}
