/** The program on a pseudo-terminal of 80 columns, which script(1) makes, and keys to type. */
import { spawn, spawnSync } from 'node:child_process'
import { stripVTControlCharacters } from 'node:util'
import { join } from 'node:path'
import type { Test } from 'tap'
import { builtApp } from '../../world/process.js'
import type { Placed } from '../../world/world.js'
import { patienceMs } from '../speed.js'

const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0

/** Why a test that needs a pseudo-terminal is skipped; false where it is not. */
export const needsScript = hasScript ? false : 'needs the program script'

/** Columns of the terminal. */
export const columns = 80

/** Keys as a terminal sends them. */
export const keys = {
  enter: '\r', up: '\u001b[A', down: '\u001b[B', space: ' ', interrupt: '\u0003',
} as const

/** What is typed once a text stands on the terminal. */
export interface Step {
  readonly at: string
  readonly keys: string
  /** What happens while the person thinks. */
  readonly meanwhile?: () => Promise<unknown>
}

/** How a dialogue ended. */
export interface Ended {
  readonly status: number | null
  /** Everything that was drawn. */
  readonly drawn: string
  /** The same without colours and movements of the cursor. */
  readonly shown: string
  /** Lines of the terminal, each redrawing a line of its own. */
  readonly lines: readonly string[]
}

const movement = /\u001b\[[0-9;?]*[A-Za-ln-z]/g

const linesOf = (drawn: string): readonly string[] =>
  drawn.replace(movement, '\n').split(/[\r\n]+/).map((line) => stripVTControlCharacters(line))

/**
 * Runs a line of the program there. The steps are gone through in order; when there are no more,
 * whatever is drawn is answered with Enter until the program ends.
 */
export const converse = async (
  t: Test, placed: Placed, words: string, steps: readonly Step[] = [], width = columns,
): Promise<Ended> => {
  const program = `'${process.execPath}' '${join(await builtApp(), 'sallyport.js')}'`
  return converseWith(t, placed, `${program} ${words}`, steps, width)
}

/** The same with whatever a shell can run, a shell for example. */
export const converseWith = async (
  t: Test, { place }: Placed, command: string, steps: readonly Step[] = [], width = columns,
): Promise<Ended> => {
  const line = `stty cols ${width} rows 24; exec ${command}`
  const terminal = spawn('script', ['-qec', line, '/dev/null'], {
    cwd: place.cwd, env: { ...place.env, SHELL: '/bin/sh', TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  t.teardown(() => { terminal.kill('SIGKILL') })
  terminal.stdin.on('error', () => undefined)
  const left = [...steps]
  let [drawn, from, isBusy] = ['', 0, false]
  const answer = async (): Promise<void> => {
    const [step] = left
    if (step === undefined) return void terminal.stdin.write(keys.enter)
    const fresh = stripVTControlCharacters(drawn.slice(from))
    if (isBusy || !fresh.includes(step.at)) return
    isBusy = true
    await step.meanwhile?.()
    left.shift()
    from = drawn.length
    isBusy = false
    terminal.stdin.write(step.keys)
  }
  terminal.stdout.on('data', (chunk: Buffer) => {
    drawn += chunk.toString('utf8')
    void answer()
  })
  // A question that is never put ends the program; nothing is told by how long anything took.
  const guard = setTimeout(() => terminal.kill('SIGKILL'), patienceMs())
  const status = await new Promise<number | null>((resolve) => terminal.on('close', resolve))
  clearTimeout(guard)
  t.strictSame(left.map(({ at }) => at), [], 'every question was put')
  return { status, drawn, shown: stripVTControlCharacters(drawn), lines: linesOf(drawn) }
}
