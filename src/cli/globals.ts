/**
 * Flags that every verb takes, accepted anywhere on the line. They are cut out before the verb's
 * own flags are parsed, so that `sallyport --json alpha show` and `sallyport alpha show --json`
 * are the same command, and so that an error on the line already knows how to be printed.
 */
import { fail } from '../base/errors.js'
import { parseClosed, strictIntegerText } from '../base/schema.js'

/** The global flags of one run. */
export interface Globals {
  /** Name of a state, as given; null = none on the line. Never beside the two below. */
  readonly at: string | null
  /** As given; null = from the environment. */
  readonly stateDir: string | null
  /** As given; null = from the environment. */
  readonly configDir: string | null
  readonly json: boolean
  readonly paged: boolean
  readonly noInput: boolean
  readonly quiet: boolean
  readonly verbose: boolean
  readonly noColor: boolean
  readonly noPager: boolean
  /** Whether times are exact on a terminal, too. */
  readonly utc: boolean
  /** Longest wait for the state's lock, milliseconds. */
  readonly waitMs: number
}

/** One global flag, as help, man pages and completions show it. */
interface GlobalFlag {
  readonly long: string
  /** Name of its value; null for a switch. */
  readonly value: string | null
  readonly text: string
}

/** The global flags. */
export const globalFlags: readonly GlobalFlag[] = [
  { long: '--at', value: 'NAME', text: 'the state of this name (see sallyport at)' },
  { long: '--state-dir', value: 'DIR', text: 'the state directory' },
  { long: '--config-dir', value: 'DIR', text: 'the folder of vault keys and anchors' },
  { long: '--json', value: null, text: 'one JSON document on stdout, errors as JSON on stderr' },
  { long: '--paged', value: null, text: 'with --json: a list as rows, more and next_page' },
  { long: '--no-input', value: null, text: 'never ask; what would need a question fails' },
  { long: '--quiet', value: null, text: 'no notes on stderr, only errors' },
  { long: '--verbose', value: null, text: 'name each step on stderr' },
  { long: '--no-color', value: null, text: 'no colour (as NO_COLOR)' },
  { long: '--no-pager', value: null, text: 'long output is not shown through a pager' },
  { long: '--utc', value: null, text: 'exact times in UTC on a terminal, as in a pipe' },
  { long: '--wait', value: 'SECONDS', text: 'longest wait for the state lock (default 10)' },
]

/** Those that say which state is meant. */
export const placeFlags: readonly string[] = ['--at', '--state-dir', '--config-dir']

const waitMsDefault = 10_000
const waitSecondsMax = 86_400

/** Flags cut out of the line, and the line without them. */
interface Scanned {
  readonly globals: Globals
  readonly rest: readonly string[]
}

/** Whether a line asks for JSON; safe on any line, also on one that does not parse. */
export const wantsJson = (argv: readonly string[]): boolean => {
  const end = argv.indexOf('--')
  return (end < 0 ? argv : argv.slice(0, end)).includes('--json')
}

/** Cuts the global flags out of a line. Throws `usage` for one without its value. */
export const scanGlobals = (argv: readonly string[]): Scanned => {
  const given = new Map<string, string>()
  const rest: string[] = []
  for (let at = 0; at < argv.length; at += 1) {
    const word = argv[at] as string
    if (word === '--') {
      rest.push(...argv.slice(at))
      break
    }
    const [name = '', inline] = splitFlag(word)
    const flag = globalFlags.find(({ long }) => long === name)
    if (flag === undefined) rest.push(word)
    else if (flag.value === null) {
      if (inline !== undefined) throw fail.usage('flag_takes_no_value', `${name} takes no value.`)
      given.set(name, '')
    } else {
      const value = inline ?? argv[(at += 1)]
      if (value === undefined || value === '') {
        throw fail.usage('flag_needs_value', `${name} needs ${flag.value}.`)
      }
      given.set(name, value)
    }
  }
  return { globals: globalsOf(given), rest }
}

const splitFlag = (word: string): [string, string | undefined] => {
  const equals = word.indexOf('=')
  if (!word.startsWith('--') || equals < 0) return [word, undefined]
  return [word.slice(0, equals), word.slice(equals + 1)]
}

const globalsOf = (given: ReadonlyMap<string, string>): Globals => {
  const wait = given.get('--wait')
  if (given.has('--at') && (given.has('--state-dir') || given.has('--config-dir'))) {
    throw fail.usage('place_twice', 'A name says where state and keys lie; so do other flags.', {
      next: 'Give --at alone, or --state-dir and --config-dir.',
    })
  }
  return {
    at: given.get('--at') ?? null,
    stateDir: given.get('--state-dir') ?? null,
    configDir: given.get('--config-dir') ?? null,
    json: given.has('--json'),
    paged: given.has('--paged'),
    noInput: given.has('--no-input'),
    quiet: given.has('--quiet'),
    verbose: given.has('--verbose'),
    noColor: given.has('--no-color'),
    noPager: given.has('--no-pager'),
    utc: given.has('--utc'),
    waitMs: wait === undefined ? waitMsDefault : waitMs(wait),
  }
}

const waitMs = (text: string): number =>
  1000 * parseClosed(strictIntegerText(0, waitSecondsMax), text, {
    code: 'flag_invalid', what: 'flag --wait',
  })
