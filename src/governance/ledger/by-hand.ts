/**
 * What a person says about an operation's money: the amount of a charge that nobody could read
 * back, and the verdict on a charge above its bound. Both are audited, neither
 * sends anything, and both move the anchor: an old copy must not ask for another word.
 */
import { fail } from '../../base/errors.js'
import type { Tx, View } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import type { Reservation } from '../rows.js'
import type { Session } from '../context.js'
import { amountMicrousdMax, checkAmount } from './ledger-limits.js'
import { manualSource } from './machine.js'
import { requireOwnReservation } from './own.js'
import { post, type Posted } from './post.js'

const who = ({ principal, root }: Session) =>
  ({ principal: principal.principal_id, root: root.root_id })

/** What an operator found on the provider's bill, of each charge that is settled by it. */
export interface FoundAmount {
  /** Integer micro-USD, 0..1_000_000_000. */
  readonly amount: number
  /** SHA-256 of the operator's note; the note itself is not kept. */
  readonly note_digest?: string
}

/** The same of one operation. */
interface ManualSettlement extends FoundAmount { readonly operationId: string }

/**
 * An operator clears the unknown charge of an own operation with the amount that was really
 * billed. The task stays blocked: no answer comes back. An amount above the bound waits for an
 * overrun review like any other charge. Audited.
 */
export const manualSettle = (
  tx: Tx, now: string, session: Session, request: ManualSettlement,
): Posted => {
  checkAmount('amount', request.amount, 0, amountMicrousdMax)
  const { reservation, binding } = requireOwnReservation(tx, session, request.operationId)
  tx.mark()
  const posted = post(tx, now, binding, reservation, {
    kind: 'manual_settle',
    amount_microusd: request.amount,
    evidence: { source: manualSource, ...who(session), note_sha256: request.note_digest ?? null },
  })
  appendAudit(tx, now, {
    what: 'ledger.manual_settled',
    ...who(session),
    subject: request.operationId,
    facts: { amount_microusd: request.amount, bound_microusd: reservation.bound_microusd },
  })
  return posted
}

/**
 * An own reservation whose charge is unknown. Throws `not_found`, or `conflict`
 * `charge_not_unknown` when there is nothing to settle by hand.
 */
export const requireUnknownCharge = (
  view: View, session: Session, operationId: string,
): Reservation => {
  const { reservation } = requireOwnReservation(view, session, operationId)
  if (reservation.state === 'unknown') return reservation
  throw fail.conflict(
    'charge_not_unknown', 'Only an unknown charge is settled by hand.',
    { details: { operation_id: operationId, state: reservation.state } },
  )
}

/**
 * A person's word on a charge above its bound. The charge stands either way; `accept` lets
 * the answer be adopted, `reject` does not. One verdict, never changed. Throws `conflict`
 * `no_overrun_to_review` when none is waiting. Audited.
 */
export const reviewOverrun = (
  tx: Tx, now: string, session: Session, operationId: string, verdict: 'accept' | 'reject',
): Posted => {
  const { reservation, binding } = requireOwnReservation(tx, session, operationId)
  const charged = reservation.charged_microusd
  if (reservation.overrun !== 'review_required' || charged === null) {
    throw fail.conflict('no_overrun_to_review', 'No overrun of this operation waits for review.', {
      details: { state: reservation.state, overrun: reservation.overrun },
    })
  }
  tx.mark()
  const posted = post(tx, now, binding, reservation, {
    kind: 'overrun_review', amount_microusd: charged, evidence: { verdict, ...who(session) },
  })
  appendAudit(tx, now, {
    what: `ledger.overrun_${posted.reservation.overrun}`,
    ...who(session),
    subject: operationId,
    facts: { charged_microusd: charged, bound_microusd: reservation.bound_microusd },
  })
  return posted
}
