import { fail } from '../../base/errors.js'
import type { View } from '../../state/types.js'
import { collections, type Reservation } from '../rows.js'
import type { Session } from '../session/types.js'
import { requireBound, type Binding } from './post.js'
import { findReservation, openReservations } from './read.js'

/** A reservation with the binding that its own rows prove. */
export interface OwnReservation {
  readonly reservation: Reservation
  readonly binding: Binding
}

/**
 * The reservation of an operation of this session's owner. A foreign one is `not_found`, the same
 * as one that does not exist. Its rows are verified as at every other step.
 */
export const requireOwnReservation = (
  view: View, session: Session, operationId: string,
): OwnReservation => {
  const found = findReservation(view, operationId)
  if (!found || found.principal !== session.principal.principal_id) {
    throw fail.notFound('reservation_not_found', 'There is no reservation of this operation.', {
      next: 'List yours with: sallyport ledger reservations',
    })
  }
  const binding = { operationId, runtime: found.runtime, profile: found.profile }
  return { reservation: requireBound(view, binding), binding }
}

/** An owner's reservations, newest operation first; `closed` adds those that are over. */
export const ownReservations = (
  view: View, session: Session, { closed }: { readonly closed: boolean },
): readonly Reservation[] => {
  const over = closed ? view.all(collections.closedReservations).map(({ doc }) => doc) : []
  return [...openReservations(view), ...over]
    .filter(({ principal }) => principal === session.principal.principal_id)
    .sort((a, b) => (a.operation_id < b.operation_id ? 1 : -1))
}
