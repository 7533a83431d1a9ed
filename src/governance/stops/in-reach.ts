/** A stop that was not recorded is in force for those alone who look where it lies. */
import { fail, type SallyportError } from '../../base/errors.js'
import type { Reached } from '../../state/holds/fence.js'
import type { StopBoard } from '../../state/stop-board.js'

const ofOtherFolder = (why: SallyportError): SallyportError =>
  fail.locked(
    'stop_out_of_reach',
    'The stop lies in a key folder without key and anchor of this state directory, and could not '
      + 'be recorded. Processes that use another key folder go on.',
    {
      reason: why.code,
      next: 'Run it again with the SALLYPORT_CONFIG_DIR (or HOME) of those processes.',
    },
  )

const ofThisMachine = (why: SallyportError | null): SallyportError =>
  fail.locked(
    'stop_out_of_reach',
    'The stop is in force on this machine. The other machines of this state were not reached and '
      + 'go on as long as they reach its server.',
    {
      ...(why === null ? {} : { reason: why.code }),
      next: 'Run it again when the server answers, or on a machine that reaches it. The next '
        + 'command that writes here carries the stop there.',
    },
  )

/**
 * Throws `locked` `stop_out_of_reach` where a stop that could not be recorded, for the reason
 * `why`, lies on no board that everybody looks at. Of a shared state also where it was recorded and
 * lies on none: nobody could look at what other machines were sending when it was put.
 */
export const requireInReach = (
  boards: readonly StopBoard[], why: SallyportError | null, isShared: boolean,
): void => {
  if (boards.some((board) => board.isInReach())) return
  if (isShared) throw ofThisMachine(why)
  if (why !== null) throw ofOtherFolder(why)
}

/**
 * Throws `locked` `stop_out_of_reach` where nobody could look at what other machines were sending
 * when it was put, also where it was recorded since.
 */
export const requireSeen = ({ unseen }: Pick<Reached, 'unseen'>): void => {
  if (unseen !== true) return
  throw fail.locked(
    'stop_out_of_reach',
    'It is in force. What other machines were sending before it could not be looked at.',
    { next: 'Run it again when the server answers: it looks again.' },
  )
}
