import { codehostDiscard, type DiscardDocument } from '../../../codehost/closure/contract.js'
import { discardKept } from '../../../codehost/closure/look.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { inspectionText } from './closure-text.js'

/** Argument and flag of `codehost discard`. */
export interface DiscardOptions {
  readonly job: string
  readonly idempotencyKey?: string
}

const definition: VerbDefinition<DiscardDocument> = {
  meta: {
    name: 'codehost discard',
    summary: 'drop the kept request of a job, once it is decided',
    description:
      'Inspects the kept request anew and drops it where it was applied or never can be; where '
      + 'neither is proved it stays. Whatever is asked for after that is acknowledged anew, under '
      + 'a new key and the numbers of then.',
    examples: ['$ sallyport codehost discard JOB', '$ sallyport codehost discard JOB --json'],
    session: 'required',
    ids: { job: 'job' },
    damage: 'refuses',
    exits: ['rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'damaged'],
    json: codehostDiscard,
  },
  flags: (command) => command
    .argument('<job>', 'id of the job')
    .option('--idempotency-key <uuid>', 'which kept request, where there are several'),
  text: (document) => `Dropped.\n${inspectionText(document)}`,
}

/** Inspects and drops. */
export const run: Run<DiscardOptions, DiscardDocument> = async (options, deps) => {
  const { job, idempotency_key: key } = requestOf(codehostDiscard, options)
  const { gov, session } = await deps.login('read', { touch: false })
  return codehostDiscard.answer(discardKept(gov, session, { jobId: job, key }))
}

/** Parses a line of `codehost discard`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
