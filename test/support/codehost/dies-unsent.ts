/** A run whose process is gone behind the record that says that what it marked never left. */
import type { Working } from './working.js'

/** Runs a job, or goes on with it, until it has marked its creation; `post`: which of its own. */
export const diesUnsent = async (
  at: Working, job: string, post = 1,
): Promise<void> => {
  const stop = new AbortController()
  let marked = 0
  await at.runJob(job, {
    stop: stop.signal, at: (step) => {
      if (step === 'codehost.contact_intent' && (marked += 1) === post) stop.abort()
      if (step === 'codehost.charge_known') throw new Error('the process is gone')
    },
  })
}
