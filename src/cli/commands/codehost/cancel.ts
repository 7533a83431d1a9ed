import { codehostCancel } from '../../../codehost/jobs/contract.js'
import { cancelJob } from '../../../codehost/jobs/cancel.js'
import { requireOwnJob } from '../../../codehost/jobs/change.js'
import { afterStop, loginToStop } from '../../mutate.js'
import { verb } from '../../verb.js'
import { jobText } from './job-text.js'

export const cancel = verb(codehostCancel, {
  summary: 'give a job up of which nothing was sent, or stop one that runs',
  description:
    'A job that waits is cancelled. Of one that runs nothing more is sent, at once; what may '
    + 'have been sent before is not taken back, stays shown, and keeps its connection. There is '
    + 'no undo.',
  examples: ['$ sallyport codehost cancel JOB', '$ sallyport codehost cancel JOB --json'],
  session: 'required',
  ids: { job: 'job' },
  damage: 'refuses',
  exits: [
    'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
    'damaged',
  ],
  flags: (command) => command.argument('<job>', 'id of the job'),
  text: jobText,
  run: async ({ job }, deps) => {
    const { gov, session } = await loginToStop(deps)
    const { recorded } = await cancelJob(gov, session, job)
    await afterStop(deps, gov, recorded)
    return requireOwnJob(gov.store.read(), session, job)
  },
})
