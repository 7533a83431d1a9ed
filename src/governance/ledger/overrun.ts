import { fail } from '../../base/errors.js'
import type { Tx } from '../../state/types.js'
import { appendAudit } from '../audit.js'
import type { Session } from '../session/types.js'
import { requireOwnReservation } from './own.js'
import { post, type Posted } from './post.js'

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
  const who = { principal: session.principal.principal_id, root: session.root.root_id }
  const posted = post(tx, now, binding, reservation, {
    kind: 'overrun_review', amount_microusd: charged, evidence: { verdict, ...who },
  })
  appendAudit(tx, now, {
    what: `ledger.overrun_${posted.reservation.overrun}`,
    ...who,
    subject: operationId,
    facts: { charged_microusd: charged, bound_microusd: reservation.bound_microusd },
  })
  return posted
}
