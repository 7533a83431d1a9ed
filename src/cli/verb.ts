/**
 * What a verb is, and what it is given. It is one record, that says what it is for, how its line is
 * parsed and its document shown as text, and whose `run` calls one use case. What it takes and
 * gives, mappers and failure rules are the contract's, beside the use case.
 */
import type { Command } from 'commander'
import type { Contract, ContractFacts } from '../base/contract.js'
import type { ErrorDetails } from '../base/errors.js'
import type { ExitName } from '../base/outcome.js'
import type { AnchorRule } from '../fabric/open-work.js'
import type { AnyContract, RequestOf, SourceOf } from '../fabric/operation.js'
import type { DamageRule } from './damage.js'
import { requestOf } from './request.js'
import type { Rendered, View } from './output.js'
import type { Observer } from '../base/observer.js'
import type { Face, Gov, Session } from '../governance/context.js'
import type { Problem, Store } from '../state/types.js'
import type { CliDeps } from './deps.js'
import type { PagedRun } from './next-page.js'
import type { Globals } from './globals.js'
import type { Places } from './places.js'
import type { Progress } from './progress.js'
import type { Prompter } from './prompt.js'
import type { Secrets } from './redact.js'

/** What an argument or a flag names. */
export type IdName =
  | 'task' | 'operation' | 'goal' | 'session' | 'connection' | 'audit' | 'observation'
  | 'observation or path' | 'digest' | 'device' | 'capture' | 'job' | 'job or folder' | 'closure'

/** Whether a verb needs a login: `none` never asks for one, `required` fails without one. */
export type SessionNeed = 'none' | 'optional' | 'required'

/** What a verb says of itself, besides how it is named. */
interface VerbFacts {
  /** One short line, lowercase, no full stop. */
  readonly summary: string
  /** A few sentences. */
  readonly description: string
  /** Whole lines that begin with `$ sallyport`. */
  readonly examples: readonly string[]
  /** Left out: `required`, or `none` of what opens no state or mends one (`unasked`). */
  readonly session?: SessionNeed
  /** What it asks of the anchor; left out: that it vouches for the state. */
  readonly anchor?: AnchorRule
  /** What it does where the state is damaged; left out: `refuses`. */
  readonly damage?: DamageRule
  /** Whether it may contact somebody beyond this machine's own files; left out: it never does. */
  readonly contacts?: true
  /** Whether it consents, approves, settles or revokes; left out: it does none of them. */
  readonly decides?: true
  /** What its line names before anything else, by an id. */
  readonly of?: IdName
  /**
   * Arguments and flags that take an id, also a short one; by their names in camel case. One that
   * takes ids of several types is told which by the beginning of what was typed.
   */
  readonly ids?: Readonly<Record<string, IdName | readonly IdName[]>>
  /** Statuses that it can end with, besides those of every verb and of every required login. */
  readonly exits?: readonly ExitName[]
}

/** What help, schemas and tests know of a verb that a flag or a word of another makes of it. */
export interface JoinedMeta {
  /** What makes it that verb: `--search TEXT`. */
  readonly by: string
  readonly meta: VerbMeta
}

/** What help, man pages, completions and tests know of a verb: what it left out is filled in. */
export interface VerbMeta extends VerbFacts {
  /** The words that name it: `alpha ask`, `doctor`. */
  readonly name: string
  readonly session: SessionNeed
  readonly damage: DamageRule
  /** Statuses that it can end with, besides those that every verb can. */
  readonly exits: readonly ExitName[]
  /** The contract of its operation; null where `--json` has no meaning (a script, a page). */
  readonly json: ContractFacts | null
  /** The verbs that its line may mean besides. */
  readonly joined: readonly JoinedMeta[]
  /** The lines that are today's, of a verb that was named by an older name; null for others. */
  readonly today: readonly string[] | null
}

/**
 * A verb that a flag or a word of another verb's line makes of it: what it asks, gives and ends
 * with is its own. The flags of both are the other's.
 */
export interface Joined {
  /** As help says it: `--search TEXT`. */
  readonly by: string
  /** Loaded where a line means it, or where it is described. */
  load(): Promise<VerbRecord> | VerbRecord
  /** The line of this verb; null where the other line does not mean it. */
  line(line: Readonly<Record<string, unknown>>): object | null
}

/** A result as text: for stdout alone, or with notes for stderr. */
type Text = Rendered | string

/** How the line of a verb is parsed and its result shown. */
export interface VerbFace<Result> extends VerbFacts {
  /** Adds arguments and flags. Their names in camel case become the fields of the line. */
  flags?(command: Command): Command
  /** A note for a terminal where a list is empty; left out: one that says only that. */
  readonly none?: string
  /** The result as text; may be asynchronous (tables load their library at use). */
  text(result: Result, view: View, deps: VerbDeps): Text | Promise<Text>
  /**
   * Goes on after the result was printed: a server says where it listens, then serves until
   * `deps.stop`. What it throws is the command's failure.
   */
  after?(result: Result, deps: VerbDeps): Promise<void>
  /** Verbs that its line may mean besides, the first that fits. */
  readonly joins?: readonly Joined[]
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
type Camel<Name extends string, Mark extends string = '_'> =
  Name extends `${infer Head}${Mark}${infer Tail}`
    ? `${Head}${Capitalize<Camel<Tail, Mark>>}` : Name

/** What a line gives of a request: its fields, by their names in camel case. */
type LineFor<Request> =
  { readonly [Name in keyof Request as Camel<Name & string>]: Request[Name] }

/** The same, of the request of a contract. */
export type LineOf<C extends Pick<Contract<unknown, unknown, never>, 'request'>> =
  LineFor<ReturnType<C['request']>>

/** A verb that does what its request says, in its own way. */
interface VerbParts<C extends AnyContract, Line> extends VerbFace<ReturnType<C['answer']>> {
  /**
   * Does the work and gives what the contract makes the document of. `line` has what is the
   * terminal's alone (`--yes`, a file to read).
   */
  run(request: RequestOf<C>, deps: VerbDeps, line: Line): Promise<SourceOf<C>>
}

/**
 * A verb whose request is made of its line alone, before anything else, and which opens by itself
 * what it needs. One that asks, reads or judges first is a `VerbRecord` and calls `requestOf`.
 */
export const verb = <C extends AnyContract, Line extends object = LineOf<C>>(
  contract: C, parts: VerbParts<C, Line>,
): VerbRecord<Line, ReturnType<C['answer']>> => ({
  ...parts,
  json: contract,
  run: async (line, deps) => {
    const request = requestOf(contract, line) as RequestOf<C>
    return contract.answer(await parts.run(request, deps, line)) as ReturnType<C['answer']>
  },
})

/** What is told of the verbs that a line of a record may mean besides. */
export const joinedOf = async (
  { joins = [] }: VerbRecord, name: string,
): Promise<readonly JoinedMeta[]> =>
  Promise.all(joins.map(async ({ by, load }) => ({ by, meta: metaOf(await load(), name) })))

/** What opening a state and asking for its operator ends with. */
const loginExits: readonly ExitName[] = ['unauthorized', 'no_state', 'damaged']

/** What a record says of its verb, and what it left out. */
export const metaOf = (
  record: VerbRecord, name: string,
  { today = null, joined = [] }: Partial<Pick<VerbMeta, 'today' | 'joined'>> = {},
): VerbMeta => {
  const { damage = 'refuses', exits = [] } = record
  const { session = damage === 'unasked' ? 'none' : 'required' } = record
  const all = [
    ...exits, ...session === 'required' ? loginExits : [],
    ...joined.flatMap(({ meta }) => meta.exits),
  ]
  const own = record.of === undefined ? {} : { ids: { [record.of]: record.of, ...record.ids } }
  return { ...record, ...own, name, session, damage, exits: all, joined, today }
}

/** A verb and how to load it. */
export interface VerbEntry {
  readonly verb: string
  load(): Promise<VerbRecord>
}

/** A noun and its verbs. */
export interface NounEntry {
  readonly noun: string
  /** One short line, lowercase, no full stop. */
  readonly summary: string
  readonly verbs: readonly VerbEntry[]
}

/** A table of commands. */
export type CommandTable = readonly (NounEntry | VerbEntry)[]

export const nameOf = (entry: NounEntry | VerbEntry): string =>
  'noun' in entry ? entry.noun : entry.verb

/** The words that go on behind a noun: its verbs, and what nouns of more words add to it. */
export const wordsBehind = (table: CommandTable, { noun, verbs }: NounEntry): readonly string[] => [
  ...verbs.map(nameOf), ...nounsBelow(table, noun).map((one) => one.noun.slice(noun.length + 1)),
]

/** The nouns whose words begin with those of another: `codehost recover` of `codehost`. */
export const nounsBelow = (table: CommandTable, noun: string): readonly NounEntry[] =>
  table.flatMap((one) => ('noun' in one && one.noun.startsWith(`${noun} `) ? [one] : []))

/** `clear-stale` as a name in code. */
export const camelCase = (name: string): string =>
  name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())

/** Loads a file that exports the record of a verb under its word. */
type Loading<Verb extends string> =
  () => Promise<{ readonly [Name in Camel<Verb, '-'>]: VerbRecord }>

/** A verb without a noun. */
export const alone = <Verb extends string>(verb: Verb, load: Loading<Verb>): VerbEntry =>
  ({ verb, load: async () => (await load())[camelCase(verb) as Camel<Verb, '-'>] })

/** A noun whose verbs lie in one file, or in one each. */
export const noun: {
  <Verb extends string>(
    noun: string, summary: string, verbs: readonly Verb[], load: Loading<Verb>,
  ): NounEntry
  <Verb extends string>(
    noun: string, summary: string, verbs: { readonly [One in Verb]: Loading<One> },
  ): NounEntry
} = (name: string, summary: string, verbs: readonly string[] | object, load?: Loading<string>) => ({
  noun: name, summary,
  verbs: Array.isArray(verbs)
    ? verbs.map((verb: string) => alone(verb, load as Loading<string>))
    : Object.entries(verbs).map(([verb, one]) => alone(verb, one as Loading<string>)),
})

/** The program itself, for verbs that describe it or run lines of it. */
export interface Program {
  readonly commands: CommandTable
  /** Runs another line, with its own dependencies; gives its exit status. */
  again(deps: CliDeps): Promise<number>
}

/** What a verb works with. */
export interface VerbDeps extends CliDeps, Program, PagedRun {
  readonly globals: Globals
  /** State and key folders; throws where they cannot be decided. */
  readonly places: Places
  /** The name of the state in force; null where it has none. Throws as `places`. */
  at(): Promise<string | null>
  readonly secrets: Secrets
  readonly view: View
  readonly progress: Progress
  /** Where use cases announce their steps. */
  readonly observer: Observer
  /** Whether a person can be asked: stdin and stdout are terminals and `--no-input` is absent. */
  readonly interactive: boolean
  /** What the verb asks of the anchor of a state; all of it until the line has named a verb. */
  anchor: AnchorRule
  /** Somebody to ask. Throws `usage` `input_required`, naming `instead`, where nobody can be. */
  ask(instead: string): Promise<Prompter>
  /**
   * Asks whether to go on; returns only on yes. Throws `cancelled` on no, and `usage` where nobody
   * can be asked, naming the flag that says yes.
   */
  confirm(question: string, flag: string): Promise<void>
  /**
   * The open store, the same one each time in one mode. Throws `no_state` where there is none.
   * `read` takes no lock and changes no byte.
   */
  openStore(mode?: StoreMode): Promise<Store>
  /** Says what the verb of this run does at damage; every store is asked when it is opened. */
  heedDamage(rule: DamageRule): void
  /** Damage of what was opened, for verbs that show what is left; null for all others. */
  shownDamage(): Problem | null
  /** Closes what was opened; a log that this run made long is folded then. Never throws. */
  closeStores(): Promise<void>
  /**
   * The open store with clock and observer, for use cases. `face` is `job` where a scheduler and
   * not a person gives the orders. Recovery is `work.ts`'s.
   */
  gov(mode?: StoreMode | 'see' | 'stop', face?: Face): Promise<Gov>
  /** The same, and the operator who is logged in. Throws `unauthorized`. */
  login(
    mode?: StoreMode | 'see', options?: LoginOptions,
  ): Promise<{ readonly gov: Gov; readonly session: Session }>
}

/**
 * `read` (the default) never takes the lock, changes no byte and loads no lock add-on. `alone`
 * writes its own record and changes nothing else (see `WorkMode`).
 */
export type StoreMode = 'read' | 'write' | 'alone'

/** How a login is used. */
export interface LoginOptions {
  /** False for verbs that must not refresh the last use. */
  readonly touch?: boolean
}
