/** What a line is parsed into: a verb's command, and its run between the line and what is shown. */
import { Command, CommanderError } from 'commander'
import { Degraded } from '../base/contract.js'
import { errnoOf } from '../base/errno.js'
import { fail, type ErrorDetails, type SallyportError } from '../base/errors.js'
import { pageDocument } from '../base/page.js'
import { nextPage } from './next-page.js'
import { endedByDamage, markedForDamage, markedResult } from './damage.js'
import { addMoneySisters, withMoney } from './flags.js'
import { helpColumns } from './wrap.js'
import { helpSections } from './help/sections.js'
import { withWholeIds } from './short-ids.js'
import { writeHelp, writeJson, writeJsonLine, writeText } from './output.js'
import {
  camelCase, metaOf, type VerbMeta, type VerbRecord, type VerbEntry, type VerbDeps,
} from './verb.js'

/** A verb, ready to parse a line. */
interface Verb {
  readonly meta: VerbMeta
  readonly command: Command
}

/** A verb under its words, ready to parse a line. */
export const verbFor = (record: VerbRecord, name: string, deps: VerbDeps): Verb => {
  const meta = metaOf(record, name)
  const { of } = record
  const unnamed = bareCommand(deps, meta)
  const bare = of === undefined ? unnamed : unnamed.argument(`<${of}>`, `id of the ${of}`)
  const command = addMoneySisters(record.flags?.(bare) ?? bare)
  command.addHelpText('after', () => helpSections(meta))
  command.action(async () => {
    deps.heedDamage(meta.damage)
    try {
      const result = await record.run(await withWholeIds(lineOf(command), meta, deps), deps)
      await show(result, record, deps)
      await record.after?.(result, deps)
    } catch (thrown) {
      if (thrown instanceof Degraded) await show(thrown.result, record, deps)
      throw sooner(thrown, deps)
    }
    const damage = deps.shownDamage()
    if (damage !== null) throw markedForDamage(damage)
  })
  return { meta, command }
}

/** The verb of an entry of the table, ready to parse a line. */
export const verbAt = async (
  noun: string | null, entry: VerbEntry, deps: VerbDeps,
): Promise<Verb> => {
  const name = noun === null ? entry.verb : `${noun} ${entry.verb}`
  return verbFor(await entry.load(), name, deps)
}

/** What the parser of a line printed: its help, which is shown once the parser has ended. */
const printed = new WeakMap<Command, string>()

/** Damage is told before whatever else went wrong beside it. */
const sooner = (thrown: unknown, deps: VerbDeps): unknown => {
  const damage = deps.shownDamage()
  if (damage === null) return thrown
  return endedByDamage(damage, thrown instanceof Degraded ? thrown.failure : thrown)
}

const bareCommand = (deps: VerbDeps, meta: VerbMeta): Command => {
  const command = new Command(`sallyport ${meta.name}`)
  return command
    .description(meta.description)
    .helpOption('-h, --help', 'show this help')
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void printed.set(command, (printed.get(command) ?? '') + text),
      writeErr: () => undefined,
      outputError: () => undefined,
      getOutHelpWidth: () => helpColumns(deps.view),
    })
}

/** A full disk behind `>` undoes nothing: whoever runs the command again must know that. */
const show = async (result: unknown, record: VerbRecord, deps: VerbDeps): Promise<void> => {
  deps.progress.clear()
  try {
    await print(result, record, deps)
  } catch (cause) {
    const { next, details } = record.again?.(result)
      ?? { next: 'What it did stands. Look at it before running the command again.', details: {} }
    throw notWritten(cause, next, details)
  }
}

/** The failure of a result that cannot be written out; what else was thrown stays as it is. */
export const notWritten = (cause: unknown, next: string, details: ErrorDetails = {}): unknown => {
  if ((cause as NodeJS.ErrnoException).syscall !== 'write') return cause
  const errno = errnoOf(cause)
  return fail.failed(
    'result_not_written', `The command ended, but its result cannot be written (${errno}).`,
    { next, details: { errno, ...details }, cause },
  )
}

/** A result with its commands as this run tells them. */
const told = async (
  result: unknown, { json }: VerbRecord, { carried }: VerbDeps,
): Promise<unknown> => {
  if (carried.length === 0 || json === null) return result
  const { toldDocument } = await import('../base/told-document.js')
  return toldDocument(result, json.output, carried)
}

const isPage = (shown: unknown, { globals }: VerbDeps): shown is unknown[] =>
  globals.paged && Array.isArray(shown)

const print = async (result: unknown, record: VerbRecord, deps: VerbDeps): Promise<void> => {
  if (deps.globals.json && record.json !== null) {
    const damage = deps.shownDamage()
    const shown = await told(damage === null ? result : markedResult(result, damage), record, deps)
    if (record.json.lines) writeJsonLine(deps, shown)
    else writeJson(deps, isPage(shown, deps) ? pageDocument(shown, nextPage(deps)) : shown)
    return
  }
  const shown = await told(result, record, deps)
  const text = await record.text(shown, deps.view, deps)
  await writeText(deps, deps.globals, text)
  // A pipe gets no line for no row; a person would not know whether anything was looked for.
  const isEmpty = Array.isArray(shown) && shown.length === 0 && text === ''
  if (isEmpty && deps.io.terminal.stdout) deps.note(record.none ?? 'There is nothing to list.')
}

/** Flags and arguments in one record, by their names in camel case. */
const lineOf = (command: Command): object => {
  const named = command.registeredArguments.map(
    (argument, at) => [camelCase(argument.name()), command.processedArgs[at] as unknown] as const,
  )
  const given = named.filter(([, value]) => value !== undefined)
  return { ...withMoney(command, command.opts()), ...Object.fromEntries(given) }
}

const snakeCase = (name: string): string =>
  name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

/** Parses a line (without the words that name the verb) and runs the verb, or shows its help. */
export const runVerb = async (
  { command }: Verb, words: readonly string[], deps: VerbDeps,
): Promise<void> => {
  try {
    await command.parseAsync([...words], { from: 'user' })
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown
    if (thrown.exitCode !== 0) throw misuse(thrown, words)
    await writeHelp(deps, printed.get(command) ?? '')
  }
}

/** The usage line of a verb. */
export const usageOf = ({ command }: Verb): string => command.createHelp().commandUsage(command)

const plainFlag = /^--?[a-z][a-z0-9-]{0,40}$/

/** What the parser refused, in words that repeat no value. */
const misuse = ({ code, message }: CommanderError, words: readonly string[]): SallyportError => {
  if (code === 'commander.unknownOption') return unknownFlag(message, words)
  if (code === 'commander.excessArguments') {
    return fail.usage('too_many_arguments', 'There are more arguments than this command takes.')
  }
  const text = message.replace(/^error: /, '')
  const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
  return fail.usage(snakeCase(code.replace(/^commander\./, '')), sentence)
}

// A mistyped flag may carry a pasted secret behind its `=`: only a plain name is repeated.
const unknownFlag = (message: string, words: readonly string[]): SallyportError => {
  const names = words.map((word) => word.split('=', 1)[0] as string)
  const unknown = names.find((name) => plainFlag.test(name) && message.includes(`'${name}`))
  const [, meant] = /Did you mean (--[a-z-]+)\?/.exec(message) ?? []
  return fail.usage(
    'unknown_flag',
    unknown === undefined ? 'There is an unknown flag.' : `There is no flag ${unknown}.`,
    meant === undefined ? {} : { next: `Did you mean ${meant}?` },
  )
}
