/** One closure of a job at a time: identical retries wait, and one of them reads the host. */
import { systemClock } from '../../base/clock.js'
import { fail, SallyportError } from '../../base/errors.js'
import type { Guard } from '../../state/holds/guard.js'
import type { CodehostContext } from '../context.js'
import { closeCancelled } from './get.js'

const pauseMs = 20

const underWay = (jobId: string) => fail.locked(
  'closure_under_way', 'Another process works on closing the capacity of this job.', {
    next: `Try again: \`sallyport codehost close-capacity ${jobId} --retry\`.`,
    details: { job_id: jobId },
  },
)

const isHeldElsewhere = (error: unknown): boolean =>
  error instanceof SallyportError && error.code === 'guard_held'

/**
 * The guard of the closures of one job; whoever comes second waits for the first one's end, at most
 * the window of its own reads (milliseconds). Throws `locked` `closure_under_way` behind it, and
 * `cancelled` where the operator stops it meanwhile (C-191).
 */
export const holdClosureGuard = async (
  { gov, signal }: CodehostContext, jobId: string, windowMs: number,
): Promise<Guard> => {
  const endMs = performance.now() + windowMs
  for (;;) {
    try {
      return await gov.store.holds.hold('closure', jobId)
    } catch (error) {
      if (!isHeldElsewhere(error)) throw error
    }
    await gov.observer.at('closure.waits')
    if (signal.aborted) throw closeCancelled(jobId)
    if (performance.now() > endMs) throw underWay(jobId)
    await systemClock.sleep(pauseMs)
  }
}
