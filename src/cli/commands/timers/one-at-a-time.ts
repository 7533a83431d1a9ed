/** One change of the timers of this user at a time, whatever state directory they are of. */
import { mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fail, SallyportError } from '../../../base/errors.js'
import { baseFolder } from '../../../base/user-folders.js'
import { fileLock, takeLock } from '../../../state/lock.js'
import type { VerbDeps } from '../../verb.js'
import { stopped } from './host.js'

/** A user has one crontab: the place is that of the user, whatever a shell exports. */
const lockPath = ({ home }: VerbDeps): string =>
  join(baseFolder({ env: {}, home }, 'XDG_CACHE_HOME'), 'sallyport/timers.lock')

const refusalOf = (error: SallyportError): SallyportError | null => {
  if (error.kind === 'cancelled') return stopped(error)
  if (error.kind !== 'locked') return null
  return fail.locked('timers_locked', 'Another process changes the timers of this user.', {
    next: 'Try again, or wait longer with --wait SECONDS.', cause: error,
  })
}

/**
 * Runs `change` while no other process of this program reads and writes the crontab: the one that
 * writes last would bring back what the other took out. Where no lock can be had, it runs without:
 * timers must be removable from a disk that is full. Throws `locked` `timers_locked`, `cancelled`
 * `timers_stopped`.
 */
export const oneAtATime = async <T>(
  deps: VerbDeps, verb: string, change: () => Promise<T>,
): Promise<T> => {
  const path = lockPath(deps)
  const lock = fileLock(path, deps.clock)
  const { clock, stop, globals: { waitMs } } = deps
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    await takeLock(lock, verb, { waitMs, clock, signal: stop })
  } catch (error) {
    const refused = error instanceof SallyportError ? refusalOf(error) : null
    if (refused !== null) throw refused
  }
  try {
    return await change()
  } finally {
    lock.close()
  }
}
