/**
 * A stand-in for launchctl and the launchd behind it, as a program: `launchctl.js FOLDER WORD…`.
 * What it refuses, and by which status, is what the manual pages and `launchctl error` say; it also
 * refuses what launchd only frowns upon (a label that is not the name of its file). What is loaded
 * lies in FOLDER/loaded.json: a copy of the list, as launchd keeps it, whatever comes of the file.
 */
import { spawnSync } from 'node:child_process'
import {
  closeSync, existsSync, openSync, readFileSync, statSync, writeFileSync,
} from 'node:fs'
import { basename, join } from 'node:path'

/** What is kept of a loaded agent. */
interface Loaded {
  readonly path: string
  readonly list: Readonly<Record<string, unknown>>
  runs: number
  exit: number | null
  signal: string | null
  /** Looks that still see it after it was taken out, because a run comes to its end. */
  ending: number | null
}

const [folder = '', verb = '', target = '', path = ''] = process.argv.slice(2)
const told = join(folder, 'loaded.json')
const loaded = (existsSync(told) ? JSON.parse(readFileSync(told, 'utf8')) : {}) as
  Record<string, Loaded>
const keep = (): void => writeFileSync(told, JSON.stringify(loaded))

const end = (status: number, text: string): never => {
  process.stderr.write(`${text}\n`)
  process.exit(status)
}
const failed = (status: number, reason: string): never =>
  end(status, `${verb === 'bootout' ? 'Boot-out' : 'Bootstrap'} failed: ${status}: ${reason}`)

const user = process.env['LAUNCHCTL_UID'] ?? '1000'
const [domain, uid, label = ''] = target.split('/')
const [failing, status] = (process.env['LAUNCHCTL_FAILS'] ?? '').split('=')
if (failing === verb) failed(Number(status), 'as the test says')
const [killed, which] = (process.env['LAUNCHCTL_KILLS'] ?? '').split('#')
if (killed === verb && (which === undefined || label.endsWith(which) || path.includes(which))) {
  process.kill(process.ppid, 'SIGKILL')
  process.exit(1)
}
if (domain !== 'gui' || process.env['LAUNCHCTL_DOMAIN'] === 'none') {
  failed(125, 'Domain does not support specified action')
}
if (uid !== user) failed(112, 'Could not find specified domain')

/** Whether others may write a file, or it is not the user's own. */
const isOpen = (file: string): boolean => {
  const { mode, uid: owner } = statSync(file)
  return (mode & 0o022) !== 0 || ![0, process.getuid?.()].includes(owner)
}

const listAt = async (file: string): Promise<Readonly<Record<string, unknown>>> => {
  const { parse } = await import('plist')
  const invalid = (): never => failed(109, 'Invalid property list')
  // The reader tells the console what it stumbles over, and may go on.
  Object.assign(console, { error: invalid, warn: invalid })
  try {
    const list: unknown = parse(readFileSync(file, 'utf8'))
    return typeof list === 'object' && list !== null && !Array.isArray(list)
      ? list as Readonly<Record<string, unknown>> : invalid()
  } catch {
    return invalid()
  }
}

const bootstrap = async (): Promise<void> => {
  if (!path.startsWith('/') || !existsSync(path)) failed(2, 'No such file or directory')
  if (isOpen(path)) failed(122, 'Path had bad ownership/permissions')
  const list = await listAt(path)
  const { Label: name, ProgramArguments: words } = list
  if (typeof name !== 'string') failed(110, 'Invalid or missing service identifier')
  if (`${String(name)}.plist` !== basename(path)) failed(110, 'The label is not the file’s name')
  if (!Array.isArray(words) || words.some((word) => typeof word !== 'string')
    || !String(words[0]).startsWith('/')) {
    failed(111, 'Invalid or missing Program/ProgramArguments')
  }
  if (existsSync(join(folder, `disabled-${String(name)}`))) failed(119, 'Service is disabled')
  // Older ones say 37, newer ones 5.
  if (String(name) in loaded) failed(5, 'Input/output error')
  loaded[String(name)] = { path, list, runs: 0, exit: null, signal: null, ending: null }
  keep()
}

const found = (): Loaded => loaded[label]
  ?? end(113, `Bad request.\nCould not find service "${label}" in domain for user gui: ${user}`)

const bootout = (): void => {
  const agent = loaded[label]
  if (agent === undefined) return failed(3, 'No such process')
  const looks = Number(process.env['LAUNCHCTL_ENDING'] ?? 0)
  if (looks === 0) delete loaded[label]
  else agent.ending = looks
  keep()
  if (looks > 0) failed(36, 'Operation now in progress')
}

const print = (): void => {
  const { ending, path: file, runs, exit, signal } = found()
  if (ending !== null) {
    if (ending <= 1) delete loaded[label]
    else Object.assign(loaded[label] ?? {}, { ending: ending - 1 })
    keep()
  }
  const ended = exit === null ? '(never exited)' : exit === 78 ? '78: EX_CONFIG' : String(exit)
  process.stdout.write([
    `${target} = {`, '\tactive count = 0', `\tpath = ${file}`, '\ttype = LaunchAgent',
    `\tstate = ${ending === null ? 'not running' : 'running'}`, '',
    '\tendpoints = {', '\t\tstate = running', '\t\truns = 99', '\t}', '',
    `\truns = ${runs}`,
    signal === null ? `\tlast exit code = ${ended}` : `\tlast terminating signal = ${signal}`,
    '}', '',
  ].join('\n'))
}

/** Runs it once, to its end, with what launchd gives a program: next to nothing. */
const kickstart = (): void => {
  const agent = found()
  const { ProgramArguments: words, EnvironmentVariables: more, ...list } = agent.list as {
    readonly ProgramArguments: readonly string[]
    readonly EnvironmentVariables?: Readonly<Record<string, string>>
    readonly StandardOutPath: string
    readonly StandardErrorPath: string
    readonly Umask?: number
  }
  agent.runs += 1
  try {
    process.umask(list.Umask ?? 0o022)
    // It makes no folder for a log: a program whose log cannot be opened is not started.
    const streams = [list.StandardOutPath, list.StandardErrorPath].map((at) => openSync(at, 'a'))
    const { HOME, NODE_OPTIONS } = process.env
    const ran = spawnSync(words[0] ?? '', words.slice(1), {
      cwd: '/', stdio: ['ignore', ...streams],
      env: { HOME, NODE_OPTIONS, PATH: '/usr/bin:/bin:/usr/sbin:/sbin', ...more },
    })
    for (const stream of streams) closeSync(stream)
    if (ran.error !== undefined) throw ran.error
    agent.exit = ran.status
    agent.signal = ran.signal === null ? null : `${ran.signal}: 9`
  } catch {
    agent.exit = 78
  }
  keep()
}

const verbs: Readonly<Record<string, () => void | Promise<void>>> = {
  bootstrap, bootout, print, kickstart,
}
await (verbs[verb] ?? (() => end(64, 'Unrecognized subcommand')))()
