/** A job whose success was proved by a later readback, and which its task waits for. */
import { must } from '../must.js'
import type { Working } from './working.js'

/** One that was created and not read back by its run. */
export const unread = async (at: Working): Promise<string> => {
  const job = await at.approved()
  await at.runJob(job, {
    at: (step) => {
      if (step !== 'codehost.created') return
      at.sandbox.faults.set('read_close_before_headers', { service: 'codehost', times: 1 })
    },
  })
  return job
}

/** The same, reconciled since. */
export const reconciled = async (at: Working): Promise<string> => {
  const job = await unread(at)
  must(await at.reconcile(job))
  return job
}
