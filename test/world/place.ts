/** A place of its own for one test, and two ways to run a line there. */
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../../src/base/clock.js'
import type { ErrorBody } from '../../src/base/outcome.js'
import type { CliDeps } from '../../src/cli/deps.js'
import type { CommandTable } from '../../src/cli/verb.js'
import { must } from '../support/must.js'

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

/** One answer to a prompt; a function is what happens while the person thinks. */
export type Answer = string | boolean | ((asked: string) => Promise<string | boolean>)

/** How to run a line in this process; everything has a default. */
export interface RunOptions {
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly stdin?: string | Uint8Array
  /** Which streams are terminals; none unless said. */
  readonly terminal?: { stdin?: boolean; stdout?: boolean; stderr?: boolean }
  readonly columns?: number
  readonly rows?: number
  /** Stands for the pager; none can be started unless said. */
  readonly page?: CliDeps['page']
  readonly clock?: Clock
  readonly execArgv?: readonly string[]
  /** Answers to prompts in order, booleans for confirmations. A missing one fails the run. */
  readonly answers?: readonly Answer[]
  /** Called at each step that a use case announces; what it throws ends the use case there. */
  readonly at?: (step: string) => void | Promise<void>
  /** Host names to addresses; unknown names are not found. */
  readonly hosts?: Readonly<Record<string, readonly string[]>>
  readonly stop?: AbortSignal
  /** Takes what the program would do at a second signal. */
  readonly onInsist?: CliDeps['onInsist']
  /** User and program; an ordinary user unless said. */
  readonly self?: CliDeps['self']
  /** The operating system; this one unless said. */
  readonly system?: CliDeps['system']
  /** Where the producer is found; the one of this run's build unless said. */
  readonly producer?: CliDeps['producer']
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
  /** Folder of another build than that of this run. */
  readonly app?: string
  /**
   * False for processes that are killed or counted in hundreds: no coverage is taken. Of the others
   * it is of the first of each verb. Where none is, the program is packed as the shipped one is.
   */
  readonly coverage?: boolean
  /** Sees the process as soon as it runs, to send signals. */
  readonly onChild?: (child: ChildProcess) => void
}

/** A place of its own for one test. */
export interface Place {
  readonly dir: string
  readonly stateDir: string
  readonly configDir: string
  /** Folder of a capture device. */
  readonly edgeDir: string
  /** Working folder of the runs. */
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  run(argv: readonly string[], options?: RunOptions): Promise<Ran>
  spawn(argv: readonly string[], options?: SpawnOptions): Promise<Ran>
  /** `run` with `--json`, which must succeed; gives the document. */
  json(argv: readonly string[], options?: RunOptions): Promise<Loose>
  /** A path in the working folder. */
  path(name: string): string
  /** Writes a file of the working folder and gives its path. */
  write(name: string, content: string | Uint8Array): string
}

/** Whatever can call something when a test is over: tap's `t`. */
export interface Teardown {
  teardown(done: () => Promise<void> | void): void
}

/** What holds for every run in a place. */
export interface PlaceOptions {
  /** The machine's own unless said. */
  readonly clock?: Clock
  /** Added to the environment of every run. */
  readonly env?: Readonly<Record<string, string>>
}

/** A folder that goes with the test. */
export const temporaryFolder = (t: Teardown): string => {
  const dir = mkdtempSync(join(tmpdir(), 'sallyport-'))
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Makes an empty place that is removed when the test is over. */
export const placeOf = (t: Teardown, { clock, env: more = {} }: PlaceOptions = {}): Place => {
  const dir = temporaryFolder(t)
  const cwd = join(dir, 'work')
  mkdirSync(cwd)
  const env = {
    HOME: join(dir, 'home'),
    SALLYPORT_STATE_DIR: join(dir, 'state'),
    SALLYPORT_CONFIG_DIR: join(dir, 'config'),
    SALLYPORT_EDGE_DIR: join(dir, 'edge'),
    XDG_DATA_HOME: join(dir, 'data'),
    PATH: process.env['PATH'] ?? '',
    ...more,
  }
  const place: Place = {
    dir, cwd, env,
    stateDir: env.SALLYPORT_STATE_DIR,
    configDir: env.SALLYPORT_CONFIG_DIR,
    edgeDir: env.SALLYPORT_EDGE_DIR,
    run: async (argv, options = {}) => {
      const { runHere } = await import('./program.js')
      return runHere(place, argv, clock === undefined ? options : { clock, ...options })
    },
    spawn: async (argv, options = {}) =>
      (await import('./process.js')).runSpawned(place, argv, options),
    json: async (argv, options) => must(await place.run([...argv, '--json'], options)).json(),
    path: (name) => join(cwd, name),
    write: (name, content) => {
      writeFileSync(place.path(name), content)
      return place.path(name)
    },
  }
  return place
}
