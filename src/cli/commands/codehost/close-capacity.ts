import { requestOfBytes, requestOfFields } from '../../../codehost/closure/ask.js'
import { closeCapacity as closeProved } from '../../../codehost/closure/close.js'
import {
  codehostCloseCapacity, type ClosedDocument,
} from '../../../codehost/closure/closure-contract.js'
import { closureLimits } from '../../../codehost/jobs/closed/closed-job-limits.js'
import { keptRequest } from '../../../codehost/closure/look.js'
import type { ReadRequest } from '../../../codehost/jobs/closed/request.js'
import { fail } from '../../../base/errors.js'
import type { Gov, Session } from '../../../governance/context.js'
import { acknowledgeFlag, numberFlag } from '../../flags.js'
import { readInput } from '../../input.js'
import { requestOf } from '../../request.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'
import { askToClose, evidenceLines } from './close-form.js'
import { receiptText } from './closure-text.js'
import { codehostContext } from '../../../fabric/contexts/codehost.js'

/** Argument and flags of `codehost close-capacity`. */
type CloseCapacityOptions =
  LineOf<typeof codehostCloseCapacity> & { readonly from?: string; readonly retry?: boolean }

/** What a form shows and asks; given as flags it makes a request of its own. */
const decidedOf = (options: CloseCapacityOptions) => ({
  acknowledged_capacity_close: options.acknowledgedCapacityClose,
  expected_job_revision: options.expectedJobRevision,
  expected_connection_revision: options.expectedConnectionRevision,
  expected_connection_fence: options.expectedConnectionFence,
})

/** What only a person can know, who looked on the host. */
const hintsOf = (options: CloseCapacityOptions) => ({
  remote_id: options.remoteId, remote_commit_id: options.remoteCommitId,
  pr_number: options.prNumber,
})

const fieldsOf = (options: CloseCapacityOptions) => ({
  ...decidedOf(options), ...hintsOf(options), idempotency_key: options.idempotencyKey,
})

const someGiven = (fields: object): boolean =>
  Object.values(fields).some((value) => value !== undefined)

const requestFrom = async (
  options: CloseCapacityOptions, deps: VerbDeps, gov: Gov, session: Session,
): Promise<ReadRequest> => {
  const { job, from, retry } = options
  const given = someGiven(decidedOf(options)) || someGiven(hintsOf(options))
  const sources = [from !== undefined, retry === true, given].filter(Boolean).length
  if (sources > 1) {
    throw fail.usage('request_twice', 'Give one request: --from, --retry, or its fields as flags.')
  }
  if (from !== undefined) {
    return requestOfBytes(gov, session, job, await readInput(deps, {
      from, flag: '--from', bytesMax: closureLimits.requestBytesMax,
    }))
  }
  if (retry === true) return keptRequest(gov, { jobId: job, key: options.idempotencyKey }).read
  // Whoever acknowledges in the line has said all of it there; the numbers alone say no yes.
  return options.acknowledgedCapacityClose !== true && deps.interactive
    ? askToClose(deps, gov, session, { jobId: job, fields: fieldsOf(options) })
    : requestOfFields(gov, session, job, fieldsOf(options))
}

export const closeCapacity: VerbRecord<CloseCapacityOptions, ClosedDocument> = {
  summary: 'free the connection of a job whose effects are all proved to have happened',
  description:
    'Reads back everything that a job may have sent, by GET alone. Where all of it is proved, it '
    + 'frees the connection that the job occupies. Nothing else changes: the job stays unknown, '
    + 'blocked or failed, and never runs again. What cannot be proved leaves the connection '
    + 'occupied, with a named reason. The request is kept in pending/ before anybody is contacted. '
    + 'With --retry you send the very same one. An applied request is answered from the state, '
    + 'with no contact. On a terminal, without the acknowledgment, it is a form.',
  examples: [
    '$ sallyport codehost close-capacity JOB --acknowledge '
      + '--expected-job-revision 6 --expected-connection-revision 2 '
      + '--expected-connection-fence 1',
    '$ sallyport codehost close-capacity JOB --from request.json --json',
    '$ sallyport codehost close-capacity JOB --retry',
  ],
  of: 'job',
  decides: true,
  contacts: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked', 'cancelled'],
  json: codehostCloseCapacity,
  flags: (command) => command
    .option('--from <file>', 'the whole request as JSON; - for stdin')
    .option('--retry', 'send the kept request of this job again')
    .addOption(acknowledgeFlag('--acknowledged-capacity-close',
      'I know that this closes capacity and proves nothing else'))
    .addOption(numberFlag('--expected-job-revision <n>', 'as `codehost jobs JOB` shows it'))
    .addOption(numberFlag(
      '--expected-connection-revision <n>', 'as `codehost connections` shows it'))
    .addOption(numberFlag('--expected-connection-fence <n>', 'the fence of the job'))
    .option('--idempotency-key <uuid>', 'key of this request; a new one without it')
    .addOption(numberFlag(
      '--remote-id <n>', 'number of the issue or comment, where its reply was lost'))
    .option('--remote-commit-id <id>', 'commit of a publication whose reply was lost')
    .addOption(numberFlag('--pr-number <n>', 'pull request of a publication whose reply was lost')),
  text: ({ receipt }) => receiptText(receipt),
  run: async (options, deps) => {
    const { job } = requestOf(codehostCloseCapacity, options)
    const { gov, session } = await workFor(deps, 'alone')
    const read = await requestFrom(options, deps, gov, session)
    return codehostCloseCapacity.answer(
      await closeProved({ ...codehostContext(deps, gov), ...evidenceLines(deps) }, session, {
        jobId: job, read,
      }))
  },
}
