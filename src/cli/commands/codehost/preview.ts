import { codehostPreview, type PreviewDocument } from '../../../codehost/jobs/contract.js'
import { previewJob } from '../../../codehost/jobs/approve.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { previewText } from './job-text.js'

/** Argument of `codehost preview`. */
export interface PreviewOptions {
  readonly job: string
}

const definition: VerbDefinition<PreviewDocument> = {
  meta: {
    name: 'codehost preview',
    summary: 'look at exactly what a job will send',
    description:
      'Shows every creation of a job in order, what it says, what it takes, and what is left of '
      + 'the consent and the session that it rests on. `codehost approve` names the digest at its '
      + 'end. It contacts nobody and changes nothing.',
    examples: ['$ sallyport codehost preview JOB', '$ sallyport codehost preview JOB --json'],
    session: 'required',
    damage: 'refuses',
    exits: ['unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'damaged'],
    json: codehostPreview,
  },
  flags: (command) => command.argument('<job>', 'id of the job'),
  text: previewText,
}

/** Shows it. */
export const run: Run<PreviewOptions, PreviewDocument> = async (options, deps) => {
  const { job } = requestOf(codehostPreview, options)
  const { gov, session } = await deps.login('read')
  return codehostPreview.answer(previewJob(gov, session, job))
}

/** Parses a line of `codehost preview`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
