import { fail } from '../base/errors.js'
import type { VerbDeps } from './verb.js'
import type { Prompter } from './prompt.js'

const undecided = 'not now'

/** What a No ends with. */
export const declined = (): Error => fail.cancelled('declined', 'Declined; nothing was changed.')

/** A yes or no that starts unchecked; returns on yes. Throws `cancelled` `declined`. */
export const requireYes = async (prompter: Prompter, question: string): Promise<void> => {
  if (!(await prompter.confirm(question))) throw declined()
}

/** One of several verdicts, asked of a person; Enter alone decides nothing. Throws `cancelled`. */
export const askVerdict = async <V extends string>(
  deps: VerbDeps, verdicts: readonly V[],
): Promise<V> => {
  const prompter = await deps.ask(`Give one of --${verdicts.join(', --')}.`)
  const chosen = await prompter.choose('Verdict:', [undecided, ...verdicts], undecided)
  const verdict = verdicts.find((one) => one === chosen)
  if (verdict === undefined) throw declined()
  return verdict
}
