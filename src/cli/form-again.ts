/** A form that got a No at its end: nobody types all of it anew to change one answer. */
import { isDeepStrictEqual } from 'node:util'
import { SallyportError } from '../base/errors.js'
import type { Prompter } from './prompt.js'

/** What was answered, by the question and how often it had been put. */
type Answers = ReadonlyMap<string, string>

/** What a question says of Enter alone, where that takes something else by now. */
const ofEnter = / ?\([^()]*Enter[^()]*\)/

/**
 * A prompter that offers under Enter what was answered `before`, and notes in `now` what is
 * answered. A yes or no and what is marked start unchecked each time.
 */
const remembering = (prompter: Prompter, before: Answers, now: Map<string, string>): Prompter => {
  const noting = async (
    message: string, ask: (last: string | undefined) => Promise<string>,
  ): Promise<string> => {
    let times = 0
    while (now.has(`${message}${times}`)) times += 1
    const answer = await ask(before.get(`${message}${times}`) || undefined)
    now.set(`${message}${times}`, answer)
    return answer
  }
  return {
    ...prompter,
    text: (message, initial, problem) => noting(message, (last) => (last === undefined
      ? prompter.text(message, initial, problem)
      : prompter.text(message.replace(ofEnter, ''), last, problem))),
    secret: (message, problem) => noting(message, async (last) => {
      if (last === undefined) return prompter.secret(message, problem)
      const asked = message.replace(ofEnter, '')
        .replace(/:$/, ' (Enter keeps what you typed; a space clears it):')
      const isBlank = (text: string): boolean => text.trim() === ''
      const given = await prompter.secret(asked, (text) =>
        (text === '' ? null : problem?.(isBlank(text) ? '' : text) ?? null))
      if (given === '') return last
      return isBlank(given) ? '' : given
    }),
    choose: (message, choices, initial) => noting(message, (last) => prompter.choose(
      message, choices, last !== undefined && choices.includes(last) ? last : initial)),
  }
}

const [back, leave] = ['change an answer', 'leave without saving']

/**
 * Fills a form in until its change is agreed to. After a No the person goes back to its questions,
 * each with their own answer under Enter, or leaves: then the No is thrown. Nothing is saved by
 * going back: `fill` asks for its yes again.
 */
export const untilAgreed = async <T>(
  prompter: Prompter, fill: (prompter: Prompter) => Promise<T>,
): Promise<T> => {
  let before: Answers = new Map()
  for (;;) {
    const now = new Map<string, string>()
    try {
      return await fill(remembering(prompter, before, now))
    } catch (error) {
      const isNo = error instanceof SallyportError && error.code === 'declined'
      if (!isNo || now.size === 0) throw error
      // Who changed nothing on the way back is led out: Enter alone comes to an end.
      const first = isDeepStrictEqual(before, now) ? leave : back
      const chosen = await prompter.choose('Nothing was changed.', [back, leave], first)
      if (chosen !== back) throw error
      before = now
    }
  }
}
