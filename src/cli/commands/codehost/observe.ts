import { closureLimits } from '../../../codehost/jobs/closed/closed-job-limits.js'
import {
  codehostObserve, type ObservationDocument,
} from '../../../codehost/closure/observe/observe-contract.js'
import { observeClosed } from '../../../codehost/closure/observe/observe.js'
import {
  observeRequestOf, observeRequestOfBytes, type ObserveRequest,
} from '../../../codehost/closure/observe/request.js'
import { fail } from '../../../base/errors.js'
import { acknowledgeFlag, numberFlag, renamed } from '../../flags.js'
import { readInput } from '../../input.js'
import { requestOf } from '../../request.js'
import { bytesText, fieldLines } from '../../text.js'
import type { LineOf, VerbRecord, VerbDeps } from '../../verb.js'
import { workFor } from '../../work.js'
import { codehostContext } from '../../../fabric/contexts/codehost.js'

/** Argument and flags of `codehost recover observe`. */
type ObserveOptions = LineOf<typeof codehostObserve> & { readonly from?: string }

/** On a terminal the acknowledgment may be given at a prompt, which starts unchecked. */
const acknowledgedOf = async (
  { acknowledgedClosureObservation: given, from }: ObserveOptions, deps: VerbDeps,
): Promise<boolean | undefined> => {
  if (given === true || from !== undefined || !deps.interactive) return given
  await deps.confirm('Read what was closed once more; it changes nothing', '--acknowledge')
  return true
}

const requestFrom = async (options: ObserveOptions, deps: VerbDeps): Promise<ObserveRequest> => {
  const { from } = options
  const fields = {
    acknowledged_closure_observation: await acknowledgedOf(options, deps),
    expected_read_revision: options.expectedReadRevision,
  }
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  if (from === undefined) return observeRequestOf(Object.fromEntries(given))
  if (given.length > 0) {
    throw fail.usage('request_twice', 'Give one request: --from, or its fields as flags.')
  }
  return observeRequestOfBytes(await readInput(deps, {
    from, flag: '--from', bytesMax: closureLimits.requestBytesMax,
  }))
}

export const observe: VerbRecord<ObserveOptions, ObservationDocument> = {
  summary: 'look once more at what a closure proved; GET alone',
  description:
    'Reads back what the closure of a job proved, under the session, connection, repository and '
    + 'credential of then. It takes its own acknowledgment and the revision at which the '
    + 'connection is read now. What is found as it was sealed is one more line of the READ '
    + 'history. It frees nothing, reserves nothing, settles nothing and removes no fence, whatever '
    + 'it finds.',
  examples: [
    '$ sallyport codehost recover observe JOB --acknowledge '
      + '--expected-revision 2',
    '$ sallyport codehost recover observe JOB --from request.json --json',
  ],
  ids: { job: 'job' },
  contacts: true,
  exits: ['rejected', 'conflict', 'not_found', 'blocked', 'locked', 'cancelled'],
  json: codehostObserve,
  flags: (command) => command
    .argument('<job>', 'id of the closed job')
    .option('--from <file>', 'the whole request as JSON; - for stdin')
    .addOption(acknowledgeFlag('--acknowledged-closure-observation',
      'I know that this reads, and changes nothing'))
    .addOption(renamed(numberFlag(
      '--expected-read-revision <n>', 'revision of the connection, as `connections` shows it',
    ), '--expected-revision')),
  text: (seen) => fieldLines([
    ['job', `${seen.job}, still ${seen.job_state}`],
    ['closure', seen.closure],
    ['observed', `${seen.observed_at} at revision ${seen.read_revision}: ${seen.gets} GETs, `
      + bytesText(seen.raw_bytes)],
    ...seen.effects.map((one) =>
      ['seen', `effect ${one.effect}, ${one.action}: GET ${one.path}`] as const),
    ...seen.journals.map((one) => ['journal', one] as const),
    ['so', 'It is as it was sealed. Nothing else changed; the job never runs again.'],
  ]),
  run: async (options, deps) => {
    const { job } = requestOf(codehostObserve, options)
    const { gov, session } = await workFor(deps, 'alone')
    const request = await requestFrom(options, deps)
    return codehostObserve.answer(
      await observeClosed(codehostContext(deps, gov), session, { jobId: job, request }))
  },
}
