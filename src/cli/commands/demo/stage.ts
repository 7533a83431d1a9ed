/** Runs lines of the demo as a person would type them, and shows what each answered. */
import { Readable } from 'node:stream'
import { fail } from '../../../base/errors.js'
import type { VerbDeps } from '../../bound.js'

/** One line of the demo. */
export interface Line {
  /** What a person wants with it. */
  readonly say: string
  readonly argv: readonly string[]
  readonly stdin?: string
  /** The exit status that this line must have. */
  readonly status?: number
}

/** What a line answered. */
export interface Answered {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Where the demo's lines run. */
export interface Stage {
  /** Runs a line and shows it; a status that was not expected ends the demo. */
  play(line: Line): Promise<Answered>
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

/** A stage over a state and a key folder of its own. */
export const openStage = (
  deps: VerbDeps, folders: { readonly stateDir: string; readonly configDir: string },
): Stage => {
  const run = async (argv: readonly string[], stdin = ''): Promise<Answered> => {
    const got = { stdout: '', stderr: '' }
    const status = await deps.again({
      ...deps,
      argv,
      env: {
        ...deps.env,
        SALLYPORT_STATE_DIR: folders.stateDir,
        SALLYPORT_CONFIG_DIR: folders.configDir,
        SALLYPORT_SESSION: undefined,
      },
      io: {
        ...deps.io,
        terminal: { stdin: false, stdout: false, stderr: false },
        columns: 80,
        writeOut: (data) => { got.stdout += Buffer.from(data).toString('utf8') },
        writeErr: (text) => { got.stderr += text },
        stdin: () => Readable.from([Buffer.from(stdin)]),
        streams: () => deps.io.streams(),
      },
    })
    return { status, ...got }
  }
  return {
    async play(line) {
      const { view, io } = deps
      io.writeOut(`\n${view.paint('bold', line.say)}\n${view.paint('green', shown(line))}\n`)
      const answered = await run(line.argv, line.stdin)
      io.writeOut(indent(answered.stdout) + view.paint('dim', indent(answered.stderr)))
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
