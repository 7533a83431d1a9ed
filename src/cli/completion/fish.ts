import type { DescribedFlag, DescribedVerb } from '../tree.js'
import { globalFlags } from '../globals.js'
import {
  firstWords, namesOfStates, takesNameOfState, takesPath, valueFlags, verbsOf, type CompletionTree,
} from './tree.js'

/** The fish script. */
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
end`

const verbLines = (verb: DescribedVerb): string[] => [
  ...takesNameOfState(verb) ? [wordsLine(verb, `(${namesOfStates})`)] : [],
  ...verb.flags.map((flag) => flagLine(flag, verb.meta.name)),
  ...verb.arguments
    .filter(({ choices }) => choices.length > 0)
    .map(({ choices }) => wordsLine(verb, choices.join(' '))),
]

const wordsLine = ({ meta }: DescribedVerb, words: string): string =>
  `complete -c sallyport -n '__sallyport_in "${meta.name}"' -a '${words}'`

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
