import { codehostDiscard } from '../../../codehost/closure/contract.js'
import { discardKept } from '../../../codehost/closure/look.js'
import { verb } from '../../verb.js'
import { inspectionText } from './closure-text.js'

export const discard = verb(codehostDiscard, {
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
  flags: (command) => command
    .argument('<job>', 'id of the job')
    .option('--idempotency-key <uuid>', 'which kept request, where there are several'),
  text: (document) => `Dropped.\n${inspectionText(document)}`,
  run: async ({ job, idempotency_key: key }, deps) => {
    const { gov, session } = await deps.login('read', { touch: false })
    return discardKept(gov, session, { jobId: job, key })
  },
})
