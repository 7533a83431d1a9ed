import { codehostReconcile } from '../../../codehost/jobs/jobs-contract.js'
import { reconcileJob } from '../../../codehost/jobs/reconcile.js'
import { operation } from '../../../fabric/operation.js'
import { numberFlag, renamed } from '../../flags.js'
import { verbOf } from '../../verb-of.js'
import { codehostContext } from '../../../fabric/contexts/codehost.js'
import { jobText } from './job-text.js'

export const reconcile = verbOf(operation(codehostReconcile, 'mutate',
  ({ gov, session, world }, { job: jobId, expected_read_revision: expectedReadRevision }) =>
    reconcileJob(codehostContext(world, gov), session, { jobId, expectedReadRevision })), {
  summary: 'read back what a job may have done; GET alone',
  description:
    'Reads what the job made, and compares it with what was sealed. It reads by the exact number '
    + 'that the host gave, git objects by the id known before, a branch by its name. What matches '
    + 'settles the job and frees its connection; `codehost recover adopt` then lets its task '
    + 'count as '
    + 'done. If part of a publication was never sent, `codehost run JOB --resume` then sends '
    + 'it. '
    + 'It works in every mode of the connection and whatever became of the consent. It needs the '
    + 'session that prepared the job and the token it was sent with. What has no number, because '
    + 'its reply was lost, is never searched for.',
  examples: [
    '$ sallyport codehost recover reconcile JOB --expected-revision 3',
    '$ sallyport codehost recover reconcile JOB --expected-revision 3 --json',
  ],
  of: 'job',
  contacts: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'remote', 'locked', 'cancelled'],
  flags: (command) => command
    .addOption(renamed(numberFlag(
      '--expected-read-revision <n>', 'revision of the connection, as `connections` shows it',
    ), '--expected-revision')),
  text: jobText,
})
