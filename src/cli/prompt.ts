/** Questions to a person, through inquirer, loaded at the first one. */
import type { Io } from './io.js'
import { widthFor, wrapText } from './wrap.js'

/** What is wrong with an answer, told as soon as its field is left; null for a good one. */
type ProblemOf = (text: string) => string | null | Promise<string | null>

/** Asks at the terminal. Each call rejects as cancelled when the person leaves with Ctrl-C. */
export interface Prompter {
  /** A yes or no; Enter alone means no. */
  confirm(message: string): Promise<boolean>
  /**
   * One line; Enter alone takes `initial`. What `problem` says of it is told at once, and it is
   * asked again, until `problem` gives null.
   */
  text(message: string, initial?: string, problem?: ProblemOf): Promise<string>
  /** One line that is not shown; asked again as `text` is. */
  secret(message: string, problem?: ProblemOf): Promise<string>
  /** One of a few values. */
  choose(message: string, choices: readonly string[], initial?: string): Promise<string>
  /** Any of a few values, none of them marked beforehand: Enter alone picks nothing. */
  pick(message: string, choices: readonly string[]): Promise<readonly string[]>
}

/** Asks on the process's own terminal until `stop`, which rejects the open question. */
export const terminalPrompter = async (
  io: Io, color: boolean, stop: AbortSignal,
): Promise<Prompter> => {
  const { stdin, stdout } = io.streams(color)
  const { default: inquirer } = await import('inquirer')
  const prompt = inquirer.createPromptModule({ input: stdin, output: stdout, signal: stop })
  const fit = (text: string, mark: string, answer?: string) => fitted(io, text, mark, answer)
  const validated = (problem: ProblemOf | undefined) => async (text: string) => {
    const wrong = await problem?.(text) ?? null
    return wrong === null ? true : fit(wrong, '> ')
  }
  return {
    async confirm(message) {
      const { it } = await prompt<{ it: boolean }>([{
        type: 'confirm', name: 'it', message: await fit(message, '? ', ' (y/N) Yes'),
        default: false,
      }])
      return it
    },
    async text(message, initial = '', problem) {
      const question = {
        type: 'input', name: 'it', message: await fit(message, '? ', ` (${initial})`),
        validate: validated(problem),
      } as const
      const { it } = await prompt<{ it: string }>([withInitial(question, initial)])
      return it
    },
    async secret(message, problem) {
      const { it } = await prompt<{ it: string }>([{
        // A key would show it: whoever films, shares or looks at the screen must not read it.
        type: 'password', name: 'it', message: await fit(message, '? ', ' [input is masked]'),
        mask: false, toggleMask: false, validate: validated(problem),
      }])
      return it
    },
    async choose(message, choices, initial) {
      const question = {
        type: 'select', name: 'it', message: await fit(message, '? '),
        choices: await Promise.all(choices.map(async (value) =>
          ({ name: await fit(value, '> '), value, short: value }))),
      } as const
      const { it } = await prompt<{ it: string }>([withInitial(question, initial)])
      return it
    },
    async pick(message, choices) {
      const { it } = await prompt<{ it: string[] }>([{
        type: 'checkbox', name: 'it', message: await fit(message, '? '),
        // Once marked, what a choice says behind its colon is left out.
        choices: await Promise.all(choices.map(async (value) =>
          ({ name: await fit(value, '>o '), value, short: value.replace(/: .*/, '') }))),
      }])
      return it
    },
  }
}

/**
 * A text broken between its words, as wide as the terminal with what stands before and behind it:
 * inquirer itself breaks a line wherever it ends, within a word too.
 */
const fitted = async (io: Io, text: string, mark: string, answer = ''): Promise<string> => {
  const behind = '_'.repeat(Math.min(answer.length, Math.floor(io.columns / 2)))
  const broken = wrapText(mark + text + behind, io.columns, await widthFor(text))
  return broken.slice(mark.length, broken.length - behind.length)
}

const withInitial = <Q extends object>(question: Q, initial: string | undefined): Q =>
  initial === undefined ? question : { ...question, default: initial }
