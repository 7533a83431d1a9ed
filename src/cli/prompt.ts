/** Questions to a person, through inquirer, loaded at the first one. */
import type { Io } from './io.js'

/** Asks at the terminal. Each call rejects as cancelled when the person leaves with Ctrl-C. */
export interface Prompter {
  /** A yes or no; Enter alone means no. */
  confirm(message: string): Promise<boolean>
  /** One line; Enter alone takes `initial`. */
  text(message: string, initial?: string): Promise<string>
  /** One line that is not shown. */
  secret(message: string): Promise<string>
  /** One of a few values. */
  choose(message: string, choices: readonly string[], initial?: string): Promise<string>
}

/** Asks on the process's own terminal. */
export const terminalPrompter = async (io: Io): Promise<Prompter> => {
  const { default: inquirer } = await import('inquirer')
  const { stdin, stdout } = io.streams()
  const prompt = inquirer.createPromptModule({ input: stdin, output: stdout })
  return {
    async confirm(message) {
      const answers = await prompt([{ type: 'confirm', name: 'it', message, default: false }])
      return answers.it
    },
    async text(message, initial) {
      const question = { type: 'input', name: 'it', message } as const
      const answers = await prompt([
        initial === undefined ? question : { ...question, default: initial },
      ])
      return answers.it
    },
    async secret(message) {
      const answers = await prompt([{ type: 'password', name: 'it', message, mask: false }])
      return answers.it
    },
    async choose(message, choices, initial) {
      const question = { type: 'select', name: 'it', message, choices: [...choices] } as const
      const answers = await prompt([
        initial === undefined ? question : { ...question, default: initial },
      ])
      return answers.it
    },
  }
}
