import type { DescribedFlag, DescribedVerb } from '../tree.js'
import {
  firstWords, flagsOf, namesOfStates, takesNameOfState, takesPath, valueFlags, verbsOf,
  type CompletionTree,
} from './tree.js'

/** The zsh script, to be saved as `_sallyport` in a folder of `$fpath`. */
export const zshScript = (tree: CompletionTree): string => `#compdef sallyport
# zsh completion of sallyport

_sallyport_names() {
  compadd -- \${(f)"$(${namesOfStates})"}
}

_sallyport() {
  local -a words_of
  local first second at
  for ((at = 2; at < CURRENT; at++)); do
    case "$words[at]" in
      ${valueFlags().join('|')}) ((at++)) ;;
      -*) ;;
      *) if [[ -z $first ]]; then first=$words[at]
         elif [[ -z $second ]]; then second=$words[at]; fi ;;
    esac
  done
  case "$first" in
    "") words_of=(${pairs(firstWords(tree))})
      _describe command words_of; return ;;
${tree.nouns.map(({ noun }) => nounCase(tree, noun)).join('\n')}
${verbCases(tree, null, '    ')}
  esac
}

compdef _sallyport sallyport
`

const nounCase = (tree: CompletionTree, noun: string): string => `    ${noun})
      case "$second" in
        "") words_of=(${pairs(verbsOf(tree, noun))})
          _describe verb words_of; return ;;
${verbCases(tree, noun, '        ')}
      esac ;;`

const verbCases = ({ verbs }: CompletionTree, of: string | null, indent: string): string =>
  verbs.filter(({ noun }) => noun === of).map((verb) => verbCase(verb, indent)).join('\n')

const verbCase = (verb: DescribedVerb, indent: string): string => {
  const specs = flagsOf(verb).map((flag) => `'${flagSpec(flag)}'`)
  const lines = [...specs, `'*:${argumentsOf(verb)}'`].join(` \\\n${indent}    `)
  return `${indent}${verb.verb})\n${indent}  _arguments \\\n${indent}    ${lines}; return ;;`
}

const argumentsOf = (verb: DescribedVerb): string => {
  if (takesNameOfState(verb)) return 'name:_sallyport_names'
  const choices = verb.arguments.flatMap((one) => one.choices)
  return choices.length > 0 ? `value:(${choices.join(' ')})` : 'file:_files'
}

const flagSpec = (flag: DescribedFlag): string => {
  const head = `${flag.long}[${escape(flag.text)}]`
  if (flag.value === null) return head
  if (flag.long === '--at') return `${head}:name:_sallyport_names`
  if (flag.choices.length > 0) return `${head}:value:(${flag.choices.join(' ')})`
  return takesPath(flag) ? `${head}:file:_files` : `${head}:value: `
}

const pairs = (words: readonly (readonly [string, string])[]): string =>
  words.map(([name, text]) => `'${name}:${escape(text)}'`).join(' ')

const escape = (text: string): string =>
  text.replace(/\s+/g, ' ').replaceAll("'", "'\\''").replace(/[[\]:]/g, '\\$&')
