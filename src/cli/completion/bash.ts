import type { DescribedVerb } from '../tree.js'
import {
  firstWords, flagsOf, namesOfStates, takesNameOfState, takesPath, valueFlags, verbsOf,
  type CompletionTree,
} from './tree.js'

/** The bash script. It needs no bash-completion package. */
export const bashScript = (tree: CompletionTree): string => `# bash completion of sallyport
_sallyport() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" words=() word at
  COMPREPLY=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$word" in
${valueFlags().map((flag) => `      ${flag}) ((at++)) ;;`).join('\n')}
      -*) ;;
      *) words+=("$word") ;;
    esac
  done
  case "$prev" in
    --at) COMPREPLY=($(compgen -W "$(${namesOfStates})" -- "$cur")); return ;;
    --state-dir|--config-dir) COMPREPLY=($(compgen -d -- "$cur")); return ;;
    --wait) return ;;
  esac
  case "\${words[*]:0:2}" in
    "") COMPREPLY=($(compgen -W "${names(firstWords(tree))} --help --version" -- "$cur")); return ;;
${nounCases(tree)}
${tree.verbs.map(verbCase).join('\n')}
  esac
}
complete -F _sallyport sallyport
`

const names = (words: readonly (readonly [string, string])[]): string =>
  words.map(([name]) => name).join(' ')

const nounCases = (tree: CompletionTree): string =>
  tree.nouns
    .map(({ noun }) => {
      const verbs = names(verbsOf(tree, noun))
      return `    "${noun}") COMPREPLY=($(compgen -W "${verbs} --help" -- "$cur")); return ;;`
    })
    .join('\n')

// A verb without a noun may be followed by an argument, which the first two words then include.
const verbCase = (verb: DescribedVerb): string => {
  const pattern = verb.noun === null ? `"${verb.verb}"|"${verb.verb} "*` : `"${verb.meta.name}"`
  const lines = verb.flags
    .filter(({ value }) => value !== null)
    .map((flag) => `        ${flag.long}) ${valueReply(flag)}; return ;;`)
  const cases = `      case "$prev" in\n${lines.join('\n')}\n      esac\n`
  const values = lines.length === 0 ? '' : cases
  const choices = verb.arguments.flatMap((one) => one.choices)
  const named = takesNameOfState(verb) ? [`$(${namesOfStates})`] : []
  const words = [...choices, ...named, ...flagsOf(verb).map(({ long }) => long)].join(' ')
  return `    ${pattern})\n${values}      COMPREPLY=($(compgen -W "${words}" -- "$cur"))\n      ;;`
}

const valueReply = (flag: DescribedVerb['flags'][number]): string => {
  const words = flag.choices.join(' ')
  if (words !== '') return `COMPREPLY=($(compgen -W "${words}" -- "$cur"))`
  return takesPath(flag) ? 'COMPREPLY=($(compgen -f -- "$cur"))' : 'COMPREPLY=()'
}
