import { codehost } from '../../../fabric/operations/codehost.js'
import { integerFlag } from '../../flags.js'
import { renderTable } from '../../table.js'
import { verbOf } from '../../verb-of.js'
import { closureCells, closureHeads, receiptText } from './closure-text.js'

export const closures = verbOf(codehost.closures, {
  summary: 'list what capacity was closed, or show one closure with its receipt',
  description:
    'Lists your closures, newest first: which job, which connection, how many effects were '
    + 'observed, and that nothing else of the job changed. With a closure it shows that one. '
    + 'With --json it prints the receipt as it lies in the state, always the same. It '
    + 'contacts nobody.',
  examples: [
    '$ sallyport codehost recover closures',
    '$ sallyport codehost recover closures CLOSURE --receipt > r.json',
  ],
  ids: { closure: 'closure', after: 'closure' },
  exits: ['rejected', 'not_found'],
  flags: (command) => command
    .argument('[closure]', 'id of a closure')
    .option('--receipt', 'print its receipt alone, as canonical JSON')
    .option('--after <closure>', 'only those older than this one')
    .addOption(integerFlag('--limit <n>', 'at most so many (default 50)', { min: 1, max: 1_000 })),
  text: (shown, view) => {
    if (Array.isArray(shown)) {
      return renderTable(view, closureHeads, shown.map((line) => closureCells(view, line)))
    }
    if (shown.canonical === null) return receiptText(shown.receipt)
    return { out: `${shown.canonical}\n`, exact: true }
  },
  touch: false,
})
