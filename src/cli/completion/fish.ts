import type { DescribedFlag, DescribedVerb } from '../tree.js'
import { globalFlags } from '../globals.js'
import {
  asking, idForm, listByBeginning, listFor, listOfAll, listsByBeginning, placeFlags,
} from './ids.js'
import {
  argumentOffers, firstWords, isHelp, namesOfStates, takesNameOfState, takesPath, valueFlags,
  verbsOf, type CompletionTree,
} from './tree.js'

export const fishScript = (tree: CompletionTree): string =>
  [
    '# fish completion of sallyport',
    helpers(),
    'complete -c sallyport -f',
    ...globalFlags.map(({ long, value, text }) =>
      flagLine({
        short: null, long, value, text, choices: long === '--at' ? [`(${namesOfStates})`] : [],
      }, null),
    ),
    ...firstWords(tree).map(([name, text]) => wordLine('', name, text)),
    ...tree.nouns.flatMap(({ noun }) =>
      verbsOf(tree, noun).map(([name, text]) => wordLine(noun, name, text)),
    ),
    ...tree.verbs.flatMap(verbLines),
    ...tree.nouns.flatMap(({ noun }) => verbsOf(tree, noun).map(([name, text]) =>
      wordLine(`help ${noun}`, name, text))),
    '',
  ].join('\n')

// Words of the line so far without flags and without the values of the global flags.
const helpers = (): string => `function __sallyport_words
  set -l skip 0
  for word in (commandline -opc)[2..-1]
    if test $skip -eq 1
      set skip 0
    else if contains -- $word ${valueFlags().join(' ')}
      set skip 1
    else if not string match -q -- '-*' $word
      echo $word
    end
  end
end
function __sallyport_at
  test "$(__sallyport_words | string join ' ')" = "$argv[1]"
end
function __sallyport_in
  string match -q -- "$argv[1] *" "$(__sallyport_words | string join ' ') "
end
function __sallyport_ids
  set -l list $argv
  if test "$list" = ${listByBeginning}
    switch (commandline -ct)
${listsByBeginning.map(([begins, one]) => `      case '${begins}*'; set list ${one}`).join('\n')}
      case '*'; set list ${listOfAll}
    end
  end
  set -l words (commandline -opc)
  set -l place
  for at in (seq 2 (math (count $words) - 1))
    if contains -- $words[$at] ${placeFlags.join(' ')}
      set -a place $words[$at] (string replace -r '^~/' "$HOME/" -- $words[(math $at + 1)])
    end
  end
  sallyport $place ${asking} $list 2>/dev/null | cut -f1 | grep -E '${idForm}'
end`

const verbLines = (verb: DescribedVerb): string[] => [
  ...takesNameOfState(verb) ? [wordsLine(verb, `(${namesOfStates})`)] : [],
  ...verb.flags.map((flag) => flagLine({
    ...flag, choices: choicesOf(listFor(verb, flag.long), flag.choices),
  }, verb.meta.name)),
  ...argumentLines(verb),
]

/** What is asked of a list, or the words that are known. */
const choicesOf = (list: string | null, words: readonly string[]): readonly string[] =>
  (list === null ? words : [`(__sallyport_ids ${list})`])

const argumentLines = (verb: DescribedVerb): readonly string[] => {
  const { words, list, paths } = argumentOffers(verb)
  const choices = choicesOf(list, words)
  return [
    ...choices.length === 0 ? [] : [wordsLine(verb, choices.join(' '))],
    ...paths ? [`${behind(verb)} -F`] : [],
  ]
}

// Behind `help` and a noun stand the verbs of that noun, and nothing else does.
const behind = (verb: DescribedVerb): string =>
  `complete -c sallyport -n '__sallyport_${isHelp(verb) ? 'at' : 'in'} "${verb.meta.name}"'`

const wordsLine = (verb: DescribedVerb, words: string): string =>
  `${behind(verb)} -a '${words}'`

const wordLine = (before: string, name: string, text: string): string =>
  `complete -c sallyport -n '__sallyport_at "${before}"' -a '${name}' -d '${quote(text)}'`

const flagLine = (flag: DescribedFlag, within: string | null): string => {
  const condition = within === null ? '' : ` -n '__sallyport_in "${within}"'`
  const words = flag.choices.length > 0 ? ` -a '${flag.choices.join(' ')}'` : ''
  const value = flag.value === null ? '' : takesPath(flag) ? ' -rF' : ` -x${words}`
  const name = flag.long.replace(/^--/, '')
  return `complete -c sallyport${condition} -l ${name}${value} -d '${quote(flag.text)}'`
}

const quote = (text: string): string =>
  text.replace(/\s+/g, ' ').replaceAll('\\', '\\\\').replaceAll("'", "\\'")
