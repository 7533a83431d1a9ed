/** What a line is parsed into: a verb's command, and its run between the line and what is shown. */
import { Command, CommanderError } from 'commander'
import { Degraded } from '../base/contract.js'
import { errnoOf } from '../base/errno.js'
import { fail, type ErrorDetails, type SallyportError } from '../base/errors.js'
import { pageDocument } from '../base/page.js'
import { commandLine } from '../base/told.js'
import { nextPage } from './next-page.js'
import { endedByDamage, markedForDamage, markedResult } from './damage.js'
import { addTodaysFlags, asRead } from './flags.js'
import { helpColumns } from './wrap.js'
import { helpSections } from './help/sections.js'
import { snakeCase } from './request.js'
import { withWholeIds } from './short-ids.js'
import { writeHelp, writeJson, writeJsonLine, writeText } from './output.js'
import {
  camelCase, joinedOf, metaOf, type CommandTable, type NounEntry, type VerbMeta,
  type VerbRecord, type VerbEntry, type VerbDeps,
} from './verb.js'

/** A verb, ready to parse a line. */
export interface Verb {
  readonly meta: VerbMeta
  readonly command: Command
}

/** A verb under its words, ready to parse a line. */
export const verbFor = (
  record: VerbRecord, name: string, deps: VerbDeps, told: Parameters<typeof metaOf>[2] = {},
): Verb => {
  const meta = metaOf(record, name, told)
  const command = withFlags(bareCommand(deps, meta), record)
  command.addHelpText('after', () => helpSections(meta))
  command.action(async () => {
    const acting = await actingOf({ record, meta, line: lineOf(command) })
    deps.heedDamage(acting.meta.damage)
    deps.anchor = acting.meta.anchor ?? 'vouches'
    try {
      const line = await withWholeIds(acting.line, acting.meta, deps)
      const result = await acting.record.run(line, deps)
      await show(result, acting.record, shownBy(acting.record, deps))
      await acting.record.after?.(result, deps)
    } catch (thrown) {
      if (thrown instanceof Degraded) await show(thrown.result, acting.record, deps)
      throw sooner(thrown, deps)
    }
    const damage = deps.shownDamage()
    if (damage !== null) throw markedForDamage(damage)
  })
  return { meta, command }
}

/** What goes on behind its result is not held up by a pager, which would take its signals, too. */
const shownBy = ({ after }: VerbRecord, deps: VerbDeps): VerbDeps =>
  (after === undefined ? deps
    : Object.create(deps, { page: { value: async () => false } }) as VerbDeps)

const withFlags = (bare: Command, record: VerbRecord): Command => {
  const { of } = record
  const named = of === undefined ? bare : bare.argument(`<${of}>`, `id of the ${of}`)
  return addTodaysFlags(record.flags?.(named) ?? named)
}

/** What acts on a line: the verb that was named, or one that it joins, and the line of that. */
interface Acting {
  readonly record: VerbRecord
  readonly meta: VerbMeta
  readonly line: object
}

const actingOf = async (named: Acting): Promise<Acting> => {
  const { record: { joins = [] }, meta: { name }, line } = named
  for (const one of joins) {
    const own = one.line({ ...line })
    if (own === null) continue
    const record = await one.load()
    return { record, meta: metaOf(record, name), line: lineOfJoined(one.by, record, own) }
  }
  return named
}

/** A line with what it left out. Throws `usage` for a flag that is the other verb's alone. */
const lineOfJoined = (by: string, record: VerbRecord, line: object): object => {
  const command = withFlags(new Command(), record)
  const names = [
    ...command.options.map((option) => option.attributeName()),
    ...command.registeredArguments.map((argument) => camelCase(argument.name())),
  ]
  if (Object.keys(line).some((name) => !names.includes(name))) {
    throw fail.usage('flag_not_with', `Another flag of the line does not go with ${by}.`)
  }
  return { ...command.opts(), ...line }
}

/** The verb of an entry of the table, ready to parse a line; whole where it is to be described. */
export const verbAt = async (
  noun: string | null, entry: VerbEntry, deps: VerbDeps, isWhole = true,
): Promise<Verb> => {
  const name = noun === null ? entry.verb : `${noun} ${entry.verb}`
  const record = await entry.load()
  return verbFor(record, name, deps, isWhole ? { joined: await joinedOf(record, name) } : {})
}

const countOf = (words: string): number => words.split(' ').length

/** The noun that a line begins with, the longest of them; null for none. */
export const nounAt = (table: CommandTable, words: readonly string[]): NounEntry | null => {
  const fitting = table.flatMap((one) => ('noun' in one
    && words.slice(0, countOf(one.noun)).join(' ') === one.noun ? [one] : []))
  return fitting.sort((a, b) => countOf(b.noun) - countOf(a.noun))[0] ?? null
}

/** A verb that a line names, and the words behind its name. */
interface Named {
  readonly verb: Verb
  readonly words: readonly string[]
}

/**
 * The verb that a line names, by its name of today or by an older one; null for none. Of one that
 * is run what its line may mean besides is not loaded.
 */
export const verbNamed = async (
  table: CommandTable, line: readonly string[], deps: VerbDeps, isRun = false,
): Promise<Named | null> => {
  const noun = nounAt(table, line)
  const at = noun === null ? 0 : countOf(noun.noun)
  const entry = (noun?.verbs ?? table).find((one) => 'verb' in one && one.verb === line[at])
  if (entry !== undefined && 'verb' in entry) {
    const isWhole = !isRun || line.includes('--help') || line.includes('-h')
    const verb = await verbAt(noun?.noun ?? null, entry, deps, isWhole)
    return { verb, words: line.slice(at + 1) }
  }
  const { olderNamed } = await import('./commands/older.js')
  const older = olderNamed(table, line)
  if (older === null) return null
  const verb = verbFor(await older.load(), older.name, deps, { today: older.today })
  return { verb, words: line.slice(countOf(older.name)) }
}

/** What the parser of a line printed: its help, which is shown once the parser has ended. */
const printed = new WeakMap<Command, string>()

/** Damage is told before whatever else went wrong beside it. */
const sooner = (thrown: unknown, deps: VerbDeps): unknown => {
  const damage = deps.shownDamage()
  if (damage === null) return thrown
  return endedByDamage(damage, thrown instanceof Degraded ? thrown.failure : thrown)
}

/** Which line is today's, of a verb that was named by an older name. */
const todayText = ({ today }: VerbMeta): string => (today === null ? ''
  : `An older name. Today's: ${today.map((line) => `\`${commandLine(line)}\``).join(', ')}.\n\n`)

const bareCommand = (deps: VerbDeps, meta: VerbMeta): Command => {
  const command = new Command(`sallyport ${meta.name}`)
  return command
    .description(todayText(meta) + meta.description)
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
  return { ...asRead(command, command.opts()), ...Object.fromEntries(given) }
}

/** Parses a line (without the words that name the verb) and runs the verb, or shows its help. */
export const runVerb = async (
  verb: Verb, words: readonly string[], deps: VerbDeps,
): Promise<void> => {
  const { command } = verb
  try {
    await command.parseAsync([...words], { from: 'user' })
  } catch (thrown) {
    if (!(thrown instanceof CommanderError)) throw thrown
    if (thrown.exitCode !== 0) throw misuse(thrown, words, verb)
    await writeHelp(deps, printed.get(command) ?? '')
  }
}

export const usageOf = ({ command }: Verb): string => command.createHelp().commandUsage(command)

const plainFlag = /^--?[a-z][a-z0-9-]{0,40}$/

/** What the parser refused, in words that repeat no value, and where the whole is told. */
const misuse = (
  { code, message }: CommanderError, words: readonly string[], { command, meta }: Verb,
): SallyportError => {
  const next = `\`sallyport help ${meta.name}\` tells what it takes, with examples.`
  switch (code) {
    case 'commander.unknownOption':
      return unknownFlag(message, words, next)
    case 'commander.excessArguments':
      return fail.usage('too_many_arguments',
        'There are more arguments than this command takes.', {
          next: `${next} ${command.registeredArguments.some((one) => one.name() === 'stdin')
            ? 'A question comes on stdin (-) or in a file.'
            : 'A value of several words goes in quotes.'}`,
        })
    case 'commander.missingArgument': {
      const missing = command.registeredArguments.find((one) => message.includes(`'${one.name()}'`))
      return fail.usage('missing_argument', missing === undefined
        ? 'An argument is missing.' : `<${missing.name()}> is missing: ${missing.description}.`,
      { next })
    }
    case 'commander.optionMissingArgument': {
      const flag = command.options.find(({ flags }) => message.includes(`'${flags}'`))
      return fail.usage('option_missing_argument', flag === undefined
        ? 'A flag has no value.' : `${flag.flags} has no value: ${flag.description}.`, { next })
    }
    default: {
      const text = message.replace(/^error: /, '')
      const sentence = `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
      return fail.usage(snakeCase(code.replace(/^commander\./, '')), sentence, { next })
    }
  }
}

// A mistyped flag may carry a pasted secret behind its `=`: only a plain name is repeated.
const unknownFlag = (
  message: string, words: readonly string[], otherwise: string,
): SallyportError => {
  const names = words.map((word) => word.split('=', 1)[0] as string)
  const unknown = names.find((name) => plainFlag.test(name) && message.includes(`'${name}`))
  const [, meant] = /Did you mean (--[a-z-]+)\?/.exec(message) ?? []
  return fail.usage(
    'unknown_flag',
    unknown === undefined ? 'There is an unknown flag.' : `There is no flag ${unknown}.`,
    { next: meant === undefined ? otherwise : `Did you mean ${meant}?` },
  )
}
