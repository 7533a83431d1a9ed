/**
 * What a verb is, and what it is given. It is one record, that says what it is for, how its line is
 * parsed and its document shown as text, and whose `run` calls one use case. What it takes and
 * gives, mappers and failure rules are the contract's, beside the use case.
 */
import { Command, CommanderError } from 'commander'
import { Degraded } from '../base/contract.js'
import type { Contract, ContractFacts } from '../base/contract.js'
import { fail } from '../base/errors.js'
import type { ErrorDetails, SallyportError } from '../base/errors.js'
import type { ExitName } from '../base/outcome.js'
import { pageDocument } from '../base/page.js'
import type { AnchorRule } from '../fabric/open-work.js'
import { nextPage } from './cut.js'
import { endedByDamage, markedForDamage, markedResult } from './damage.js'
import type { DamageRule } from './damage.js'
import { addMoneySisters, withMoney } from './flags.js'
import { helpColumns } from './fit.js'
import { helpSections } from './help/sections.js'
import { withWholeIds, type IdName } from './short-ids.js'
import { requestOf } from './request.js'
import { writeHelp, writeJson, writeJsonLine, writeText } from './output.js'
import type { Rendered, View } from './output.js'
import type { VerbDeps } from './bound.js'
import { camelCase, type VerbEntry } from './entry.js'

/** Whether a verb needs a login: `none` never asks for one, `required` fails without one. */
export type SessionNeed = 'none' | 'optional' | 'required'

/** What a verb says of itself, besides how it is named. */
export interface VerbFacts {
  /** One short line, lowercase, no full stop. */
  readonly summary: string
  /** A few sentences. */
  readonly description: string
  /** Whole lines that begin with `$ sallyport`. */
  readonly examples: readonly string[]
  readonly session: SessionNeed
  /** What it asks of the anchor; left out: that it vouches for the state. */
  readonly anchor?: AnchorRule
  /** What it does where the state is damaged. */
  readonly damage: DamageRule
  /** Whether it may contact somebody beyond this machine's own files; left out: it never does. */
  readonly contacts?: true
  /** Whether it consents, approves, settles or revokes; left out: it does none of them. */
  readonly decides?: true
  /** Arguments and flags that take an id, also a short one; by their names in camel case. */
  readonly ids?: Readonly<Record<string, IdName>>
  /** Statuses that this verb can end with, besides those that every verb can. */
  readonly exits: readonly ExitName[]
}

/** What help, man pages, completions and tests know of a verb. */
export interface VerbMeta extends VerbFacts {
  /** The words that name it: `alpha ask`, `doctor`. */
  readonly name: string
  /** The contract of its operation; null where `--json` has no meaning (a script, a page). */
  readonly json: ContractFacts | null
}

/** A result as text: for stdout alone, or with notes for stderr. */
export type Text = Rendered | string

/** How the line of a verb is parsed and its result shown. */
export interface VerbFace<Result> extends VerbFacts {
  /** Adds arguments and flags. Their names in camel case become the fields of the line. */
  flags?(command: Command): Command
  /** The result as text; may be asynchronous (tables load their library at use). */
  text(result: Result, view: View, deps: VerbDeps): Text | Promise<Text>
  /**
   * Goes on after the result was printed: a server says where it listens, then serves until
   * `deps.stop`. What it throws is the command's failure.
   */
  after?(result: Result, deps: VerbDeps): Promise<void>
  /** How to come by a result that could not be written out, and what names it. */
  again?(result: Result): { readonly next: string; readonly details: ErrorDetails }
}

/** A verb, whole. Its words are the table's, and its file exports it under the last of them. */
export interface VerbRecord<Line extends object = object, Result = unknown>
  extends VerbFace<Result> {
  /** The contract of its operation; null where `--json` has no meaning (a script, a page). */
  readonly json: ContractFacts | null
  /** Does the work and gives the result; failures are thrown. */
  run(line: Line, deps: VerbDeps): Promise<Result>
}

/** A name in camel case, whose words some mark parts. */
export type Camel<Name extends string, Mark extends string = '_'> =
  Name extends `${infer Head}${Mark}${infer Tail}`
    ? `${Head}${Capitalize<Camel<Tail, Mark>>}` : Name

/** What a line gives of a request: its fields, by their names in camel case. */
export type LineFor<Request> =
  { readonly [Name in keyof Request as Camel<Name & string>]: Request[Name] }

/** The same, of the request of a contract. */
export type LineOf<C extends Pick<Contract<unknown, unknown, never>, 'request'>> =
  LineFor<ReturnType<C['request']>>

type AnyContract = Contract<unknown, unknown, never>

/** A verb that does what its request says. */
export interface VerbParts<C extends AnyContract, Line> extends VerbFace<ReturnType<C['answer']>> {
  /**
   * Does the work and gives what the contract makes the document of. `line` has what is the
   * terminal's alone (`--yes`, a file to read).
   */
  run(
    request: ReturnType<C['request']>, deps: VerbDeps, line: Line,
  ): Promise<Parameters<C['answer']>[0]>
}

/**
 * A verb whose request is made of its line alone, before anything else. One that asks, reads or
 * judges first is a `VerbRecord` and calls `requestOf` itself.
 */
export const verb = <C extends AnyContract, Line extends object = LineOf<C>>(
  contract: C, parts: VerbParts<C, Line>,
): VerbRecord<Line, ReturnType<C['answer']>> => ({
  ...parts,
  json: contract,
  run: async (line, deps) => {
    const request = requestOf(contract, line) as ReturnType<C['request']>
    return contract.answer(await parts.run(request, deps, line)) as ReturnType<C['answer']>
  },
})

/** A verb, ready to parse a line. */
export interface Verb {
  readonly meta: VerbMeta
  readonly command: Command
}

/** A verb under its words, ready to parse a line. */
export const verbFor = (record: VerbRecord, name: string, deps: VerbDeps): Verb => {
  const meta: VerbMeta = { ...record, name }
  const bare = bareCommand(deps, meta)
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
    const { syscall, code } = cause as NodeJS.ErrnoException
    if (syscall !== 'write') throw cause
    const { next, details } = record.again?.(result)
      ?? { next: 'What it did stands. Look at it before running the command again.', details: {} }
    throw fail.failed(
      'result_not_written', `The command ended, but its result cannot be written (${code}).`,
      { next, details: { errno: String(code), ...details }, cause },
    )
  }
}

const isPage = (shown: unknown, { globals }: VerbDeps): shown is unknown[] =>
  globals.paged && Array.isArray(shown)

const print = async (result: unknown, record: VerbRecord, deps: VerbDeps): Promise<void> => {
  if (deps.globals.json && record.json !== null) {
    const damage = deps.shownDamage()
    const shown = damage === null ? result : markedResult(result, damage)
    if (record.json.lines) writeJsonLine(deps, shown)
    else writeJson(deps, isPage(shown, deps) ? pageDocument(shown, nextPage(deps)) : shown)
    return
  }
  await writeText(deps, deps.globals, await record.text(result, deps.view, deps))
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
