/** One command, from the line to the exit status. Everything that is thrown ends here. */
import { fail } from '../base/errors.js'
import { exitStatus } from '../base/outcome.js'
import { nothingCarried, type Carried } from '../base/told.js'
import { bindDeps } from './verb-deps.js'
import { commands } from './commands/table.js'
import { nameOf, type CommandTable, type NounEntry, type VerbEntry, type VerbDeps } from './verb.js'
import type { CliDeps } from './deps.js'
import { editDistance } from './edit-distance.js'
import { showFailure } from './failure.js'
import { scanGlobals, wantsJson } from './globals.js'
import { wrapBeside, writeHelp } from './output.js'
import { secretsOfRun, type Secrets } from './redact.js'
import { runVerb, usageOf, verbAt } from './line.js'
import { mayNameState } from './places.js'

/** Runs the command; gives the exit status and never throws. */
export const runCommand = async (
  deps: CliDeps, table: CommandTable = commands,
): Promise<number> => {
  const secrets = secretsOfRun()
  const seen: Seen = {
    usage: 'sallyport <command> [flags]', verbose: false, carried: nothingCarried, bound: null,
  }
  const failed = await runLine(deps, table, secrets, seen)
    .then(() => null, (thrown: unknown) => ({ thrown }))
  // What closing has to say comes before the failure, whose body is the last line of stderr.
  await seen.bound?.closeStores()
  if (failed === null) return exitStatus.ok
  seen.bound?.progress.clear()
  const json = wantsJson(deps.argv)
  const shown = showFailure(failed.thrown, { ...seen, json, secrets })
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

const helpFlags = new Set(['--help', '-h'])

const runLine = async (
  deps: CliDeps, table: CommandTable, secrets: Secrets, seen: Seen,
): Promise<void> => {
  const { globals, rest } = scanGlobals(deps.argv)
  const named = mayNameState(deps, globals)
    ? deps.foldersNamed ?? (await import('../fabric/names/look-up.js')).foldersNamed : null
  const bound = bindDeps(deps, globals, secrets, {
    commands: table, again: (other) => runCommand(other, table),
  }, named)
  seen.verbose = globals.verbose
  seen.carried = bound.carried
  seen.bound = bound
  const [first, second] = rest
  if (first === undefined || helpFlags.has(first)) {
    const { overview } = await import('./help/overview.js')
    return writeHelp(bound, await overview(bound))
  }
  const entry = table.find((one) => nameOf(one) === first)
  if (entry === undefined) throw unknownWord('command', first, table.map(nameOf))
  if ('load' in entry) return runEntry(null, entry, rest.slice(1), bound, seen)
  seen.usage = `sallyport ${entry.noun} <verb> [flags]`
  if (second !== undefined && helpFlags.has(second)) {
    const { nounHelp } = await import('./help/overview.js')
    return writeHelp(bound, await nounHelp(entry, bound))
  }
  return runEntry(entry.noun, verbOf(entry, second), rest.slice(2), bound, seen)
}

const verbOf = (noun: NounEntry, word: string | undefined): VerbEntry => {
  const names = noun.verbs.map(nameOf)
  if (word === undefined) {
    throw fail.usage('verb_missing', `Which one: ${noun.noun} ${names.join(', ')}?`)
  }
  const verb = noun.verbs.find((one) => one.verb === word)
  if (verb === undefined) throw unknownWord(`${noun.noun} verb`, word, names)
  return verb
}

const runEntry = async (
  noun: string | null, entry: VerbEntry, words: readonly string[], bound: VerbDeps, seen: Seen,
): Promise<void> => {
  const verb = await verbAt(noun, entry, bound)
  seen.usage = usageOf(verb)
  bound.anchor = verb.meta.anchor ?? 'vouches'
  await runVerb(verb, words, bound)
}

/** The word itself is not repeated: it may be anything, also a question or a key. */
const unknownWord = (what: string, word: string, names: readonly string[]): Error => {
  const close = names.filter((name) => editDistance(name, word) <= 2)
  return fail.usage('unknown_command', `There is no such ${what}.`, {
    next: close.length > 0
      ? `Did you mean ${close.join(' or ')}?`
      : 'Run `sallyport --help` for the list of commands.',
  })
}
