import { codehostRun, type RanDocument } from '../../../codehost/jobs/contract.js'
import { onItsWay } from '../../../codehost/jobs/way-now.js'
import { runApproved, runFailure, runJob } from '../../../codehost/jobs/run.js'
import { fail } from '../../../base/errors.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { codehostContext } from '../../../fabric/contexts/codehost.js'
import { jobText } from './job-text.js'

/** Argument and flag of `codehost run`. */
export interface RunOptions {
  readonly job?: string
  readonly approved?: boolean
}

const definition: VerbDefinition<RanDocument> = {
  meta: {
    name: 'codehost run',
    summary: 'send what was approved, once, and read it back',
    description:
      'Looks whether the repository is still the one that was consented to, occupies the '
      + 'connection, sends what was approved, and reads it back: only that counts as done and '
      + 'frees the connection. A publication is made once by git on this machine first; then each '
      + 'of its creations is sent in order, and the first that is not answered as made ends the '
      + 'run. What may have been sent is never sent again. A reply that is lost '
      + 'leaves the job unknown; `codehost reconcile` settles what can be read back. With '
      + '--approved it runs every job that waits, for a scheduler.',
    examples: ['$ sallyport codehost run JOB', '$ sallyport codehost run --approved --json'],
    session: 'required',
    ids: { job: 'job' },
    damage: 'refuses',
    contacts: true,
    exits: [
      'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'remote', 'partial',
      'no_state', 'locked', 'damaged', 'cancelled',
    ],
    json: codehostRun,
  },
  flags: (command) => command
    .argument('[job]', 'id of the job')
    .option('--approved', 'every job that waits: approved, or under a standing authority'),
  text: ({ jobs }) => (jobs.length === 0
    ? 'No job waits to be run.\n'
    : jobs.map(({ failure: _, ...job }) => jobText(job)).join('\n')),
}

/** Runs. */
export const run: Run<RunOptions, RanDocument> = async (options, deps) => {
  const { job: jobId, approved } = requestOf(codehostRun, options)
  if ((jobId === undefined) !== (approved === true)) {
    throw fail.usage('run_flags', 'Name one job, or give --approved.', {
      next: 'See `sallyport codehost jobs`.',
    })
  }
  const { gov, session } = await loginToMutate(deps)
  const ctx = codehostContext(deps, gov)
  if (jobId === undefined) return codehostRun.answer(await runApproved(ctx, session))
  const ran = await runJob(ctx, session, jobId)
  const failure = runFailure(gov, ran)
  if (failure !== null) throw failure
  const done = onItsWay(gov, gov.store.read(), ran.job)
  return codehostRun.answer([{ jobId, ...done, failure: null }])
}

/** Parses a line of `codehost run`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
