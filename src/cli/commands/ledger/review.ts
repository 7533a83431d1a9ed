import { fail } from '../../../base/errors.js'
import { reviewAnyOverrun } from '../../../fabric/tasks.js'
import { loginToMutate } from '../../mutate.js'
import { defineVerb, type Build, type Run, type VerbDefinition } from '../../verb.js'
import {
  reservationFacts, reservationFactsShape, reservationText, type ReservationFacts,
} from './facts.js'

/** Flags of `ledger review`. */
export interface LedgerReviewOptions {
  readonly operation: string
  readonly accept?: boolean
  readonly reject?: boolean
}

const definition: VerbDefinition<ReservationFacts> = {
  meta: {
    name: 'ledger review',
    summary: 'accept or reject a charge above its bound',
    description:
      'The charge stands either way. Accepting releases the answer that waits for it, if the '
      + 'session, goal and consent that asked for it are still current; rejecting drops it. A '
      + 'verdict is never changed.',
    examples: [
      '$ sallyport ledger review op_0190f… --accept',
      '$ sallyport ledger review op_0190f… --reject --json',
    ],
    session: 'required',
    exits: ['unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked', 'damaged'],
    json: { version: 1, schema: reservationFactsShape },
  },
  flags: (command) => command
    .argument('<operation>', 'id of the operation, from ledger reservations')
    .option('--accept', 'the overrun is accepted')
    .option('--reject', 'it is not; the answer is dropped'),
  text: reservationText,
}

const verdictOf = ({ accept, reject }: LedgerReviewOptions): 'accept' | 'reject' => {
  if (accept !== reject) return accept ? 'accept' : 'reject'
  throw fail.usage('one_verdict', 'Give one of --accept and --reject.')
}

/** Reviews. */
export const run: Run<LedgerReviewOptions, ReservationFacts> = async (options, deps) => {
  const verdict = verdictOf(options)
  const { gov, session } = await loginToMutate(deps)
  return reservationFacts(await reviewAnyOverrun(gov, session, options.operation, verdict))
}

/** Parses a line of `ledger review`. */
export const build: Build = (deps) => defineVerb(deps, definition, run)
