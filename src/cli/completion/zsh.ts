import type { DescribedFlag, DescribedVerb } from '../tree.js'
import {
  asking, idForm, listByBeginning, listFor, listOfAll, listsByBeginning, placeFlags,
} from './ids.js'
import {
  argumentOffers, firstWords, flagsOf, isHelp, namesOfStates, nounsBehind, takesNameOfState,
  takesPath, valueFlags, verbsOf, type CompletionTree,
} from './tree.js'

/** The zsh script, to be saved as `_sallyport` in a folder of `$fpath`. */
export const zshScript = (tree: CompletionTree): string => `#compdef sallyport
# zsh completion of sallyport

${helpers()}

_sallyport() {
  local -a words_of place
  local first second third at
  for ((at = 2; at < CURRENT; at++)); do
    case "$words[at]" in
      ${placeFlags.join('|')})
        place+=("$words[at]" "\${\${(Q)words[at+1]}/#\\~\\//$HOME/}"); ((at++)) ;;
      ${valueFlags().filter((flag) => !placeFlags.includes(flag)).join('|')}) ((at++)) ;;
      -*) ;;
      *) if [[ -z $first ]]; then first=$words[at]
         elif [[ -z $second ]]; then second=$words[at]
         elif [[ -z $third ]]; then third=$words[at]; fi ;;
    esac
  done
  case "$first" in
    "") words_of=(${pairs(firstWords(tree))})
      _describe command words_of; return ;;
${nounsOfOneWord(tree).map(({ noun }) => nounCase(tree, noun)).join('\n')}
${helpCase(tree)}
${verbCases(without(tree, isHelp), null, '    ')}
  esac
}

compdef _sallyport sallyport
`

// They read the variables of the function around them.
const helpers = (): string => `_sallyport_names() {
  compadd -- \${(f)"$(${namesOfStates})"}
}

_sallyport_ids() {
  local list="$1"
  [[ $list != ${listByBeginning} ]] || case "$PREFIX" in
${listsByBeginning.map(([begins, list]) => `    ${begins}*) list='${list}' ;;`).join('\n')}
    *) list='${listOfAll}' ;;
  esac
  compadd -- \${(f)"$(sallyport $place ${asking} \${=list} 2>/dev/null | cut -f1 \\
    | grep -E '${idForm}')"}
}

_sallyport_ids_or_files() {
  _sallyport_ids "$1"
  _files
}`

const nounsOfOneWord = ({ nouns }: CompletionTree) =>
  nouns.filter(({ noun }) => !noun.includes(' '))

/** Behind a noun its verbs, and behind a noun of two words those of that. */
const nounCase = (tree: CompletionTree, noun: string): string => `    ${noun})
      case "$second" in
        "") words_of=(${pairs(verbsOf(tree, noun))})
          _describe verb words_of; return ;;
${[
    verbCases(tree, noun, '        '),
    ...nounsBehind(tree.nouns, noun).map((one) => longerCase(tree, noun, one.noun)),
  ].join('\n')}
      esac ;;`

const longerCase = (
  tree: CompletionTree, first: string, noun: string,
): string => `        ${noun.slice(first.length + 1)})
          case "$third" in
            "") words_of=(${pairs(verbsOf(tree, noun))})
              _describe verb words_of; return ;;
${verbCases(tree, noun, '            ')}
          esac ;;`

const without = (
  tree: CompletionTree, left: (verb: DescribedVerb) => boolean,
): CompletionTree => ({ ...tree, verbs: tree.verbs.filter((verb) => !left(verb)) })

/** What `help` completes behind a noun, and behind one of two words. */
const helpOf = (tree: CompletionTree, noun: string): string => {
  const described = (one: string): string =>
    `words_of=(${pairs(verbsOf(tree, one))}); _describe verb words_of; return`
  const longer = nounsBehind(tree.nouns, noun).map((one) =>
    `[[ $third == ${one.noun.slice(noun.length + 1)} ]] && { ${described(one.noun)}; }\n          `)
  return `        ${noun}) ${longer.join('')}${described(noun)} ;;`
}

// Behind `help` and a noun stand its verbs; behind `help` alone what its own case has.
const helpCase = (tree: CompletionTree): string => `    help)
      case "$second" in
${nounsOfOneWord(tree).map(({ noun }) => helpOf(tree, noun)).join('\n')}
${tree.verbs.filter(isHelp).map((verb) => verbCase(verb, '        ', '*')).join('\n')}
      esac ;;`

const verbCases = ({ verbs }: CompletionTree, of: string | null, indent: string): string =>
  verbs.filter(({ noun }) => noun === of).map((verb) => verbCase(verb, indent)).join('\n')

const verbCase = (verb: DescribedVerb, indent: string, pattern = verb.verb): string => {
  const specs = flagsOf(verb).map((flag) => `'${flagSpec(verb, flag)}'`)
  const lines = [...specs, `'*:${argumentsOf(verb)}'`].join(` \\\n${indent}    `)
  return `${indent}${pattern})\n${indent}  _arguments \\\n${indent}    ${lines}; return ;;`
}

/** Ids of a list, and files where they may stand instead; the space keeps the words together. */
const idsOf = (list: string, paths: boolean): string =>
  `id: _sallyport_ids${paths ? '_or_files' : ''} "${list}"`

const argumentsOf = (verb: DescribedVerb): string => {
  if (takesNameOfState(verb)) return 'name:_sallyport_names'
  const { words, list, paths } = argumentOffers(verb)
  if (words.length > 0) return `value:(${words.join(' ')})`
  if (list !== null) return idsOf(list, paths)
  return paths ? 'file:_files' : 'value: '
}

const flagSpec = (verb: DescribedVerb, flag: DescribedFlag): string => {
  const head = `${flag.long}[${escape(flag.text)}]`
  if (flag.value === null) return head
  if (flag.long === '--at') return `${head}:name:_sallyport_names`
  const list = listFor(verb, flag.long)
  if (list !== null) return `${head}:${idsOf(list, false)}`
  if (flag.choices.length > 0) return `${head}:value:(${flag.choices.join(' ')})`
  return takesPath(flag) ? `${head}:file:_files` : `${head}:value: `
}

const pairs = (words: readonly (readonly [string, string])[]): string =>
  words.map(([name, text]) => `'${name}:${escape(text)}'`).join(' ')

const escape = (text: string): string =>
  text.replace(/\s+/g, ' ').replaceAll("'", "'\\''").replace(/[[\]:]/g, '\\$&')
