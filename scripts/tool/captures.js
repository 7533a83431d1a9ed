// What the screens of narrow terminals and of a wide one must have in common, and which lines make
// the captures: every verb's help, every topic, every list and the common looks.

/** Widths of the terminals: the narrow ones, and the wide one last. */
export const widths = [60, 80, 200]
/** Help is never wider. */
const helpColumns = 100

/** Commands whose results are captured: every list, and what people look at most. */
export const looks = [
  'task list', 'alpha tasks', 'goal list', 'session list --all', 'principal list', 'audit list',
  'policy history', 'ledger reservations --all', 'codehost jobs', 'codehost recover closures',
  'codehost connections', 'codehost grants', 'edge list', 'edge artifacts', 'shots list',
  'shots digests', 'sandbox faults', 'schema', 'status', 'doctor', 'alpha show', 'gateway show',
  'shots config show', 'shots status', 'ledger show', 'policy show', 'session show',
]

const colours = /\u001b\[[0-9;]*m/g

/** A screen as text alone. */
export const plain = (screen) => screen.replaceAll('\r', '').replaceAll(colours, '')

/** Two screens are not made at the same time: exact times, and those told by how long ago. */
const times =
  /\d{4}-\d\d-\d\dT[\d:.]+Z|\bnow\b|(?:\bin\s+)?\b\d+\s+(?:s|min|h|days)\b(?:\s+ago\b)?/g

/** Words of a screen; what says that a command goes on below is none. */
const wordsOf = (text) => text.split(/\s+/).filter((word) => word !== '' && word !== '\\')

const marks = (text) => new Set(wordsOf(text.replaceAll(times, 'TIME')))

/** Words that may be wider than a terminal: paths, digests and JSON, which are copied whole. */
const isWhole = (word) => /[/"]|[0-9a-f]{64}/.test(word)

/** So is a flag with the id that it takes. */
const isCopied = ([first, second, ...more]) => more.length === 0
  && (second === undefined ? isWhole(first) : /^--/.test(first) && /^[0-9a-f-]{36}$/.test(second))

/** Lines that are wider than their terminal and could have been broken. */
const tooWide = (name, text, columns) => plain(text).split('\n').filter((line) => {
  const words = wordsOf(line)
  return [...line].length > columns && !isCopied(words)
}).map((line) => `${name}: wider than ${columns}: ${line}`)

/**
 * What is wrong with the screens of one command, one of each width: lines that are too wide, and
 * words of a narrow screen that the wide one has not, which were cut.
 */
export const captureProblems = (name, screens) => {
  const isHelp = name.endsWith('--help') || name.startsWith('help')
  const known = marks(plain(screens.at(-1)))
  // A card names each cell, with a colon behind the name.
  const all = (word) => known.has(word) || (word.endsWith(':') && known.has(word.slice(0, -1)))
  return screens.flatMap((text, at) => [
    ...tooWide(name, text, isHelp ? Math.min(helpColumns, widths[at]) : widths[at]),
    ...[...marks(plain(text))].filter((word) => !all(word))
      .map((word) => `${name}: not on the wide screen: ${word}`),
  ])
}
