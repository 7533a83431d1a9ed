import type { ErrorDetails, SallyportError } from '../../base/errors.js'
import { endingError, type PaidEnd, type PaidNames } from '../../contact/ending.js'
import type { CallOutcome } from '../receipt.js'
import type { CallResult } from './finish.js'

const ends: Readonly<Record<CallOutcome, PaidEnd>> = {
  // A call that succeeded and made nothing gave no more than one that was refused.
  succeeded: 'refused',
  not_contacted: 'not_sent',
  charge_unknown: 'charge_unknown',
  reply_rejected: 'refused',
  overrun: 'overrun',
  authority_lost: 'not_adopted',
}

/** The error of a call that gave its caller nothing; the details name its operation. */
export const callError = (
  names: Omit<PaidNames, 'biller'>, result: CallResult, details: ErrorDetails = {},
): SallyportError => {
  const { outcome, operationId, reason, errorKind, receipt } = result
  return endingError({ biller: 'gateway', ...names }, {
    end: ends[outcome], operationId, reason: reason ?? outcome, kind: errorKind,
    boundMicrousd: receipt.cost.bound_microusd,
    details: { ...details, operation_id: operationId, outcome },
  })
}
