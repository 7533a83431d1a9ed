import { codehostInspect, type InspectionDocument } from '../../../codehost/closure/contract.js'
import { closureLimits } from '../../../codehost/closure/limits.js'
import { inspectKept, inspectText } from '../../../codehost/closure/look.js'
import { readInputText } from '../../input.js'
import { requestOf } from '../../request.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import { inspectionText } from './closure-text.js'

/** Argument and flags of `codehost inspect`. */
export interface InspectOptions {
  readonly job: string
  readonly from?: string
  readonly idempotencyKey?: string
}

const definition: VerbDefinition<InspectionDocument> = {
  meta: {
    name: 'codehost inspect',
    summary: 'say what became of a request to close capacity; contacts nobody',
    description:
      'Answers one of three: the request was applied, with its receipt; it was not and never can '
      + 'be, because a revision or fence has passed or another request closed the job; or neither '
      + 'is proved. Without --from it takes the request that is kept for the job. It changes '
      + 'nothing, and asks nobody.',
    examples: [
      '$ sallyport codehost inspect JOB', '$ sallyport codehost inspect JOB --from request.json',
    ],
    session: 'required',
    ids: { job: 'job' },
    damage: 'refuses',
    exits: [
      'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'damaged',
    ],
    json: codehostInspect,
  },
  flags: (command) => command
    .argument('<job>', 'id of the job')
    .option('--from <file>', 'the request as JSON, at most 2048 characters; - for stdin')
    .option('--idempotency-key <uuid>', 'which kept request, where there are several'),
  text: inspectionText,
}

const bytesAChar = 4

/** Inspects. */
export const run: Run<InspectOptions, InspectionDocument> = async (options, deps) => {
  const { job, idempotency_key: key } = requestOf(codehostInspect, options)
  const { gov, session } = await deps.login('read', { touch: false })
  if (options.from === undefined) {
    return codehostInspect.answer(inspectKept(gov, session, { jobId: job, key }))
  }
  const text = await readInputText(deps, {
    from: options.from, flag: '--from', bytesMax: bytesAChar * closureLimits.inspectCharsMax,
  })
  return codehostInspect.answer(inspectText(gov, session, job, text))
}

/** Parses a line of `codehost inspect`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
