/** Runs lines of the demo as a person would type them, and shows what each answered. */
import { Readable } from 'node:stream'
import { fail } from '../../../base/errors.js'
import { isSettingVariable } from '../../../shots/constants.js'
import type { VerbDeps } from '../../verb.js'
import { wrapText } from '../../wrap.js'

interface Line {
  /** What a person wants with it. */
  readonly say: string
  readonly argv: readonly string[]
  readonly stdin?: string
  /** The exit status that this line must have. */
  readonly status?: number
  /** Shows so many lines of the answer, and says how many more there are. */
  readonly head?: number
}

interface Answered {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Where the demo's lines run. */
export interface Stage {
  /** Runs a line and shows it; a status that was not expected ends the demo. */
  play(line: Line): Promise<Answered>
  /** Begins a line that goes on until it is ended, and shows what it says once it is there. */
  begin(line: Line): Promise<{ end(): Promise<void> }>
  /** Runs a line without showing it, and gives its document. */
  ask(argv: readonly string[]): Promise<unknown>
  /** Says something, broken into lines. */
  say(text: string): void
}

const shown = (line: Line): string => {
  const words = line.argv.map((word) => (/^[\w./:@=-]+$/.test(word) ? word : `'${word}'`))
  const command = `sallyport ${words.join(' ')}`
  return line.stdin === undefined ? `$ ${command}` : `$ printf '${line.stdin}' | ${command}`
}

/** Columns of a pipe. */
const columns = 80

const indent = (text: string, head = Infinity): string => {
  const lines = text.split('\n').filter((one) => one !== '')
  const more = lines.length - head
  return [...lines.slice(0, head), ...(more > 0 ? [`(and ${more} lines more)`] : [])]
    .map((one) => `    ${one}\n`).join('')
}

/** Breaks words into lines of the screen. */
const broken = (text: string): string => text.split(' ').reduce((before, word) => {
  const width = before.length - (before.lastIndexOf('\n') + 1)
  if (width === 0) return before + word
  return width + 1 + word.length > columns ? `${before}\n${word}` : `${before} ${word}`
}, '')

type Said = Omit<Answered, 'status'>

/** Starts what goes on; resolves with what it said first, or with its end where that is sooner. */
const beginning = async (
  start: (stop: AbortSignal, told: (got: Said) => void) => Promise<Answered>,
): Promise<{ readonly got: Said; end(): Promise<void> }> => {
  const stopping = new AbortController()
  let running: Promise<Answered> | null = null
  const got = await new Promise<Said>((resolve, reject) => {
    // What is said at once comes in several pieces.
    running = start(stopping.signal, (said) => void setImmediate(() => resolve(said)))
    running.then(resolve, reject)
  })
  return {
    got,
    end: async () => {
      stopping.abort()
      await running
    },
  }
}

/** Opens a state and logs in: what every scene begins with. */
export const enter = async (stage: Stage, profileFile: string): Promise<void> => {
  await stage.play({
    say: 'Make a state directory for the sandbox. The profile is sealed for good.',
    argv: ['init', '--owner', 'demo', '--profile', profileFile],
  })
  await stage.play({ say: 'Log in: this opens a session that ends by itself.', argv: ['login'] })
}

/** Where a stage's state lies, and what is of its device. */
interface StageFolders {
  readonly stateDir: string
  readonly configDir: string
  readonly device?: string
}

interface Course {
  readonly stop?: AbortSignal
  /** Called with each piece of what it says. */
  readonly told?: (got: Said) => void
}

type RunLine = (argv: readonly string[], stdin?: string, course?: Course) => Promise<Answered>

/** The environment without settings of screenshots: a demo touches no picture of anybody. */
const withoutSettings = (env: VerbDeps['env']): VerbDeps['env'] =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !isSettingVariable(name)))

const runnerAt = (deps: VerbDeps, folders: StageFolders): RunLine =>
  async (argv, stdin = '', { stop = deps.stop, told } = {}) => {
    const got = { stdout: '', stderr: '' }
    const status = await deps.again({
      ...deps,
      argv,
      stop,
      env: {
        ...withoutSettings(deps.env),
        SALLYPORT_AT: undefined,
        SALLYPORT_STATE_DIR: folders.stateDir,
        SALLYPORT_CONFIG_DIR: folders.configDir,
        SALLYPORT_EDGE_DIR: folders.device,
        SALLYPORT_SESSION: undefined,
      },
      io: {
        ...deps.io,
        terminal: { stdin: false, stdout: false, stderr: false },
        columns,
        rows: 24,
        writeOut: (data) => { got.stdout += Buffer.from(data).toString('utf8') },
        writeErr: (text) => {
          got.stderr += text
          told?.(got)
        },
        stdin: () => Readable.from([Buffer.from(stdin)]),
        streams: (color) => deps.io.streams(color),
      },
    })
    return { status, ...got }
  }

/** A stage over a state and a key folder of its own. */
export const openStage = (deps: VerbDeps, folders: StageFolders): Stage => {
  const run = runnerAt(deps, folders)
  const { view, io, globals } = deps
  // With --json the document has stdout for itself.
  const write = (text: string): void =>
    globals.json ? io.writeErr(text) : io.writeOut(text)
  const fitted = (text: string): string => (view.terminal ? wrapText(text, view.columns) : text)
  const said = (text: string): string => (view.terminal ? fitted(text) : broken(text))
  const announce = (line: Line): void => write(
    `\n${view.paint('bold', said(line.say))}\n${view.paint('green', fitted(shown(line)))}\n`)
  const show = ({ stdout, stderr }: Said, head?: number): void =>
    write(fitted(indent(stdout, head)) + view.paint('dim', fitted(indent(stderr))))
  return {
    async begin(line) {
      announce(line)
      const { got, end } = await beginning((stop, told) => run(line.argv, '', { stop, told }))
      show(got)
      return { end }
    },
    async play(line) {
      announce(line)
      const answered = await run(line.argv, line.stdin)
      show(answered, line.head)
      const expected = line.status ?? 0
      if (answered.status !== 0) write(`    exit status ${answered.status}\n`)
      if (answered.status === expected) return answered
      throw fail.failed(
        'demo_step_failed',
        `A step of the demo ended with status ${answered.status}, not ${expected}.`,
      )
    },
    async ask(argv) {
      const answered = await run([...argv, '--json'])
      if (answered.status === 0) return JSON.parse(answered.stdout) as unknown
      throw fail.failed('demo_step_failed', 'A look-up of the demo failed.')
    },
    say(text) {
      write(`${said(text)}\n`)
    },
  }
}
