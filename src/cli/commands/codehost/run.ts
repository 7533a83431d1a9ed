/** Running a job, and going on with one that stopped before it was sent. */
import { fail } from '../../../base/errors.js'
import { codehostRun, codehostResume } from '../../../codehost/jobs/jobs-contract.js'
import { runAlone, runApproved, runFailure, runJob } from '../../../codehost/jobs/run.js'
import { operation } from '../../../fabric/operation.js'
import { codehostContext } from '../../../fabric/contexts/codehost.js'
import { verb } from '../../verb.js'
import { verbOf } from '../../verb-of.js'
import { workFor } from '../../work.js'
import { jobText } from './job-text.js'

export const resume = verbOf(operation(codehostResume, 'mutate',
  async ({ gov, session, world }, { job }) => {
    const ran = await runJob(codehostContext(world, gov), session, job, { verb: 'resume' })
    const failure = runFailure(gov, ran)
    if (failure !== null) throw failure
    return ran.job
  }), {
  summary: 'send the part of a job that was never sent',
  description:
    'Goes on under the same approval, consent and session, and sends only what provably never '
    + 'left this machine. What may have been sent is read back by `codehost recover reconcile`, '
    + 'not '
    + 'sent again.',
  examples: [
    '$ sallyport codehost run JOB --resume', '$ sallyport codehost run JOB --resume --json',
  ],
  of: 'job',
  decides: true,
  contacts: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'remote', 'locked', 'cancelled'],
  text: jobText,
})

export const run = verb(codehostRun, {
  summary: 'send what was approved, once, and read it back',
  description:
    'Looks whether the repository is still the one that was consented to, occupies the '
    + 'connection, sends what was approved, and reads it back. Only that counts as done and '
    + 'frees the connection. A publication is made once by git on this machine first. Then '
    + 'each of its creations is sent in order, and the first that is not answered as made ends '
    + 'the run. What may have been sent is never sent again. A reply that is lost leaves the '
    + 'job unknown; `codehost recover reconcile` settles what can be read back. With --approved it '
    + 'runs every job that waits, for a scheduler. With --resume it goes on with a job that '
    + 'stopped, under the same approval, consent and session. It sends only what provably never '
    + 'left this machine.',
  examples: [
    '$ sallyport codehost run JOB', '$ sallyport codehost run --approved --json',
    '$ sallyport codehost run JOB --resume',
  ],
  ids: { job: 'job' },
  contacts: true,
  exits: [
    'rejected', 'conflict', 'not_found', 'blocked', 'remote', 'partial', 'locked', 'cancelled',
  ],
  flags: (command) => command
    .argument('[job]', 'id of the job')
    .option('--approved', 'every job that waits: approved, or under a standing authority')
    .option('--resume', 'send the part of a job that was never sent'),
  joins: [{
    by: '--resume', load: () => resume,
    line: ({ resume: asked, job, ...line }) =>
      (asked === undefined || job === undefined ? null : { ...line, job }),
  }],
  text: ({ jobs }) => (jobs.length === 0
    ? 'No job waits to be run.\n'
    : jobs.map(({ failure: _, ...job }) => jobText(job)).join('\n')),
  run: async ({ job: jobId, approved }, deps) => {
    if ((jobId === undefined) !== (approved === true)) {
      throw fail.usage('run_flags', 'Name one job, or give --approved.', {
        next: 'See `sallyport codehost jobs`.',
      })
    }
    const { gov, session } = await workFor(deps, 'mutate')
    const ctx = codehostContext(deps, gov)
    return jobId === undefined ? runApproved(ctx, session) : runAlone(ctx, session, jobId)
  },
})
