/** Man pages, generated from the command tree; the date is fixed so that they compare equal. */
import { exitStatus, type ExitName } from '../../base/outcome.js'
import { globalFlags } from '../globals.js'
import { exitMeaning, inOrder } from '../help/exits.js'
import { exitRows, idsText, joinedText, jsonText, sentLines,
sessionText } from '../help/sections.js'
import { topicNames, topicText } from '../help/topics.js'
import type { DescribedFlag, DescribedNoun, DescribedVerb } from '../tree.js'
import { version } from '../version.js'

/** Text with everything that roff would read as a command made literal. */
export const plain = (text: string): string =>
  text
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/^([.'])/gm, '\\&$1')

/** Bold text. */
export const bold = (text: string): string => `\\fB${plain(text)}\\fR`

/** Text in italics: what the reader replaces. */
const italic = (text: string): string => `\\fI${plain(text)}\\fR`

/** A section with its lines, which are roff already. */
export const section = (name: string, lines: readonly string[]): string =>
  [`.SH ${name}`, ...lines].join('\n')

/** A tag and the text beside it. */
const tagged = (tag: string, text: string): string[] => ['.TP', tag, text]

/** Lines that are kept as they are. */
export const verbatim = (text: string): string =>
  ['.PP', '.nf', plain(text.trimEnd()), '.fi'].join('\n')

/** Paragraphs; one with indented lines is kept as it is. */
const paragraphs = (text: string): string[] =>
  text
    .split('\n\n')
    .flatMap((part) => (/\n {2}/.test(part) ? [verbatim(part)] : ['.PP', plain(part)]))

/** A whole page. roff warns of empty lines, so each becomes an empty character. */
export const page = (lines: readonly string[]): string =>
  `${lines.join('\n').trimEnd().replace(/\n(?=\n)/g, '\n\\&')}\n`

/** Date of the pages: that of the release that last changed them. */
const manDate = '2025-11-20'

type Verbs = readonly DescribedVerb[]
type Nouns = readonly DescribedNoun[]

/** Every page by its file name. */
export const manPages = (verbs: Verbs, nouns: Nouns): ReadonlyMap<string, string> => {
  const pages = new Map([['sallyport.1', mainPage(verbs, nouns)]])
  for (const noun of nouns) {
    const own = verbs.filter((verb) => verb.noun === noun.noun)
    pages.set(`sallyport-${noun.noun.replace(' ', '-')}.1`, nounPage(noun, own))
  }
  return pages
}

const mainPage = (verbs: Verbs, nouns: Nouns): string =>
  page([
    title('SALLYPORT'),
    section('NAME', [
      'sallyport \\- reach the outside world one deliberate, recorded step at a time',
    ]),
    section('SYNOPSIS', [bold('sallyport'), '\\fICOMMAND\\fR [\\fIFLAGS\\fR]']),
    section('COMMANDS', nouns.flatMap(({ noun, summary }) =>
      tagged(bold(noun), `${plain(summary)}; see sallyport\\-${noun.replace(' ', '\\-')}(1)`),
    )),
    ...verbs.filter(({ noun }) => noun === null).flatMap(verbSection),
    section('GLOBAL FLAGS', globalFlags.flatMap(({ long, value, text }) =>
      tagged(value === null ? bold(long) : `${bold(long)} ${italic(value)}`, plain(text)),
    )),
    section('EXIT STATUS', inOrder(Object.keys(exitStatus) as ExitName[]).flatMap((name) =>
      tagged(bold(String(exitStatus[name])), plain(`${name}: ${exitMeaning[name]}`)),
    )),
    ...topicNames.filter((name) => name !== 'exit-status').map(topicSection),
  ])

const topicSection = (name: string): string =>
  section(name.toUpperCase().replaceAll('-', ' '), [verbatim(topicText(name) ?? '')])

const nounPage = (noun: DescribedNoun, verbs: Verbs): string =>
  page([
    title(`SALLYPORT\\-${noun.noun.toUpperCase().replace(' ', '\\-')}`),
    section('NAME', [`sallyport\\-${noun.noun.replace(' ', '\\-')} \\- ${plain(noun.summary)}`]),
    section('SYNOPSIS', [verbatim(verbs.map(({ usage }) => usage).join('\n'))]),
    ...verbs.flatMap(verbSection),
    section('SEE ALSO', ['.BR sallyport (1)']),
  ])

const verbSection = ({ meta, usage, arguments: args, flags }: DescribedVerb): string[] => [
  section(meta.name.toUpperCase(), [verbatim(usage), ...paragraphs(meta.description)]),
  ...args.flatMap(({ name, text }) => tagged(italic(name), plain(text))),
  ...flags.flatMap((flag) => tagged(flagTag(flag), plain(flag.text))),
  '.PP', plain(`Session: ${sessionText[meta.session]}.`),
  ...idsText(meta).flatMap((line) => ['.PP', plain(`Ids: ${line}.`)]),
  '.PP', plain(`JSON: ${jsonText(meta)}.`),
  ...joinedText(meta).flatMap((line) => ['.PP', plain(`${line}.`)]),
  '.PP', 'Exit status:',
  ...exitRows(meta).flatMap(([status, text]) => tagged(bold(status), plain(text))),
  ...sentLines(meta).flatMap((line) => ['.PP', plain(line.replaceAll('\n', ''))]),
  '.PP', 'Examples:', verbatim(meta.examples.join('\n')),
]

const flagTag = ({ short, long, value }: DescribedFlag): string => {
  const names = [short, long].filter((name) => name !== null).map(bold).join(', ')
  return value === null ? names : `${names} ${italic(value.replace(/[<>[\]]/g, ''))}`
}

const title = (name: string): string => `.TH ${name} 1 "${manDate}" "sallyport ${version}"`
