/** Signals to processes that may have ended between the look at them and the signal. */
import { errnoOf } from '../../src/base/errno.js'

/**
 * Sends a signal to a process, or to a group by its negative number.
 * @returns false where there is no such process any more
 * @throws the system's own error for whatever else keeps it from being sent
 */
export const signalled = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if (errnoOf(error) === 'ESRCH') return false
    throw error
  }
}
