// What the screens of a narrow and of a wide terminal must have in common, and which lines make
// the captures: every verb's help, every topic, every list and the common looks.

/** Widths of the two terminals. */
export const widths = [80, 200]
/** Help is never wider. */
const helpColumns = 100

/** Commands whose results are captured: every list, and what people look at most. */
export const looks = [
  'task list', 'alpha tasks', 'goal list', 'session list --all', 'principal list', 'audit list',
  'policy history', 'ledger reservations --all', 'codehost jobs', 'codehost closures',
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

/** Paths are the only words that may be wider than a terminal. */
const isPath = (word) => word.includes('/')

/**
 * What is wrong with the two screens of one command: lines wider than the terminal that could have
 * been broken, and words of the narrow screen that the wide one has not, which were cut.
 */
export const captureProblems = (name, narrow, wide) => {
  const problems = []
  const isHelp = name.endsWith('--help') || name.startsWith('help')
  for (const [text, columns] of [[narrow, widths[0]], [wide, isHelp ? helpColumns : widths[1]]]) {
    for (const line of plain(text).split('\n')) {
      const words = wordsOf(line)
      if ([...line].length > columns && !(words.length === 1 && isPath(words[0]))) {
        problems.push(`${name}: wider than ${columns}: ${line}`)
      }
    }
  }
  const known = marks(plain(wide))
  // A card names each cell, with a colon behind the name.
  const all = (word) => known.has(word) || (word.endsWith(':') && known.has(word.slice(0, -1)))
  for (const word of marks(plain(narrow))) {
    if (!all(word)) problems.push(`${name}: not on the wide screen: ${word}`)
  }
  return problems
}
