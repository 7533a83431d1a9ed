import { codehostResume } from '../../../codehost/jobs/contract.js'
import { runFailure, runJob } from '../../../codehost/jobs/run.js'
import { loginToMutate } from '../../mutate.js'
import { verb } from '../../verb.js'
import { codehostContext } from '../../../fabric/contexts/codehost.js'
import { jobText } from './job-text.js'

export const resume = verb(codehostResume, {
  summary: 'go on with a job of which something was never sent',
  description:
    'Goes on under the same approval, consent and session, and sends only what provably never '
    + 'left this machine. What may have been sent is read back by `codehost reconcile`, not '
    + 'sent again.',
  examples: ['$ sallyport codehost resume JOB', '$ sallyport codehost resume JOB --json'],
  session: 'required',
  ids: { job: 'job' },
  decides: true,
  damage: 'refuses',
  contacts: true,
  exits: [
    'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'remote', 'no_state',
    'locked', 'damaged', 'cancelled',
  ],
  flags: (command) => command.argument('<job>', 'id of the job'),
  text: jobText,
  run: async ({ job }, deps) => {
    const { gov, session } = await loginToMutate(deps)
    const ran = await runJob(codehostContext(deps, gov), session, job, { verb: 'resume' })
    const failure = runFailure(gov, ran)
    if (failure !== null) throw failure
    return ran.job
  },
})
