/** `sallyport at`: names for states, so that each can be said in one word. */
import { SallyportError } from '../../../base/errors.js'
import { pathFrom } from '../../../base/user-folders.js'
import { addName, removeName, type NamesSite } from '../../../fabric/names/change.js'
import { atAdd, atList, atRemove, type ListedName } from '../../../fabric/names/names-contract.js'
import { namesPath, readNames } from '../../../fabric/names/file.js'
import { apart, configDirOf } from '../../places.js'
import { renderTable } from '../../table.js'
import { verb, type VerbDeps } from '../../verb.js'

const siteOf = (deps: VerbDeps): NamesSite => ({
  env: deps.env, home: deps.home, clock: deps.clock, signal: deps.stop,
  waitMs: deps.globals.waitMs,
})

/** Its keys are those of this line: by --config-dir, SALLYPORT_CONFIG_DIR, or the default. */
export const add = verb(atAdd, {
  summary: 'give a state directory a name',
  description:
    'Remembers a name for a state directory, and for its key folder where --config-dir or '
    + 'SALLYPORT_CONFIG_DIR names one. With --at NAME any command is then about that state, '
    + 'wherever it is typed; SALLYPORT_AT does the same for a shell. The directory need not be '
    + 'there yet: `init --at NAME` makes the state. Nothing in it is touched or opened. The same '
    + 'line again changes nothing; a name that stands for another state is refused.',
  examples: [
    '$ sallyport at add work ~/states/work',
    '$ sallyport at add trial ~/states/trial --config-dir ~/states/trial-keys',
    '$ sallyport --at work status',
  ],
  damage: 'unasked',
  exits: ['rejected', 'conflict', 'locked'],
  flags: (command) => command
    .argument('<name>', 'a-z, 0-9 and -, at most 32 of them')
    .argument('<dir>', 'the state directory'),
  text: ({ name, state_dir: dir, exists, next }, view) =>
    `${name} is ${view.foreign(dir)}\n`
    + (exists ? '' : `There is no state yet; make it with \`${next}\`.\n`),
  run: async ({ name, dir }, deps) => {
    const places = apart({
      stateDir: pathFrom(deps.cwd, dir), configDir: configDirOf(deps, deps.globals),
    })
    const named = await addName(siteOf(deps), { name, ...places })
    return { path: namesPath(deps), named }
  },
})

/** The name of this line; none where it is not decided, which is told and hinders nothing. */
const inForceOf = async (deps: VerbDeps): Promise<string | null> => {
  try {
    return await deps.at()
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    deps.note(`No state is in force here. ${error.message}`)
    return null
  }
}

const rowOf = (
  { name, state_dir: dir, config_dir: keys, exists, in_force: isInForce }: ListedName,
): readonly string[] => [name, dir, keys, exists ? 'yes' : 'no', isInForce ? 'yes' : 'no']

export const list = verb(atList, {
  summary: 'the names, where they lead, and which one is in force',
  description:
    'Shows each name with its state directory and key folder, and whether a state is there. '
    + 'It tells which of them this line is about, by --at, SALLYPORT_AT or the directory. It '
    + 'opens no state.',
  examples: ['$ sallyport at list', '$ sallyport at list | cut -f1', '$ sallyport at list --json'],
  damage: 'unasked',
  exits: ['rejected'],
  text: (names, view) => renderTable(
    view, ['name', 'state', 'keys', 'exists', 'in force'],
    names.map((one) => rowOf(one).map(view.foreign))),
  run: async (_request, deps) => {
    const path = namesPath(deps)
    const names = readNames(path)
    return { path, names, inForce: await inForceOf(deps) }
  },
})

export const remove = verb(atRemove, {
  summary: 'forget a name; the state stays',
  description:
    'Forgets a name. State and keys stay as they are, and nothing in them is touched or opened. '
    + 'Timers, and a service that runs, go on: they hold the directories.',
  examples: ['$ sallyport at remove trial'],
  damage: 'unasked',
  exits: ['rejected', 'not_found', 'locked'],
  flags: (command) => command.argument('<name>', 'the name'),
  text: ({ name, state_dir: dir }, view) =>
    `Forgot ${name}; the state at ${view.foreign(dir)} stays.\n`,
  run: async ({ name }, deps) =>
    ({ path: namesPath(deps), named: await removeName(siteOf(deps), name) }),
})
