/** The help of the whole program and of one noun. */
import type { OlderName } from '../commands/older.js'
import { nounsBelow, type NounEntry, type VerbDeps } from '../verb.js'
import { wrapText } from '../wrap.js'
import { verbAt } from '../line.js'
import { columns, globalFlagRows } from './sections.js'
import { topicNames } from './topics.js'

/** What `sallyport --help` prints. */
export const overview = async (deps: VerbDeps): Promise<string> => {
  const rows: [string, string][] = []
  for (const entry of deps.commands) {
    rows.push(
      'noun' in entry
        ? [`${entry.noun} ${verbsOf(entry)}`, entry.summary]
        : [entry.verb, (await verbAt(null, entry, deps)).meta.summary],
    )
  }
  return [
    'Usage: sallyport <command> [flags]',
    '',
    'A guarded double door for a workstation: reach the outside world one deliberate, '
      + 'recorded step at a time.',
    '',
    'Commands:',
    ...wrapped(rows),
    '',
    'Global flags (accepted anywhere):',
    ...columns([
      ...globalFlagRows(),
      ['--version', 'print the version'],
      ['--help', 'help of the program, of a noun or of a verb'],
    ]),
    '',
    `Topics (sallyport help TOPIC): ${topicNames.join(', ')}`,
    '',
  ].join('\n')
}

// The list of a noun's verbs can be long: what it is for stands on a line of its own then.
const leftColumns = 34
/** Of long lists, with what is before them: terminals of 60 columns break none of them twice. */
const verbsColumns = 54

const verbsOf = ({ noun, verbs }: NounEntry): string => {
  const names = verbs.map(({ verb }) => verb)
  const short = names.join('|')
  return noun.length + 1 + short.length <= leftColumns
    ? short : wrapText(names.join(' | '), verbsColumns - noun.length).replaceAll('\n', '\n    ')
}

const wrapped = (rows: readonly (readonly [string, string])[]): string[] =>
  rows.flatMap(([left, right]) =>
    left.length <= leftColumns
      ? [`  ${left.padEnd(leftColumns)}  ${right}`]
      : [`  ${left}`, `  ${''.padEnd(leftColumns)}  ${right}`],
  )

/** What `sallyport NOUN --help` prints of a noun whose verbs have other names today. */
export const olderHelp = (older: readonly OlderName[]): string => [
  'Older names, which go on working. Today’s:', '',
  ...columns(older.map(({ name, today }) =>
    [name, today.map((line) => `sallyport ${line}`).join(', ')])),
  '',
].join('\n')

export const nounHelp = async (noun: NounEntry, deps: VerbDeps): Promise<string> => {
  const rows: [string, string][] = []
  for (const entry of noun.verbs) {
    rows.push([entry.verb, (await verbAt(noun.noun, entry, deps)).meta.summary])
  }
  for (const below of nounsBelow(deps.commands, noun.noun)) {
    rows.push([below.noun.slice(noun.noun.length + 1), below.summary])
  }
  return [
    `Usage: sallyport ${noun.noun} <verb> [flags]`,
    '',
    `${noun.summary.charAt(0).toUpperCase()}${noun.summary.slice(1)}.`,
    '',
    'Verbs:',
    ...columns(rows),
    '',
    `Help of one verb: sallyport ${noun.noun} <verb> --help`,
    '',
  ].join('\n')
}
