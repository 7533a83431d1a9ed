import { fail } from '../../base/errors.js'
import { rowsUnder, walkIndex } from '../../state/indexes.js'
import type { View } from '../../state/types.js'
import { collections, reservationsByOwner, reservationsByState, type Reservation } from '../rows.js'
import type { Session } from '../context.js'
import { requireBound, type Binding } from './post.js'
import { findReservation, overrunsToReview, unknownReason } from './find-reservation.js'

/** A reservation with the binding that its own rows prove. */
interface OwnReservation {
  readonly reservation: Reservation
  readonly binding: Binding
}

/**
 * Whose money a session may settle and review: its owner's, and that of a disabled owner, whose
 * unknown charges would hold a part of the one ceiling for ever. The rows name who did.
 */
export const answersFor = (view: View, session: Session, principalId: string): boolean =>
  isAnsweredBy(view, session.principal.principal_id, principalId)

const isAnsweredBy = (view: View, own: string, principalId: string): boolean => {
  if (principalId === own) return true
  const owner = view.get(collections.principals, principalId)
  return owner !== undefined && owner.disabled_at !== null
}

/** Operations whose charges passed their bounds and that an owner may review, by their ids. */
export const ownOverruns = (view: View, principalId: string): readonly string[] =>
  overrunsToReview(view).filter(({ principal }) => isAnsweredBy(view, principalId, principal))
    .map(({ operation_id: id }) => id)

/**
 * The reservation of an operation of this session's owner, or of a disabled one. Any other is
 * `not_found`, the same as one that does not exist. Its rows are verified as at every other step.
 */
export const requireOwnReservation = (
  view: View, session: Session, operationId: string,
): OwnReservation => {
  const found = findReservation(view, operationId)
  if (!found || !answersFor(view, session, found.principal)) {
    throw fail.notFound('reservation_not_found', 'There is no reservation of this operation.', {
      next: 'List yours with: `sallyport ledger reservations`.',
    })
  }
  const binding = { operationId, runtime: found.runtime, profile: found.profile }
  return { reservation: requireBound(view, binding), binding }
}

/**
 * An owner's reservations and those of disabled owners, newest operation first, at most `limit`;
 * `closed` adds those that are over.
 */
export const ownReservations = (
  view: View, session: Session, { closed, limit, after }: {
    readonly closed: boolean
    readonly limit: number
    /** Only those of operations older than this one. */
    readonly after?: string | undefined
  },
): readonly Reservation[] => {
  const owners = view.all(collections.principals).map(({ id }) => id)
    .filter((id) => answersFor(view, session, id))
  const places = closed
    ? [collections.openReservations, collections.closedReservations]
    : [collections.openReservations]
  return places
    .flatMap((spec) => owners.flatMap((owner) =>
      rowsUnder(view, spec, reservationsByOwner, {
        under: [owner], from: after, reverse: true, limit,
      })))
    .map(({ doc }) => doc)
    .sort((a, b) => (a.operation_id < b.operation_id ? 1 : -1))
    .slice(0, limit)
}

/** Most charges that are settled by hand in one record. */
export const settledAtOnceMax = 1_000

/**
 * Unknown charges of an owner and of disabled owners that have this reason, newest operation first:
 * at most `settledAtOnceMax`, and whether there are more.
 */
export const ownUnknownFor = (
  view: View, session: Session, reason: string,
): { readonly rows: readonly Reservation[]; readonly more: boolean } => {
  const rows: Reservation[] = []
  const lookup = { under: ['unknown'], reverse: true }
  for (const { id } of walkIndex(view, collections.openReservations, reservationsByState, lookup)) {
    const row = view.get(collections.openReservations, id)
    if (row === undefined || !answersFor(view, session, row.principal)) continue
    if (unknownReason(view, row) !== reason) continue
    if (rows.length === settledAtOnceMax) return { rows, more: true }
    rows.push(row)
  }
  return { rows, more: false }
}
