/** A change of which nobody says whether it came to be, or that came to be and is not here yet. */
import { fail, type SallyportError } from '../../base/errors.js'

/** `partial` `commit_unknown`. */
export const commitUnknown = (cause: unknown): SallyportError =>
  fail.partial('commit_unknown', 'Nobody answered whether a change of the state came to be.', {
    next: 'Look at the state again once its place can be reached.', cause,
  })
