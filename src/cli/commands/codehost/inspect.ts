import { codehostInspect } from '../../../codehost/closure/contract.js'
import { closureLimits } from '../../../codehost/closure/limits.js'
import { inspectKept, inspectText } from '../../../codehost/closure/look.js'
import { readInputText } from '../../input.js'
import { verb } from '../../verb.js'
import { inspectionText } from './closure-text.js'

const bytesAChar = 4

export const inspect = verb(codehostInspect, {
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
  flags: (command) => command
    .argument('<job>', 'id of the job')
    .option('--from <file>', 'the request as JSON, at most 2048 characters; - for stdin')
    .option('--idempotency-key <uuid>', 'which kept request, where there are several'),
  text: inspectionText,
  run: async ({ job, idempotency_key: key }, deps, line: { readonly from?: string }) => {
    const { gov, session } = await deps.login('read', { touch: false })
    if (line.from === undefined) {
      return inspectKept(gov, session, { jobId: job, key })
    }
    const text = await readInputText(deps, {
      from: line.from, flag: '--from', bytesMax: bytesAChar * closureLimits.inspectCharsMax,
    })
    return inspectText(gov, session, job, text)
  },
})
