/** One command, from the line to the exit status. Everything that is thrown ends here. */
import { fail } from '../base/errors.js'
import { exitStatus } from '../base/outcome.js'
import { nothingCarried, type Carried } from '../base/told.js'
import { bindDeps } from './verb-deps.js'
import { commands } from './commands/table.js'
import { nameOf, wordsBehind, type CommandTable, type VerbDeps } from './verb.js'
import type { CliDeps } from './deps.js'
import { closeTo } from './edit-distance.js'
import { showFailure } from './failure.js'
import { scanGlobals, wantsJson } from './globals.js'
import { wrapBeside, writeHelp } from './output.js'
import { secretsOfRun, type Secrets } from './redact.js'
import { notWritten, nounAt, runVerb, usageOf, verbNamed } from './line.js'
import { mayNameState } from './places.js'

/** Runs the command; gives the exit status and never throws. */
export const runCommand = async (
  deps: CliDeps, table: CommandTable = commands,
): Promise<number> => {
  const secrets = secretsOfRun()
  const seen = nothingSeen()
  const failed = await runLine(deps, table, secrets, seen)
    .then(() => null, (thrown: unknown) => ({ thrown }))
  // What closing has to say comes before the failure, whose body is the last line of stderr.
  await seen.bound?.closeStores()
  if (failed === null) return exitStatus.ok
  seen.bound?.progress.clear()
  return tell(deps, failed.thrown, seen, secrets)
}

const tell = (deps: CliDeps, thrown: unknown, seen: Seen, secrets: Secrets): number => {
  const json = wantsJson(deps.argv)
  const shown = showFailure(thrown, { ...seen, json, secrets })
  try {
    deps.io.writeErr(json ? shown.stderr : wrapBeside(deps.io, shown.stderr))
  } catch {
    // Where it cannot be told the exit status still says it.
  }
  return shown.status
}

/** What is known of the line by the time something fails. */
interface Seen {
  usage: string
  verbose: boolean
  carried: Carried
  bound: VerbDeps | null
}

const nothingSeen = (): Seen => ({
  usage: 'sallyport <command> [flags]', verbose: false, carried: nothingCarried, bound: null,
})

/** The end of a line that needed no command, and whose answer could not be written out. */
export const endUnwritten = (deps: CliDeps, cause: unknown): number =>
  tell(deps, notWritten(cause, 'Make room and run it again.'), nothingSeen(), secretsOfRun())

const helpFlags = new Set(['--help', '-h'])

const runLine = async (
  deps: CliDeps, table: CommandTable, secrets: Secrets, seen: Seen,
): Promise<void> => {
  const { globals, rest } = scanGlobals(deps.argv)
  const folders = mayNameState(deps, globals)
    ? deps.foldersNamed ?? (await import('../fabric/names/look-up.js')).foldersNamed : null
  const bound = bindDeps(deps, globals, secrets, {
    commands: table, again: (other) => runCommand(other, table),
  }, folders)
  seen.verbose = globals.verbose
  seen.carried = bound.carried
  seen.bound = bound
  const [first] = rest
  if (first === undefined || helpFlags.has(first)) {
    const { overview } = await import('./help/overview.js')
    return writeHelp(bound, await overview(bound))
  }
  const named = await verbNamed(table, rest, bound, true)
  if (named === null) return withoutVerb(rest, bound, seen)
  seen.usage = usageOf(named.verb)
  await runVerb(named.verb, named.words, bound)
}

/** What a line without a verb gets: the help of its noun, or a refusal. */
const withoutVerb = async (line: readonly string[], bound: VerbDeps, seen: Seen): Promise<void> => {
  const noun = nounAt(bound.commands, line)
  if (noun === null) return withoutNoun(line, bound)
  seen.usage = `sallyport ${noun.noun} <verb> [flags]`
  const word = line[noun.noun.split(' ').length]
  if (word !== undefined && helpFlags.has(word)) {
    const { nounHelp } = await import('./help/overview.js')
    return writeHelp(bound, await nounHelp(noun, bound))
  }
  const names = wordsBehind(bound.commands, noun)
  if (word === undefined) {
    throw fail.usage('verb_missing', `Which one: ${noun.noun} ${names.join(', ')}?`, {
      next: `\`sallyport help ${noun.noun}\` tells what each does.`,
    })
  }
  throw unknownWord(`${noun.noun} verb`, word, names)
}

/** What people type for it: whoever wants all to stop is led there first. */
const otherWords: Readonly<Record<string, readonly string[] | undefined>> = {
  version: ['--version'], stop: ['policy revoke'], revoke: ['policy revoke'],
}

/** A first word of today that is no command: that of an older name, a verb without its noun. */
const withoutNoun = async (
  [word = '', second = '']: readonly string[], bound: VerbDeps,
): Promise<void> => {
  const { olderNamesOf } = await import('./commands/older.js')
  const older = olderNamesOf(bound.commands).filter(({ name }) => name.startsWith(`${word} `))
  if (older.length > 0 && helpFlags.has(second)) {
    const { olderHelp } = await import('./help/overview.js')
    return writeHelp(bound, olderHelp(older))
  }
  const led = [...new Set([
    ...older.flatMap(({ today }) => today),
    ...Object.hasOwn(otherWords, word) ? otherWords[word] ?? [] : [],
    ...bound.commands.flatMap((one) => ('noun' in one && one.verbs.some(({ verb }) => verb === word)
      ? [`${one.noun} ${word}`] : [])),
  ])]
  if (led.length === 0 || led.length > ledMax) {
    throw unknownWord('command', word, bound.commands.map(nameOf))
  }
  throw fail.usage('unknown_command', 'There is no such command.', {
    next: `Did you mean ${led.map((line) => `\`sallyport ${line}\``).join(' or ')}?`,
  })
}

/** So many commands are told to choose from. */
const ledMax = 4

/** The word itself is not repeated: it may be anything, also a question or a key. */
const unknownWord = (what: string, word: string, names: readonly string[]): Error => {
  const close = closeTo(word, names)
  return fail.usage('unknown_command', `There is no such ${what}.`, {
    next: close.length > 0
      ? `Did you mean ${close.join(' or ')}?`
      : 'Run `sallyport --help` for the list of commands.',
  })
}
