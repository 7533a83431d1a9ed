/** One result value, printed as JSON or as text; only this last step differs. */
import { styleText } from 'node:util'
import { durationText } from '../base/duration.js'
import { shortOf } from '../base/ids.js'
import { timeZoneOf, zoneOf, type Zone } from '../observations/zone.js'
import { commandLine, toldCommand, toldSentence, toldText, type Carried } from '../base/told.js'
import type { Globals } from './globals.js'
import type { CliDeps } from './deps.js'
import { joined, wrapText, helpText, widthFor } from './wrap.js'
import { isLong, pagerOf } from './pager.js'
import { terminalSafe, visible } from './text.js'
import { relativeTime, spanText } from './time-text.js'

/** What the stream that carries results can show. */
export interface View {
  /** Whether stdout is a terminal. */
  readonly terminal: boolean
  readonly color: boolean
  readonly columns: number
  /** Colours a text of ours, where colour is on. */
  paint(style: Style, text: string): string
  /**
   * Text that others wrote (a provider, a file): escaped on a terminal, exact in a pipe. Text of
   * others that is not passed through here could drive the operator's terminal.
   */
  foreign(text: string): string
  /** A command of the program, told with the flags that it needs: `ledger show`. */
  command(line: string): string
  /** A sentence of ours with its commands told so, or a command that is all of it. */
  told(text: string): string
  /** An id in a list: short for a person, whole in a pipe and with `--no-input`. */
  id(id: string): string
  /** An ISO time: for a person how long ago, in a pipe and with `--utc` as it is. */
  time(iso: string): string
  /** How long something lasts: for a person `29 min`, in a pipe the exact `1772s`. */
  span(ms: number): string
}

type Style = 'bold' | 'dim' | 'green' | 'yellow' | 'red'

/** A result as text. */
export interface Rendered {
  /** For stdout, exactly. */
  readonly out: string | Uint8Array
  /** Lines for stderr, left out with `--quiet`; without the final newline. */
  readonly notes?: readonly string[]
  /** A document to be taken as it is (a script, a patch): no line of it is broken. */
  readonly exact?: boolean
}

/** What stdout can show in this run. */
export const viewOf = ({ io, env, clock }: CliDeps, globals: Globals, carried: Carried): View => {
  const terminal = io.terminal.stdout
  const refused = globals.noColor || Boolean(env['NO_COLOR']) || env['TERM'] === 'dumb'
  const color = terminal && !refused
  let zone: Zone | null = null
  return {
    terminal,
    color,
    get columns() { return io.columns },
    paint: (style, text) =>
      color ? styleText(style, text, { validateStream: false }) : text,
    command: (line) => toldCommand(commandLine(line), carried),
    told: (text) => toldSentence(text, carried),
    id: (id) => (terminal && !globals.noInput ? shortOf(id) : id),
    time: (iso) => (terminal && !globals.utc
      ? relativeTime(iso, clock.wallMs(), () => (zone ??= zoneOf(timeZoneOf(env)))) : iso),
    span: (ms) => (terminal ? spanText(ms) : durationText(ms)),
    foreign: (text) => (terminal ? visible(text) : text),
  }
}

/**
 * Prints a result as one JSON document. Characters that could drive a terminal are written as
 * escapes, which mean the same text: exact for a parser, harmless on a screen.
 */
export const writeJson = ({ io }: CliDeps, result: unknown): void =>
  io.writeOut(`${visible(JSON.stringify(result, null, 2))}\n`)

/** Prints one JSON document on a line of its own, for verbs that go on telling. */
export const writeJsonLine = ({ io }: CliDeps, value: unknown): void =>
  io.writeOut(`${visible(JSON.stringify(value))}\n`)

/**
 * A line beside the result. One that cannot be written (a full disk behind `2>`) changes nothing
 * of what was done, so it must not change the exit status either.
 */
export const tell = (io: CliDeps['io'], line: string): void => {
  try {
    io.writeErr(`${wrapBeside(io, line)}\n`)
  } catch {
    // There is nobody to tell.
  }
}

/** What goes to stderr, as wide as its terminal; in a pipe as it is. */
export const wrapBeside = (io: CliDeps['io'], text: string): string =>
  io.terminal.stderr ? wrapText(joined(text), io.columns) : text

/** A paragraph beside the result, which a terminal breaks where it has to, and nowhere else. */
export const paragraph = ({ io }: Pick<CliDeps, 'io'>, text: string): string =>
  io.terminal.stderr ? text.replaceAll('\n', ' ') : text

/** Prints a result on a terminal, through the pager where it is long. */
const writeLong = async (deps: CliDeps, globals: Globals, text: string): Promise<void> => {
  const command = pagerOf(deps, globals)
  const isPaged = command !== null && isLong(text, deps.io.rows)
  if (isPaged && await deps.page(command, text)) return
  deps.io.writeOut(text)
}

/** Prints text that others may have had a part in: on a terminal harmless, and as wide as it is. */
const writeShown = async (
  deps: CliDeps, globals: Globals, text: string, exact: boolean,
): Promise<void> => {
  const { io } = deps
  if (!io.terminal.stdout) return io.writeOut(text)
  const safe = terminalSafe(text)
  const shown = exact ? safe : wrapText(safe, io.columns, await widthFor(safe))
  return writeLong(deps, globals, shown)
}

/** Prints a page of help; on a terminal as wide as that is, and through the pager where long. */
export const writeHelp = (
  deps: CliDeps & { readonly globals: Globals; readonly view: View }, page: string,
): Promise<void> => writeLong(deps, deps.globals, helpText(page, deps.view))

/** One line of a verb that goes on telling, as `writeShown` has it. */
export const writeLine = ({ io }: CliDeps, line: string): void =>
  io.writeOut(`${io.terminal.stdout ? wrapText(terminalSafe(line), io.columns) : line}\n`)

/** Prints a result as text, and its notes. */
export const writeText = async (
  deps: CliDeps & { readonly carried: Carried }, globals: Globals, rendered: Rendered | string,
): Promise<void> => {
  const { out, notes = [], exact = false } = typeof rendered === 'string'
    ? { out: rendered } : rendered
  if (typeof out !== 'string') deps.io.writeOut(out)
  else if (out !== '') await writeShown(deps, globals, out, exact)
  if (!globals.quiet) for (const note of notes) {
    tell(deps.io, terminalSafe(toldText(note, deps.carried)))
  }
}
