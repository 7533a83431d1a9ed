/**
 * Whether this machine can run the program: each check looks at one thing and says one line. What
 * stands blocked in a state that is there is told besides.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Clock } from '../base/clock.js'
import { countText } from '../base/counted.js'
import { SallyportError } from '../base/errors.js'
import { thisPlatformRow } from '../base/platform/table.js'
import { machineName } from '../base/platform/this-platform.js'
import { shellWord } from '../base/told.js'
import { baseFolderIfNamed, type NamesPlaces } from '../base/user-folders.js'
import { leakyRuntime } from '../net/leaky-runtime.js'
import { nodeFiles } from '../state/files.js'
import { lockAddon, sharedKindOf } from '../state/kernel-lock.js'
import { keyPlaces, placesOf } from '../state/paths.js'
import { readStateFile, type StateFile } from '../state/state-file.js'
import type { Gov } from '../governance/context.js'
import { overrunReviews, unknownCharges } from '../governance/ledger/find-reservation.js'
import type { Registry } from '../governance/capability.js'
import type { LookingWorld } from '../governance/waiting.js'
import type { View } from '../state/types.js'
import { capabilities } from './capabilities.js'
import type { MachineCheck as Check } from './doctor-contract.js'
import { namesPath, readNames } from './names/file.js'
import { interruptedCount, seenNow } from './seen.js'

/** What the checks look at. */
interface Machine {
  readonly places: { readonly stateDir: string; readonly configDir: string }
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  /** Home folder as the system tells it. */
  readonly home: string
  /** Flags of Node itself. */
  readonly execArgv: readonly string[]
}

/** Every check, in order. Touches nothing. */
export const runChecks = (deps: Machine): Check[] => [
  nodeVersion(),
  ...platform(),
  lockAddOn(),
  stateFolder(deps.places.stateDir),
  keyFolder(join(deps.places.configDir, 'keys')),
  ...keyFiles(deps.places),
  ...namesFile(deps),
  clock(deps),
  environment(deps),
]

/**
 * Work that waits for a person, how much of it and why, what a dead process left among it: the
 * machine is sound then, and jobs that do nothing for it look healthy. Throws what reading throws.
 */
export const currentBlocks = async (
  opened: Gov, world: LookingWorld, registry: Registry = capabilities,
): Promise<Check[]> => {
  const seen = await seenNow(opened, registry)
  const { gov } = seen
  const view = gov.store.read()
  const checks: Check[] = [...cutOff(interruptedCount(seen)), ...charges(view)]
  for (const { name, status } of registry) {
    const line = (await status?.())?.({ gov, view, world, session: null })
    if (line?.status !== 'blocked' || line.reason === undefined) continue
    const code = line.reason_code === null ? 'blocked' : `blocked (${line.reason_code})`
    checks.push(note(name, `${code}. ${line.reason}`, 'sallyport status'))
  }
  return checks
}

const cutOff = (count: number): Check[] => (count === 0 ? [] : [note(
  'interrupted', `${countText(count, 'operation')} ended with its process; the next command that `
    + 'writes records it', 'sallyport status')])

const charges = (view: View): Check[] => {
  const [unknown, overruns] = [unknownCharges(view), overrunReviews(view)]
  return unknown + overruns === 0 ? [] : [note(
    'charges', `${countText(unknown, 'unknown charge')} and ${countText(overruns, 'overrun')} `
      + 'wait for a person', 'sallyport ledger reservations')]
}

const ok = (name: string, text: string): Check => ({ name, result: 'ok', text, next: null })
const note = (name: string, text: string, next: string | null = null): Check =>
  ({ name, result: 'note', text, next })
const problem = (name: string, text: string, next: string): Check =>
  ({ name, result: 'problem', text, next })

// An unsupported version never gets here: the entry script refuses it.
const nodeVersion = (): Check => ok('node', process.version)

/** What is known of this kind of machine: nothing to say where every test ran on it. */
const platform = (): Check[] => {
  const { name, standing, because, lacks } = thisPlatformRow()
  if (standing === 'tried') return []
  const text = [`${name}.`, because, ...(lacks === null ? [] : [`Missing: ${lacks}`])].join(' ')
  return [(standing === 'refused' ? problem : note)('platform', text, 'sallyport help platforms')]
}

const lockAddOn = (): Check => {
  try {
    lockAddon()
    return ok('lock add-on', `loads on ${machineName}`)
  } catch (error) {
    const next = error instanceof SallyportError && error.reason !== 'add_on' ? error.next : null
    return problem(
      'lock add-on', `does not load on ${machineName}`, next
        ?? 'Install Sallyport again on this machine; without the kernel lock nothing is written.',
    )
  }
}

const stateFolder = (dir: string): Check => {
  const kind = stateFailure(dir)
  if (kind === 'damaged') {
    return problem('state directory', `STATE of ${dir} is damaged, or missing`,
      'sallyport state check')
  }
  const shared = sharedKindOf(dir)
  if (shared !== null) {
    return problem('state directory', `${dir} lies on ${shared}, where no lock can be relied on`,
      'sallyport help platforms')
  }
  if (kind !== 'no_state') return privateFolder('state directory', dir)
  const parent = nearestFolder(dir)
  return writable(parent)
    ? note('state directory', `none at ${dir}`, 'sallyport init')
    : problem('state directory', `cannot be made at ${dir}`, 'Give another one with --state-dir.')
}

const keyFolder = (dir: string): Check =>
  statSync(dir, { throwIfNoEntry: false }) === undefined
    ? note('key folder', `none at ${dir}; init makes it`)
    : privateFolder('key folder', dir)

/** Both files of this store in the key folder; none of it where there is no store to name them. */
const keyFiles = ({ stateDir, configDir }: Machine['places']): Check[] => {
  const state = stateFileOf(stateDir)
  // No state, or a damaged one, which `state check` says more about than this could.
  if (state instanceof SallyportError) return []
  const { key, anchor } = keyPlaces(configDir, state.store_id)
  return [
    privateFile('key file', key, 'Put it back from its copy: without it nothing sealed opens.'),
    privateFile('anchor file', anchor, 'sallyport help anchor'),
  ]
}

/** What says which states are meant by names; nothing of it where no state has one. */
const namesFile = (process: NamesPlaces): Check[] => {
  if (baseFolderIfNamed(process, 'XDG_CONFIG_HOME') === null) return []
  try {
    const { length } = readNames(namesPath(process))
    return length === 0 ? [] : [ok('names of states', `${length} in ${namesPath(process)}`)]
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return [problem('names of states', error.message, error.next ?? 'sallyport at list')]
  }
}

/** STATE of a directory, or the failure that it is read with. */
const stateFileOf = (dir: string): StateFile | SallyportError => {
  try {
    return readStateFile(nodeFiles, placesOf(dir).state)
  } catch (error) {
    if (error instanceof SallyportError) return error
    throw error
  }
}

/** Why there is no state that can be read; null where there is one. */
const stateFailure = (dir: string): SallyportError['kind'] | null => {
  const found = stateFileOf(dir)
  return found instanceof SallyportError ? found.kind : null
}

const privateFile = (name: string, path: string, whenMissing: string): Check => {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode
  if (mode === undefined) return problem(name, `none at ${path}`, whenMissing)
  return (mode & 0o077) === 0
    ? ok(name, path)
    : problem(
      name, `${path} has mode ${(mode & 0o777).toString(8)}; others can use it`,
      `chmod 600 ${shellWord(path)}`,
    )
}

const privateFolder = (name: string, dir: string): Check => {
  const mode = statSync(dir).mode & 0o777
  if ((mode & 0o077) === 0 && writable(dir)) return ok(name, dir)
  return (mode & 0o077) === 0
    ? problem(name, `${dir} cannot be written to`, 'Run as the owner of the folder.')
    : problem(name, `${dir} has mode ${mode.toString(8)}; others can enter`,
      `chmod 700 ${shellWord(dir)}`)
}

const nearestFolder = (dir: string): string => {
  const facts = statSync(dir, { throwIfNoEntry: false })
  return facts?.isDirectory() === true || dirname(dir) === dir ? dir : nearestFolder(dirname(dir))
}

const writable = (dir: string): boolean => {
  try {
    accessSync(dir, constants.W_OK)
    return true
  } catch {
    return false
  }
}

// 1 January 2025: this program did not exist before.
const earliestMs = Date.UTC(2025, 0, 1)

const clock = (deps: Machine): Check => {
  const now = deps.clock.wallMs()
  if (now >= earliestMs) return ok('clock', new Date(now).toISOString())
  return problem('clock', 'stands before 2025', 'Set the clock; sessions depend on it.')
}

/** Variables that change whom other programs reach or trust, and nothing here. */
const ignoredNames = [
  'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE',
  'SSL_CERT_DIR', 'NODE_TLS_REJECT_UNAUTHORIZED',
]

const environment = ({ env, execArgv }: Machine): Check => {
  const leaky = leakyRuntime(env, execArgv)
  if (leaky !== null) {
    return problem(
      'environment', `${leaky} would print requests and replies; nothing will be contacted`,
      `Run without ${leaky}.`,
    )
  }
  const ignored = ignoredNames.filter((name) => env[name])
  return ignored.length === 0
    ? ok('environment', 'nothing that leaks or is ignored')
    : note('environment', `${ignored.join(', ')} ${ignored.length === 1 ? 'has' : 'have'} no effect`
      + ' here', 'sallyport help environment')
}
