/**
 * Runs the program in tests. `sallyport()` gives a place of its own (state, keys, working folder)
 * and two ways to run a line there: `run` in this process with fakes, `spawn` as a real process of
 * the built bundle. Both give the status and everything that was written.
 */
import { spawn as spawnChild } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { safeParse } from 'valibot'
import { systemClock } from '../src/base/clock.js'
import type { Clock } from '../src/base/clock.js'
import type { Observer } from '../src/base/observer.js'
import type { ErrorBody } from '../src/base/outcome.js'
import { describingDeps } from '../src/cli/describing.js'
import type { CliDeps } from '../src/cli/deps.js'
import { main } from '../src/cli/main.js'
import { runCommand } from '../src/cli/run.js'
import { commands } from '../src/cli/commands/table.js'
import { nameOf } from '../src/cli/entry.js'
import type { CommandTable, VerbEntry } from '../src/cli/entry.js'
import { scanGlobals } from '../src/cli/globals.js'
import type { Prompter } from '../src/cli/prompt.js'
import { describeTree } from '../src/cli/tree.js'
import { outputOf } from '../src/cli/help/fields.js'
import type { DescribedVerb } from '../src/cli/tree.js'

/** Parsed JSON of a shape that only the test knows. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export type Loose = any

/** What a run wrote and how it ended. */
export interface Ran {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
  /** stdout, byte for byte. */
  readonly bytes: Buffer
  /** stdout as JSON. Throws when it is not. */
  json<T = Loose>(): T
  /** The error object of the last line of stderr. Throws when there is none. */
  error(): ErrorBody['error'] & { readonly details: Loose }
}

/** How to run a line in this process; everything has a default. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly stdin?: string | Uint8Array
  /** Which streams are terminals; none unless said. */
  readonly terminal?: { stdin?: boolean; stdout?: boolean; stderr?: boolean }
  readonly columns?: number
  readonly clock?: Clock
  readonly execArgv?: readonly string[]
  /** Answers to prompts in order, booleans for confirmations. A missing one fails the run. */
  readonly answers?: readonly (string | boolean)[]
  /** Called at each step that a use case announces; what it throws ends the use case there. */
  readonly at?: (step: string) => void | Promise<void>
  /** Host names to addresses; unknown names are not found. */
  readonly hosts?: Readonly<Record<string, readonly string[]>>
  readonly stop?: AbortSignal
  /** Takes what the program would do at a second signal. */
  readonly onInsist?: CliDeps['onInsist']
  /** Other commands than the program's own. */
  readonly commands?: CommandTable
}

/** How to run a line as a process. */
export interface SpawnOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly stdin?: string | Uint8Array
  /** `test` is test/entry.ts, which takes clocks, resolvers and failpoints from the environment. */
  readonly entry?: 'shipped' | 'test'
  readonly nodeArgs?: readonly string[]
  /**
   * False for processes that are killed or counted in hundreds: no coverage is taken, and the
   * program is packed as the shipped one is.
   */
  readonly coverage?: boolean
  /** Ends the process with SIGKILL after so many milliseconds (default 60,000). */
  readonly timeoutMs?: number
  /** Sees the process as soon as it runs, to send signals. */
  readonly onChild?: (child: ChildProcess) => void
}

/** A place of its own for one test. */
export interface Place {
  readonly dir: string
  readonly stateDir: string
  readonly configDir: string
  /** Working folder of the runs. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  run(argv: readonly string[], options?: RunOptions): Promise<Ran>
  spawn(argv: readonly string[], options?: SpawnOptions): Promise<Ran>
  /** A path in the working folder. */
  path(name: string): string
}

/** Whatever can call something when a test is over: tap's `t`. */
export interface Teardown {
  teardown(fn: () => void): void
}

/** Makes a place that is removed when the test is over. */
export const sallyport = (t: Teardown): Place => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const cwd = join(dir, 'work')
  mkdirSync(cwd)
  const env = {
    HOME: join(dir, 'home'),
    SALLYPORT_STATE_DIR: join(dir, 'state'),
    SALLYPORT_CONFIG_DIR: join(dir, 'config'),
    XDG_DATA_HOME: join(dir, 'data'),
    PATH: process.env['PATH'] ?? '',
  }
  const place: Place = {
    dir, cwd, env,
    stateDir: env.SALLYPORT_STATE_DIR,
    configDir: env.SALLYPORT_CONFIG_DIR,
    run: (argv, options = {}) => runHere(place, argv, options),
    spawn: (argv, options = {}) => runSpawned(place, argv, options),
    path: (name) => join(cwd, name),
  }
  return place
}

const runHere = async (
  place: Place, argv: readonly string[], options: RunOptions,
): Promise<Ran> => {
  const out: Buffer[] = []
  const err: string[] = []
  const terminal = { stdin: false, stdout: false, stderr: false, ...options.terminal }
  const deps: CliDeps = {
    argv,
    env: { ...place.env, ...options.env },
    execArgv: options.execArgv ?? [],
    cwd: place.cwd,
    home: place.env['HOME'] as string,
    clock: options.clock ?? systemClock,
    stop: options.stop ?? new AbortController().signal,
    onInsist: options.onInsist ?? (() => undefined),
    io: {
      terminal,
      columns: options.columns ?? 80,
      writeOut: (data) => void out.push(Buffer.from(data)),
      writeErr: (text) => void err.push(text),
      async *stdin() {
        if (options.stdin !== undefined) yield Buffer.from(options.stdin)
      },
      streams: () => ({
        stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(),
      }),
    },
    async resolve(host) {
      const addresses = { localhost: ['127.0.0.1'], ...options.hosts }[host]
      if (addresses === undefined) {
        throw Object.assign(new Error('not found'), { code: 'ENOTFOUND' })
      }
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
    prompter: async () => answering([...(options.answers ?? [])]),
    observe: (drawn) => watched(drawn, options.at),
  }
  const status =
    options.commands === undefined ? await main(deps) : await runCommand(deps, options.commands)
  const ran = result(status, Buffer.concat(out), err.join(''))
  if (argv.includes('--json') && options.commands === undefined) await requireShape(argv, ran)
  return ran
}

const watched = (drawn: Observer, at: RunOptions['at']): Observer =>
  at === undefined
    ? drawn
    : {
        async at(step) {
          await drawn.at(step)
          await at(step)
        },
      }

const answering = (answers: (string | boolean)[]): Prompter => {
  const next = (): string | boolean => {
    const answer = answers.shift()
    if (answer === undefined) throw new Error('a prompt has no answer in this test')
    return answer
  }
  return {
    confirm: async () => next() === true,
    text: async () => String(next()),
    secret: async () => String(next()),
    choose: async () => String(next()),
  }
}

let described: Promise<readonly DescribedVerb[]> | null = null

/** Every verb of the program. */
export const allVerbs = (): Promise<readonly DescribedVerb[]> =>
  (described ??= describeTree(describingDeps()))

/** The verb of a line. Only its own module is loaded: all of them take half a second. */
const entryOf = (argv: readonly string[]): VerbEntry | undefined => {
  const [first, second] = scanGlobals(argv).rest
  const entry = commands.find((one) => nameOf(one) === first)
  return entry === undefined || 'load' in entry
    ? entry : entry.verbs.find(({ verb }) => verb === second)
}

/** A JSON result has the shape that its verb declares, in every test that prints one. */
const requireShape = async (argv: readonly string[], ran: Ran): Promise<void> => {
  if (ran.stdout === '' || argv.includes('--help')) return
  const entry = entryOf(argv)
  if (entry === undefined) return
  const { meta } = (await entry.load()).build(describingDeps())
  const { json } = meta
  if (json === null) return
  const documents = json.lines === true
    ? ran.stdout.trimEnd().split('\n').map((line) => JSON.parse(line) as unknown) : [ran.json()]
  for (const document of documents) {
    const parsed = safeParse(outputOf(json), document)
    if (parsed.success) continue
    const [issue] = parsed.issues
    const path = issue.path?.map(({ key }) => String(key)).join('.') ?? ''
    throw new Error(`${meta.name} --json is not of its shape at ${path}: ${issue.message}`)
  }
}

const result = (status: number, bytes: Buffer, stderr: string): Ran => {
  const stdout = bytes.toString('utf8')
  return {
    status, stdout, stderr, bytes,
    json: () => JSON.parse(stdout),
    error: () => JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error,
  }
}

const spawnTimeoutMs = 60_000

const runSpawned = async (
  place: Place, argv: readonly string[], options: SpawnOptions,
): Promise<Ran> => {
  const entry = options.entry === 'test' ? 'test-entry.js' : 'sallyport.js'
  const script = join(await (options.coverage === false ? packedApp() : builtApp()), entry)
  const child = spawnChild(process.execPath, [...(options.nodeArgs ?? []), script, ...argv], {
    cwd: place.cwd,
    env: { ...place.env, ...coverageEnv(options), ...options.env },
    stdio: 'pipe',
  })
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => out.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => err.push(chunk))
  // A process that ends before it reads its stdin closes the pipe.
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.stdin ?? '')
  options.onChild?.(child)
  const timer = setTimeout(() => child.kill('SIGKILL'), options.timeoutMs ?? spawnTimeoutMs)
  const status = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve(code ?? signalStatus(signal)))
  })
  clearTimeout(timer)
  return result(status, Buffer.concat(out), Buffer.concat(err).toString('utf8'))
}

const coverageEnv = ({ coverage = true }: SpawnOptions): Record<string, string> => {
  const dir = process.env['SALLYPORT_COVERAGE_DIR']
  return coverage && dir !== undefined ? { NODE_V8_COVERAGE: dir } : {}
}

const signalStatus = (signal: NodeJS.Signals | null): number => {
  const numbers: Partial<Record<NodeJS.Signals, number>> = {
    SIGKILL: 137, SIGTERM: 143, SIGINT: 130,
  }
  return (signal === null ? undefined : numbers[signal]) ?? 1
}

/** Folder of the spawned bundles, built first where this test was not started by `npm test`. */
export const builtApp = async (): Promise<string> => {
  const folder = process.env['SALLYPORT_TEST_APP']
  if (folder !== undefined) return folder
  const tool = join(process.cwd(), 'scripts/tool/app.js')
  const { freshApp } = (await import(tool)) as { freshApp(): Promise<string> }
  return freshApp()
}

/** Folder of the spawned bundles that are packed like the shipped one, where there is one. */
const packedApp = async (): Promise<string> =>
  process.env['SALLYPORT_TEST_PACKED'] ?? await builtApp()

/**
 * A clock that stands still until it is moved. `sleep` moves it, so that nothing waits.
 * Begins at 2026-01-01T00:00:00Z unless told otherwise.
 */
export const fakeClock = (
  startMs = Date.UTC(2026, 0, 1),
): Clock & { advance(ms: number): void } => {
  let passed = 0
  return {
    wallMs: () => startMs + passed,
    monotonicMs: () => passed,
    async sleep(ms, signal) {
      signal?.throwIfAborted()
      passed += ms
    },
    advance: (ms) => void (passed += ms),
  }
}
