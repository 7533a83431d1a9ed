import { codehostAdopt, type JobDocument } from '../../../codehost/jobs/contract.js'
import { adoptJob } from '../../../codehost/jobs/adopt.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { jobText } from './job-text.js'

/** Argument of `codehost adopt`. */
export interface AdoptOptions {
  readonly job: string
}

const definition: VerbDefinition<JobDocument> = {
  meta: {
    name: 'codehost adopt',
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
    json: codehostAdopt,
  },
  flags: (command) => command.argument('<job>', 'id of the job'),
  text: jobText,
}

/** Adopts. */
export const run: Run<AdoptOptions, JobDocument> = async (options, deps) => {
  const { job } = requestOf(codehostAdopt, options)
  const { gov, session } = await loginToMutate(deps)
  return codehostAdopt.answer(await adoptJob(gov, session, job))
}

/** Parses a line of `codehost adopt`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
