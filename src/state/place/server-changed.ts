/** A place that answers and is not the one that the state rests on. */
import { fail, type SallyportError } from '../../base/errors.js'

/** `conflict` `server_changed`. `reason`: `run`, `behind`, `other_history` or `store_missing`. */
export const serverChanged = (
  reason: 'run' | 'behind' | 'other_history' | 'store_missing',
): SallyportError =>
  fail.conflict('server_changed', 'This server is not the one that the state rests on.', {
    reason,
    next: 'It was promoted, restored or made anew: name the server that has every record.',
  })
