import { codehostResume, type JobDocument } from '../../../codehost/jobs/contract.js'
import { runFailure, runJob } from '../../../codehost/jobs/run.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { codehostContext } from '../../../fabric/contexts/codehost.js'
import { jobText } from './job-text.js'

/** Argument of `codehost resume`. */
export interface ResumeOptions {
  readonly job: string
}

const definition: VerbDefinition<JobDocument> = {
  meta: {
    name: 'codehost resume',
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
    json: codehostResume,
  },
  flags: (command) => command.argument('<job>', 'id of the job'),
  text: jobText,
}

/** Goes on. */
export const run: Run<ResumeOptions, JobDocument> = async (options, deps) => {
  const { job } = requestOf(codehostResume, options)
  const { gov, session } = await loginToMutate(deps)
  const ran = await runJob(codehostContext(deps, gov), session, job, { verb: 'resume' })
  const failure = runFailure(gov, ran)
  if (failure !== null) throw failure
  return codehostResume.answer(ran.job)
}

/** Parses a line of `codehost resume`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
