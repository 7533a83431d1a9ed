/** What is told beside the result, and what has to be seen before anybody answers a question. */
import { fail } from '../base/errors.js'
import type { Io } from './io.js'
import { wrapBeside } from './output.js'
import type { Prompter } from './prompt.js'

/** Lines beside the result, on stderr. */
export interface Notes {
  note(line: string): void
  /** The same prompter, which asks nothing before everything that was noted is shown. */
  asking(prompter: Prompter): Prompter
}

const notShown = (error: unknown) =>
  fail.failed('words_not_shown', 'What is asked about could not be shown, so nobody was asked.', {
    next: 'Run it where standard error can be written.', cause: error,
  })

/**
 * With `quiet`, lines wait until a question comes, and go unsaid where none does: a yes to words
 * that nobody saw is none. A line that cannot be written changes nothing of what was done;
 * only a question behind it is not asked then (`failed` `words_not_shown`).
 */
export const notesOn = (io: Io, quiet: boolean): Notes => {
  const unseen: string[] = []
  const write = (line: string): void => io.writeErr(`${wrapBeside(io, line)}\n`)
  const show = (): void => {
    try {
      for (const line of unseen) write(line)
    } catch (error) {
      throw notShown(error)
    }
    unseen.length = 0
  }
  return {
    note(line) {
      if (quiet) return void unseen.push(line)
      try {
        write(line)
      } catch {
        unseen.push(line)
      }
    },
    asking: (prompter) => ({
      confirm: async (...asked) => (show(), prompter.confirm(...asked)),
      text: async (...asked) => (show(), prompter.text(...asked)),
      secret: async (...asked) => (show(), prompter.secret(...asked)),
      choose: async (...asked) => (show(), prompter.choose(...asked)),
      pick: async (...asked) => (show(), prompter.pick(...asked)),
    }),
  }
}
