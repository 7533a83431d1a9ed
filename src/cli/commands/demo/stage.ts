/** Runs lines of the demo as a person would type them, and shows what each answered. */
import { Readable } from 'node:stream'
import { fail } from '../../../base/errors.js'
import type { VerbDeps } from '../../verb.js'

/** One line of the demo. */
interface Line {
  /** What a person wants with it. */
  readonly say: string
  readonly argv: readonly string[]
  readonly stdin?: string
  /** The exit status that this line must have. */
  readonly status?: number
}

/** What a line answered. */
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
  /** Runs a line without showing it, for ids that the next lines need. */
  ask(argv: readonly string[]): Promise<unknown>
}

const shown = (line: Line): string => {
  const words = line.argv.map((word) => (/^[\w./:@=-]+$/.test(word) ? word : `'${word}'`))
  const command = `sallyport ${words.join(' ')}`
  return line.stdin === undefined ? `$ ${command}` : `$ printf '${line.stdin}' | ${command}`
}

const indent = (text: string): string =>
  text.split('\n').filter((one) => one !== '').map((one) => `    ${one}\n`).join('')

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

/** A stage over a state and a key folder of its own. */
export const openStage = (
  deps: VerbDeps,
  folders: { readonly stateDir: string; readonly configDir: string; readonly device?: string },
): Stage => {
  const run = async (
    argv: readonly string[], stdin = '', { stop = deps.stop, told }: {
      readonly stop?: AbortSignal
      /** Called with each piece of what it says. */
      readonly told?: (got: Said) => void
    } = {},
  ): Promise<Answered> => {
    const got = { stdout: '', stderr: '' }
    const status = await deps.again({
      ...deps,
      argv,
      stop,
      env: {
        ...deps.env,
        SALLYPORT_STATE_DIR: folders.stateDir,
        SALLYPORT_CONFIG_DIR: folders.configDir,
        SALLYPORT_EDGE_DIR: folders.device,
        SALLYPORT_SESSION: undefined,
      },
      io: {
        ...deps.io,
        terminal: { stdin: false, stdout: false, stderr: false },
        columns: 80,
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
  const { view, io } = deps
  const announce = (line: Line): void =>
    io.writeOut(`\n${view.paint('bold', line.say)}\n${view.paint('green', shown(line))}\n`)
  const show = ({ stdout, stderr }: Said): void =>
    io.writeOut(indent(stdout) + view.paint('dim', indent(stderr)))
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
      show(answered)
      const expected = line.status ?? 0
      if (answered.status !== 0) io.writeOut(`    exit status ${answered.status}\n`)
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
  }
}
