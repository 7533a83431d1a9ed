/** The whole command tree as data: what man pages, completions and tests are made from. */
import type { Command, Option } from 'commander'
import { offeredFor, todayOf } from './flags.js'
import { olderNamed, olderNamesOf, type OlderName } from './commands/older.js'
import { usageOf, verbAt, verbFor, type Verb } from './line.js'
import type { VerbMeta, VerbEntry, VerbDeps } from './verb.js'

/** One flag of a verb. */
export interface DescribedFlag {
  readonly short: string | null
  readonly long: string
  /** As shown: `<file>`; null for a switch. */
  readonly value: string | null
  readonly text: string
  /** Words that it is known to take; empty when it takes others. */
  readonly choices: readonly string[]
}

interface DescribedArgument {
  readonly name: string
  readonly text: string
  readonly choices: readonly string[]
}

/** One verb. */
export interface DescribedVerb {
  /** Null for a verb without a noun. */
  readonly noun: string | null
  readonly verb: string
  readonly meta: VerbMeta
  readonly usage: string
  /** The whole help page. */
  readonly help: string
  readonly arguments: readonly DescribedArgument[]
  readonly flags: readonly DescribedFlag[]
  /** Flags that it takes by older names, with what is typed today. */
  readonly olderFlags: readonly { readonly long: string, readonly today: string }[]
}

/** One noun. */
export interface DescribedNoun {
  readonly noun: string
  readonly summary: string
}

export const describeNouns = ({ commands }: VerbDeps): readonly DescribedNoun[] =>
  commands.flatMap((entry) => ('noun' in entry ? [entry] : []))

/** Loads and describes every verb. */
export const describeTree = async (deps: VerbDeps): Promise<readonly DescribedVerb[]> => {
  const verbs: DescribedVerb[] = []
  for (const entry of deps.commands) {
    if ('noun' in entry) {
      for (const verb of entry.verbs) verbs.push(await describe(entry.noun, verb, deps))
    } else {
      verbs.push(await describe(null, entry, deps))
    }
  }
  return verbs
}

/** The verbs that have another name today, under the older one. */
export const describeOlder = async (deps: VerbDeps): Promise<readonly DescribedVerb[]> =>
  Promise.all(olderNamesOf(deps.commands).map(async (older) => describedOlder(older, deps)))

/** The verb that had this name; null where none had it. */
export const describeOlderNamed = async (
  name: string, deps: VerbDeps,
): Promise<DescribedVerb | null> => {
  const older = olderNamed(deps.commands, name.split(' '))
  return older === null || older.name !== name ? null : describedOlder(older, deps)
}

const describedOlder = async (
  { name, today, load }: OlderName, deps: VerbDeps,
): Promise<DescribedVerb> =>
  described(null, name, verbFor(await load(), name, deps, { today }))

const describe = async (
  noun: string | null, entry: VerbEntry, deps: VerbDeps,
): Promise<DescribedVerb> => described(noun, entry.verb, await verbAt(noun, entry, deps))

const described = (noun: string | null, name: string, verb: Verb): DescribedVerb => {
  const { meta, command } = verb
  return {
    noun,
    verb: name,
    meta,
    usage: usageOf(verb),
    help: fullHelp(command),
    arguments: command.registeredArguments.map((argument) => ({
      name: argument.name(),
      text: argument.description,
      choices: offeredFor(argument),
    })),
    flags: [
      ...command.options.filter((option) => !option.hidden).map(describeFlag),
      { short: '-h', long: '--help', value: null, text: 'show this help', choices: [] },
    ],
    olderFlags: command.options.flatMap((option) => {
      const today = todayOf(option)
      return today === null ? [] : [{ long: option.long ?? option.flags, today }]
    }),
  }
}

const describeFlag = (option: Option): DescribedFlag => ({
  short: option.short ?? null,
  long: option.long ?? option.flags,
  value: /[<[][^>\]]+[>\]]/.exec(option.flags)?.[0] ?? null,
  text: option.description,
  choices: offeredFor(option),
})

// `helpInformation` leaves out what `addHelpText` added.
const fullHelp = (command: Command): string => {
  let page = ''
  const { writeOut } = command.configureOutput()
  command.configureOutput({ writeOut: (text) => (page += text) })
  command.outputHelp()
  if (writeOut !== undefined) command.configureOutput({ writeOut })
  return page
}
