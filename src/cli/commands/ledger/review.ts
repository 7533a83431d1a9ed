import { fail } from '../../../base/errors.js'
import { ledgerReview, type ReservationDocument } from '../../../governance/ledger/contract.js'
import { reviewAnyOverrun } from '../../../fabric/tasks.js'
import { askVerdict } from '../../ask-verdict.js'
import { loginToMutate } from '../../mutate.js'
import { requestOf } from '../../request.js'
import type { VerbRecord, VerbDeps } from '../../verb.js'
import { reservationText } from './text.js'

/** Flags of `ledger review`. */
export interface LedgerReviewOptions {
  readonly operation: string
  readonly accept?: boolean
  readonly reject?: boolean
}

const verdictOf = async (
  { accept, reject }: LedgerReviewOptions, deps: VerbDeps,
): Promise<'accept' | 'reject'> => {
  if (accept !== reject) return accept ? 'accept' : 'reject'
  if (accept === undefined && deps.interactive) return askVerdict(deps, ['accept', 'reject'])
  throw fail.usage('one_verdict', 'Give one of --accept and --reject.')
}

export const review: VerbRecord<LedgerReviewOptions, ReservationDocument> = {
  summary: 'accept or reject a charge above its bound',
  description:
    'The charge stands either way. Accepting releases the answer that waits for it, if the '
    + 'session, goal and consent that asked for it are still current; rejecting drops it. A '
    + 'verdict is never changed. What a disabled owner left may be rejected by any other.',
  examples: [
    '$ sallyport ledger review op_0190f… --accept',
    '$ sallyport ledger review op_0190f… --reject --json',
  ],
  session: 'required',
  ids: { operation: 'operation' },
  decides: true,
  damage: 'refuses',
  exits: [
    'rejected', 'unauthorized', 'conflict', 'not_found', 'blocked', 'no_state', 'locked',
    'damaged',
  ],
  json: ledgerReview,
  flags: (command) => command
    .argument('<operation>', 'id of the operation, from ledger reservations')
    .option('--accept', 'the overrun is accepted')
    .option('--reject', 'it is not; the answer is dropped'),
  text: reservationText,
  run: async (options, deps) => {
    const { operation, verdict } = requestOf(ledgerReview, {
      ...options, verdict: await verdictOf(options, deps),
    })
    const { gov, session } = await loginToMutate(deps)
    return ledgerReview.answer(await reviewAnyOverrun(gov, session, operation, verdict))
  },
}
