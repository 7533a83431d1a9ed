import type { DescribedFlag, DescribedVerb } from '../tree.js'
import {
  asking, idForm, listByBeginning, listFor, listOfAll, listsByBeginning, placeFlags,
} from './ids.js'
import {
  argumentOffers, firstWords, flagsOf, isHelp, namesOfStates, takesNameOfState, takesPath,
  valueFlags, verbsOf, type CompletionTree,
} from './tree.js'

/** The bash script. It needs no bash-completion package, and does with bash 3.2. */
export const bashScript = (tree: CompletionTree): string => `# bash completion of sallyport
${helpers()}
_sallyport() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}"
  local words=() place=() word at
  COMPREPLY=()
  # Files are completed where they are meant alone; without compopt wherever nothing else is.
  compopt +o default 2>/dev/null
  for ((at = 1; at < COMP_CWORD; at++)); do
    word="\${COMP_WORDS[at]}"
    case "$word" in
      ${placeFlags.join('|')}) ((at++)); place+=("$word" "\${COMP_WORDS[at]/#\\~\\//$HOME/}") ;;
${valueFlags().filter((flag) => !placeFlags.includes(flag))
    .map((flag) => `      ${flag}) ((at++)) ;;`).join('\n')}
      -*) ;;
      *) words+=("$word") ;;
    esac
  done
  case "$prev" in
    --at) COMPREPLY=($(compgen -W "$(${namesOfStates})" -- "$cur")); return ;;
    --state-dir|--config-dir) compopt -o dirnames 2>/dev/null; return ;;
    --wait) return ;;
  esac
  case "\${words[*]:0:2}" in
    ${longer(tree)}) at=3 ;;
    *) at=2 ;;
  esac
  case "\${words[*]:0:at}" in
    "") COMPREPLY=($(compgen -W "${names(firstWords(tree))} --help --version" -- "$cur")); return ;;
${nounCases(tree, '')}
${nounCases(tree, 'help ')}
${tree.verbs.map(verbCase).join('\n')}
  esac
}
complete -o default -F _sallyport sallyport
`

// What a verb's case calls: it reads the variables of the function around it.
const helpers = (): string => `_sallyport_ids() {
  local list="$1"
  [[ $list != ${listByBeginning} ]] || case "$cur" in
${listsByBeginning.map(([begins, list]) => `    ${begins}*) list='${list}' ;;`).join('\n')}
    *) list='${listOfAll}' ;;
  esac
  sallyport \${place[@]+"\${place[@]}"} ${asking} $list 2>/dev/null | cut -f1 | grep -E '${idForm}'
}
# $1 flags, $2 words, $3 the list that has ids, $4 how paths are completed: what there is of these.
_sallyport_reply() {
  local words="$2"
  [[ $cur == -* || -z $3 ]] || words="$words $(_sallyport_ids "$3")"
  if [[ $cur == -* || -z "\${words// /}$4" ]]; then words="$1"
  elif [[ -n $4 ]]; then compopt -o "$4" 2>/dev/null; fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}`

/** First words behind which a third one decides: a noun of two, and the help of its first. */
const longer = ({ nouns }: CompletionTree): string =>
  nouns.flatMap(({ noun }) => {
    const [first, second] = noun.split(' ')
    return second === undefined ? [] : [`"${noun}"`, `"help ${first}"`]
  }).join('|')

const names = (words: readonly (readonly [string, string])[]): string =>
  words.map(([name]) => name).join(' ')

const nounCases = (tree: CompletionTree, before: string): string =>
  tree.nouns
    .map(({ noun }) => {
      const verbs = names(verbsOf(tree, noun)) + (before === '' ? ' --help' : '')
      return `    "${before}${noun}") COMPREPLY=($(compgen -W "${verbs}" -- "$cur")); return ;;`
    })
    .join('\n')

/** The words of a verb; one without a noun may be followed by an argument. */
const patternOf = (verb: DescribedVerb): string =>
  (verb.noun !== null ? `"${verb.meta.name}"`
    : isHelp(verb) ? `"${verb.verb}"` : `"${verb.verb}"|"${verb.verb} "*`)

const verbCase = (verb: DescribedVerb): string => {
  const lines = verb.flags
    .filter(({ value }) => value !== null)
    .map((flag) => `        ${flag.long}) ${valueReply(verb, flag)}; return ;;`)
  const cases = `      case "$prev" in\n${lines.join('\n')}\n      esac\n`
  const { words, list, paths } = argumentOffers(verb)
  const named = takesNameOfState(verb) ? [`$(${namesOfStates})`] : []
  // Beside ids only folders are completed: files are where nothing else fits.
  const how = !paths ? '' : list === null ? 'default' : 'plusdirs'
  const flags = flagsOf(verb).map(({ long }) => long).join(' ')
  const reply = `"${flags}" "${[...words, ...named].join(' ')}" "${list ?? ''}" "${how}"`
  return `    ${patternOf(verb)})
${lines.length === 0 ? '' : cases}      _sallyport_reply ${reply}
      ;;`
}

const valueReply = (verb: DescribedVerb, flag: DescribedFlag): string => {
  const list = listFor(verb, flag.long)
  const words = list === null ? flag.choices.join(' ') : `$(_sallyport_ids "${list}")`
  if (words !== '') return `COMPREPLY=($(compgen -W "${words}" -- "$cur"))`
  return takesPath(flag) ? 'compopt -o default 2>/dev/null' : 'COMPREPLY=()'
}
