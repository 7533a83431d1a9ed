/**
 * The next steps of a refusal. A hint is one sentence for people in which every command stands
 * between backticks; this reads the commands out of that very sentence, so that what a script is
 * told and what a person reads cannot differ.
 *
 * No hint carries the flag that consents, accepts or says yes: a terminal asks for it, unchecked,
 * and with `--no-input` the command is refused. Such a command is marked, and so is one with a
 * word to fill in (`TASK`, `OWNER/NAME`), which nobody but a person can.
 */

/** One command that helps. */
export interface NextStep {
  /** The whole line, beginning with `sallyport`. */
  readonly command: string
  /** Whether a person has to decide, to give a secret or to fill in a word. */
  readonly needs_person: boolean
}

/**
 * Commands that consent, approve, settle, raise a limit, take a secret, or end or remove something
 * for good: by the words that begin them.
 */
export const personCommands: readonly string[] = [
  'init', 'login', 'setup', 'principal add', 'principal enable',
  'principal disable', 'alpha setup', 'alpha acknowledge',
  'task review', 'task cancel', 'task close', 'gateway setup', 'shots setup',
  'shots reanalyze', 'shots clear-stale', 'ledger review', 'ledger settle', 'policy revoke',
  'session revoke', 'codehost connect', 'codehost mode', 'codehost consent', 'codehost approve',
  'codehost publish', 'codehost disconnect', 'alpha drop',
  'codehost close-capacity', 'codehost recover observe', 'codehost recover adopt',
  'codehost recover discard',
  'codehost cancel', 'codehost revoke', 'edge pair', 'edge revoke', 'state repair',
  'state restore', 'state prune', 'state destroy', 'state keys',
  'machine invite', 'machine join', 'machine retire', 'state share', 'state unshare',
  'state accept-server',
  'sandbox start', 'timers install',
]

/** What only shows, whatever its first words: help, and a closure asked for again as it was. */
const unasked: readonly RegExp[] = [/ --help$/, /^codehost close-capacity \S+ --retry$/]

/** What pays once more for what was refused, failed or is uncertain. */
const paysAgain = /^shots \S+ (?:.* )?--retry$/

const placeholder = /^(?:[A-Z][A-Z_-]*(?:\/[A-Z]+)*|.*\u2026)$/

const isOf = (line: string, words: string): boolean => `${line} `.startsWith(`${words} `)

/** Whether a line, without `sallyport`, needs a person; what pays again does, too. */
export const needsPerson = (line: string): boolean => {
  if (line.split(' ').some((word) => placeholder.test(word))) return true
  if (paysAgain.test(line)) return true
  return !unasked.some((form) => form.test(line)) && personCommands.some((one) => isOf(line, one))
}

const quoted = /`sallyport ([^`]+)`/g

/** The commands of a hint, in order, each once; none of a hint that names none. */
export const nextStepsOf = (hint: string | null): NextStep[] => {
  const lines = [...(hint ?? '').matchAll(quoted)].map(([, line]) => line ?? '')
  return [...new Set(lines)].map((line) => ({
    command: `sallyport ${line}`, needs_person: needsPerson(line),
  }))
}
