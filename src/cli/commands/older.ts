/**
 * Older names of verbs: the one table of them. An older name goes on working as it did, with the
 * same flags, documents and statuses, because scripts know it; help, man pages, completions and
 * counts know the names of today alone.
 */
import { nameOf, type CommandTable, type VerbRecord } from '../verb.js'

/** An older name of a verb. */
export interface OlderName {
  /** Its words: `alpha tasks`. */
  readonly name: string
  /** The lines that do the same today. */
  readonly today: readonly string[]
  /** The verb itself: the one of today, or the part of it that the older name had. */
  load(): Promise<VerbRecord>
}

/** A verb that only has other words today. */
const moved = (commands: CommandTable, name: string, today: string): OlderName => ({
  name, today: [today], load: () => {
    const words = today.split(' ')
    const noun = commands.find((one) => nameOf(one) === words.slice(0, -1).join(' '))
    const entry = noun !== undefined && 'noun' in noun
      ? noun.verbs.find(({ verb }) => verb === words.at(-1)) : undefined
    if (entry === undefined) throw new TypeError(`${name}: there is no ${today}`)
    return entry.load()
  },
})

/** A verb that others of today do beside their own: the record that they act by. */
const joined = <Verb extends string>(
  name: `${string} ${Verb}`, today: readonly string[],
  load: () => Promise<{ readonly [Name in Verb]: VerbRecord }>,
): OlderName =>
  ({ name, today, load: async () => (await load())[name.split(' ')[1] as Verb] })

/** All of them, by the nouns that they had; `commands` are those of today. */
export const olderNamesOf = (commands: CommandTable): readonly OlderName[] => [
  joined('alpha tasks', ['task list'], () => import('./alpha/tasks.js')),
  joined('alpha task', ['task show TASK'], () => import('./alpha/tasks.js')),
  joined('alpha output', ['task show TASK --output'], () => import('./alpha/tasks.js')),
  joined('alpha review', ['task review TASK'], () => import('./alpha/review.js')),
  joined('alpha cancel', ['task cancel TASK'], () => import('./alpha/review.js')),
  joined('shots config', ['shots setup', 'shots show'], () => import('./shots/config.js')),
  joined('shots watch', ['shots run --watch'], () => import('./shots/scan.js')),
  joined('shots find', ['shots list --search TEXT'], () => import('./shots/observations.js')),
  joined('shots digests', ['shots list --digests', 'shots show DIGEST'],
    () => import('./shots/digests.js')),
  joined('shots explain', ['shots show FILE'], () => import('./shots/explain.js')),
  joined('edge show', ['edge artifacts CAPTURE'], () => import('./edge/edge.js')),
  {
    name: 'edge get', today: ['edge artifacts CAPTURE'],
    load: async () => (await import('./edge/edge.js')).show,
  },
  joined('codehost job', ['codehost jobs JOB'], () => import('./codehost/jobs.js')),
  joined('codehost resume', ['codehost run JOB --resume'], () => import('./codehost/run.js')),
  joined('codehost grants', ['codehost connections --grants'],
    () => import('./codehost/connections.js')),
  ...['reconcile', 'adopt', 'closures', 'inspect', 'discard', 'observe', 'verify']
    .map((verb) => moved(commands, `codehost ${verb}`, `codehost recover ${verb}`)),
  joined('config show', ['alpha show', 'gateway show'], () => import('./config/config.js')),
  joined('config save', ['alpha setup --from FILE', 'gateway setup --from FILE'],
    () => import('./config/config.js')),
  joined('policy history', ['policy show --history'], () => import('./policy/policy.js')),
  joined('state verify', ['state check BACKUP'], () => import('./state/backup.js')),
  joined('state kept', ['state prune --show', 'state prune --kept NAME'],
    () => import('./state/backup.js')),
  joined('sandbox faults', ['sandbox fault list'], () => import('./sandbox/faults.js')),
]

/** The older name that a line begins with; null for none. */
export const olderNamed = (commands: CommandTable, line: readonly string[]): OlderName | null =>
  olderNamesOf(commands).find(({ name }) => name === line.slice(0, 2).join(' ')) ?? null
