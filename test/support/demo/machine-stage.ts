/** Runs lines of a demo on several machines, each with a home of its own, and shows them. */
import { SallyportError } from '../../../src/base/errors.js'
import type { Stage } from '../../../src/cli/commands/demo/stage.js'
import type { Place, Ran } from '../../world/place.js'

/** Columns of the screen that the demo is written for. */
const columns = 80

/** Words of a command, broken so that it pastes. */
const commandText = (words: readonly string[]): string => words.reduce((text, word) => {
  const width = text.length - (text.lastIndexOf('\n') + 1)
  return width + 1 + word.length > columns - 2 ? `${text} \\\n    ${word}` : `${text} ${word}`
})

/** A sentence, broken into lines. */
const broken = (text: string): string => text.split(' ').reduce((before, word) => {
  const width = before.length - (before.lastIndexOf('\n') + 1)
  return width + 1 + word.length > columns ? `${before}\n${word}` : `${before} ${word}`
})

/** So many lines of an answer, its first or its last ones. */
interface Part {
  readonly head?: number
  readonly last?: number
}

const indented = (text: string, { head, last }: Part = {}): string => {
  const lines = text.split('\n').filter((line) => line !== '')
  const kept = last === undefined ? lines.slice(0, head) : lines.slice(-last)
  const more = lines.length - kept.length
  const left = more === 0 || last !== undefined ? [] : [`(and ${more} lines more)`]
  return [...kept, ...left].map((line) => `    ${line}\n`).join('')
}

/** A line that has begun. */
interface Begun {
  /** Shows what it said once it has ended; it has to end with this status. */
  end(status: number): Promise<Ran>
}

/** A stage whose lines are typed on one machine. */
export interface MachineStage extends Pick<Stage, 'ask' | 'say'> {
  readonly place: Place
  /** As that of a stage; gives what it answered. */
  play(line: Parameters<Stage['play']>[0] & Part): Promise<Ran>
  /** Types a line and leaves it running. */
  begin(line: { readonly say: string; readonly argv: readonly string[] }): Begun
}

const quoted = (word: string): string => (/^[\w./:@=-]+$/.test(word) ? word : `'${word}'`)

const requireStatus = (ran: Ran, status: number): Ran => {
  if (ran.status === status) return ran
  throw new SallyportError({
    kind: 'failed', code: 'demo_step_failed',
    message: `A step of the demo ended with status ${ran.status}: ${ran.stderr}`,
  })
}

/** The stage of the machine of that name. */
export const stageOn = (
  name: string, place: Place, write: (text: string) => void,
): MachineStage => {
  const typed = (say: string, argv: readonly string[], stdin?: string): void => {
    const words = [`${name}$`, ...(stdin === undefined ? [] : ['printf', quoted(stdin), '|']),
      'sallyport', ...argv.map(quoted)]
    write(`\n${broken(say)}\n${commandText(words)}\n`)
  }
  const shown = (ran: Ran, status: number, part: Part = {}): Ran => {
    write(indented(ran.stdout, part) + indented(ran.stderr))
    if (ran.status !== 0) write(`    exit status ${ran.status}\n`)
    return requireStatus(ran, status)
  }
  return {
    place,
    say: (text) => write(`${broken(text)}\n`),
    async ask(argv) {
      const ran = requireStatus(await place.spawn([...argv, '--json']), 0)
      return JSON.parse(ran.stdout) as unknown
    },
    async play({ say, argv, stdin, status = 0, ...part }) {
      typed(say, argv, stdin)
      const ran = await place.spawn(argv, stdin === undefined ? {} : { stdin })
      return shown(ran, status, part)
    },
    begin({ say, argv }) {
      typed(say, argv)
      const running = place.spawn(argv)
      return { end: async (status) => shown(await running, status) }
    },
  }
}
