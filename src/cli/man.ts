/** Man pages, generated from the command tree; the date is fixed so that they compare equal. */
import { globalFlags } from './globals.js'
import { exitMeaning, inOrder } from './help/exits.js'
import { exitRows, jsonText, sessionText } from './help/sections.js'
import { topicNames, topicText } from './help/topics.js'
import type { DescribedFlag, DescribedNoun, DescribedVerb } from './tree.js'
import { exitStatus } from '../base/outcome.js'
import type { ExitName } from '../base/outcome.js'
import { version } from './version.js'

/** Date of the pages: that of the release that last changed them. */
const manDate = '2025-11-20'

/** Every page by its file name. */
export const manPages = (
  verbs: readonly DescribedVerb[], nouns: readonly DescribedNoun[],
): ReadonlyMap<string, string> => {
  const pages = new Map([['sallyport.1', mainPage(verbs, nouns)]])
  for (const noun of nouns) {
    const own = verbs.filter((verb) => verb.noun === noun.noun)
    pages.set(`sallyport-${noun.noun}.1`, nounPage(noun, own))
  }
  return pages
}

const mainPage = (verbs: readonly DescribedVerb[], nouns: readonly DescribedNoun[]): string =>
  join([
    title('SALLYPORT'),
    section('NAME', ['sallyport \\- reach the outside world one deliberate, recorded step at a time']),
    section('SYNOPSIS', [bold('sallyport'), '\\fICOMMAND\\fR [\\fIFLAGS\\fR]']),
    section('COMMANDS', [
      ...nouns.flatMap(({ noun, summary }) => tagged(`${bold(noun)}`, `${plain(summary)}; see sallyport-${noun}(1)`)),
    ]),
    ...verbs.filter(({ noun }) => noun === null).flatMap(verbSection),
    section('GLOBAL FLAGS', globalFlags.flatMap(({ long, value, text }) =>
      tagged(`${bold(long)}${value === null ? '' : ` ${italic(value)}`}`, plain(text)))),
    section('EXIT STATUS', inOrder(Object.keys(exitStatus) as ExitName[]).flatMap((name) =>
      tagged(bold(String(exitStatus[name])), plain(`${name}: ${exitMeaning[name]}`)))),
    ...topicNames
      .filter((name) => name !== 'exit-status')
      .map((name) => section(name.toUpperCase().replace('-', ' '), [verbatim(topicText(name) ?? '')])),
  ])

const nounPage = (noun: DescribedNoun, verbs: readonly DescribedVerb[]): string =>
  join([
    title(`SALLYPORT-${noun.noun.toUpperCase()}`),
    section('NAME', [`sallyport-${noun.noun} \\- ${plain(noun.summary)}`]),
    ...verbs.flatMap(verbSection),
    section('SEE ALSO', ['.BR sallyport (1)']),
  ])

const verbSection = (verb: DescribedVerb): string[] => [
  section(verb.meta.name.toUpperCase(), [verbatim(verb.usage), ...paragraphs(verb.meta.description)]),
  ...verb.arguments.flatMap(({ name, text }) => tagged(italic(name), plain(text))),
  ...verb.flags.flatMap((flag) => tagged(flagTag(flag), plain(flag.text))),
  '.PP', plain(`Session: ${sessionText[verb.meta.session]}.`),
  '.PP', plain(`JSON: ${jsonText(verb.meta)}.`),
  '.PP', 'Exit status:',
  ...exitRows(verb.meta).flatMap(([status, text]) => tagged(bold(status), plain(text))),
  '.PP', 'Examples:', verbatim(verb.meta.examples.join('\n')),
]

const flagTag = ({ short, long, value }: DescribedFlag): string => {
  const names = [short, long].filter((name) => name !== null).map(bold).join(', ')
  return value === null ? names : `${names} ${italic(value.replace(/[<>[\]]/g, ''))}`
}

const title = (name: string): string => `.TH ${name} 1 "${manDate}" "sallyport ${version}"`
const section = (name: string, lines: readonly string[]): string => join([`.SH ${name}`, ...lines])
const tagged = (tag: string, text: string): string[] => ['.TP', tag, text]
const bold = (text: string): string => `\\fB${plain(text)}\\fR`
const italic = (text: string): string => `\\fI${plain(text)}\\fR`
const paragraphs = (text: string): string[] =>
  text.split('\n\n').flatMap((part) => (/\n {2}/.test(part) ? [verbatim(part)] : ['.PP', plain(part)]))
const verbatim = (text: string): string => join(['.PP', '.nf', plain(text.trimEnd()), '.fi'])
const join = (lines: readonly string[]): string => `${lines.join('\n').trimEnd()}\n`.replaceAll('\n\n', '\n\\&\n').replace(/\n$/, '')

/** Text with everything that roff would read as a command made literal. */
const plain = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')
