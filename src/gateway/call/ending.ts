import type { ErrorDetails, SallyportError } from '../../base/errors.js'
import { endingError, type PaidEnd, type PaidNames } from '../../contact/ending.js'
import type { CallOutcome } from '../receipt.js'
import type { CallResult } from './finish.js'
import { resultLost, resultNotStored } from './not-stored.js'

const ends: Readonly<Record<CallOutcome, PaidEnd>> = {
  // A call that succeeded and made nothing gave no more than one that was refused.
  succeeded: 'refused',
  not_contacted: 'not_sent',
  charge_unknown: 'charge_unknown',
  reply_rejected: 'refused',
  overrun: 'overrun',
  authority_lost: 'not_adopted',
}

/** A reply that was refused may have cost more than it was allowed to, besides. */
const passesBound = ({ outcome, receipt: { cost } }: CallResult): boolean =>
  outcome === 'reply_rejected' && (cost.amount_microusd ?? 0) > cost.bound_microusd

const overBound = {
  kind: 'blocked',
  text: 'The reply was refused, and its charge passed the request bound: it stands and needs a '
    + 'review.',
} as const

/** The error of a call that gave its caller nothing; the details name its operation. */
export const callError = (
  names: Omit<PaidNames, 'biller'>, result: CallResult, details: ErrorDetails = {},
): SallyportError => {
  const { outcome, operationId, reason, errorKind, receipt } = result
  if (reason === resultNotStored) {
    return resultLost({ ...details, operation_id: operationId, outcome })
  }
  const over = passesBound(result)
  const texts = over ? { ...names.texts, refused: overBound.text } : names.texts ?? {}
  return endingError({ biller: 'gateway', ...names, texts }, {
    end: ends[outcome], operationId, reason: reason ?? outcome,
    kind: over ? overBound.kind : errorKind,
    boundMicrousd: receipt.cost.bound_microusd,
    ...(over ? { next: `Run \`sallyport ledger review ${operationId}\`.` } : {}),
    details: { ...details, operation_id: operationId, outcome },
  })
}
