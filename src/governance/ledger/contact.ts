import { fail } from '../../base/errors.js'
import type { Tx } from '../../state/types.js'
import { collections } from '../rows.js'
import { rechecksPerOperationMax } from './limits.js'
import { post, requireBound, type Binding, type Posted } from './post.js'

/**
 * Writes that this operation is about to be sent. Only a reservation in state `reserved` can be
 * contacted, and only once: a second call is `conflict`, so nothing is ever sent again. The caller
 * marks the transaction and contacts nobody before it is durable.
 */
export const markContacted = (tx: Tx, now: string, binding: Binding): Posted => {
  const reservation = requireBound(tx, binding)
  return post(tx, now, binding, reservation, {
    kind: 'contact', amount_microusd: reservation.bound_microusd, evidence: null,
  })
}

/**
 * Writes that the current policy was read again for this operation and still allowed it.
 * Moves no money. At most 16 for one operation.
 */
export const recheckRow = (
  tx: Tx, now: string, binding: Binding & { readonly policyRevision: number },
): Posted => {
  const reservation = requireBound(tx, binding)
  const earlier = reservation.row_ids
    .filter((id) => tx.get(collections.ledgerRows, id)?.kind === 'recheck')
  if (earlier.length >= rechecksPerOperationMax) {
    throw fail.conflict(
      'rechecks_exhausted', `An operation is rechecked at most ${rechecksPerOperationMax} times.`,
    )
  }
  const { operationId, runtime, profile, policyRevision } = binding
  return post(tx, now, { operationId, runtime, profile }, reservation, {
    kind: 'recheck',
    amount_microusd: reservation.bound_microusd,
    evidence: { policy_revision: policyRevision },
  })
}
