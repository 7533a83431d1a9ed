/** What a person does on the page: it goes before what the page asks by itself. */
import { ask, askBytes, ended, type Answer } from './asking.js'

let acts = 0
let onEnd: (answer: Answer | null) => void = () => undefined

/** How often a person did something: an answer that was asked for before is not shown. */
export const actsSoFar = (): number => acts

/** Says what is done where the session turns out to have ended. */
export const whenEnded = (then: (answer: Answer | null) => void): void => {
  onEnd = then
}

const heard = async (asking: Promise<Answer | null>): Promise<Answer | null> => {
  const answer = await asking
  if (ended(answer)) onEnd(answer)
  return answer
}

/** What a person did, and what came of it. */
export const act = (method: string, path: string, body?: unknown): Promise<Answer | null> => {
  acts += 1
  return heard(ask(method, path, body))
}

/** What a person looks at; it changes nothing of what else is shown. */
export const look = (path: string): Promise<Answer | null> => heard(ask('GET', path))

/** The same for bytes; see `askBytes`. */
export const lookBytes = (path: string): Promise<Answer | null> => heard(askBytes(path))
