import { codehostAdopt } from '../../../codehost/jobs/contract.js'
import { adoptJob } from '../../../codehost/jobs/adopt.js'
import { loginToMutate } from '../../mutate.js'
import { verb } from '../../verb.js'
import { jobText } from './job-text.js'

export const adopt = verb(codehostAdopt, {
  summary: 'let the task of a reconciled job count as done',
  description:
    'Takes over what `codehost reconcile` proved, for the task that the job ran as. The receipt '
    + 'that counts is the one in the rows; session, goal, credential and revision of the '
    + 'connection must be what it says. It contacts nobody; where the connection has changed '
    + 'since, it asks for another readback.',
  examples: ['$ sallyport codehost adopt JOB', '$ sallyport codehost adopt JOB --json'],
  session: 'required',
  ids: { job: 'job' },
  decides: true,
  damage: 'refuses',
  exits: [
    'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
    'damaged',
  ],
  flags: (command) => command.argument('<job>', 'id of the job'),
  text: jobText,
  run: async ({ job }, deps) => {
    const { gov, session } = await loginToMutate(deps)
    return adoptJob(gov, session, job)
  },
})
