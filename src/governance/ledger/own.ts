import { fail } from '../../base/errors.js'
import { lookUp, rowsUnder, walkIndex } from '../../state/indexes.js'
import type { CollectionSpec, View } from '../../state/types.js'
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
 * Whose money a session may settle and review: its owner's, and that of an owner who is gone,
 * whose unknown charges would hold a part of the one ceiling for ever. The rows name who did.
 */
export const answersFor = (view: View, session: Session, principalId: string): boolean =>
  isAnsweredBy(view, session.principal.principal_id, principalId)

/** Whether an owner decides nothing any more: one who is disabled, or whose row is lost. */
export const isOwnerGone = (view: View, principalId: string): boolean =>
  view.get(collections.principals, principalId)?.disabled_at !== null

const isAnsweredBy = (view: View, own: string, principalId: string): boolean =>
  principalId === own || isOwnerGone(view, principalId)

/** Operations whose charges passed their bounds and that an owner may review, by their ids. */
export const ownOverruns = (view: View, principalId: string): readonly string[] =>
  overrunsToReview(view).filter(({ principal }) => isAnsweredBy(view, principalId, principal))
    .map(({ operation_id: id }) => id)

/**
 * The reservation of an operation of this session's owner, or of one who is gone. Any other is
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

/** Every owner of a reservation, also one whose row is lost: each is found by one look. */
const ownersIn = (view: View, spec: CollectionSpec<Reservation>): readonly string[] => {
  const owners: string[] = []
  for (;;) {
    const last = owners.at(-1)
    // In the id of an entry a slash ends the owner, and `0` is what comes behind it.
    const from = last === undefined ? undefined : `${last}0`
    const [next] = lookUp(view, spec, reservationsByOwner, { from, limit: 1 })
    if (next?.key[0] === undefined) return owners
    owners.push(next.key[0])
  }
}

/**
 * An owner's reservations and those of owners who are gone, newest operation first, at most
 * `limit`; `closed` adds those that are over.
 */
export const ownReservations = (
  view: View, session: Session, { closed, limit, after }: {
    readonly closed: boolean
    readonly limit: number
    /** Only those of operations older than this one. */
    readonly after?: string | undefined
  },
): readonly Reservation[] => {
  const places = closed
    ? [collections.openReservations, collections.closedReservations]
    : [collections.openReservations]
  return places
    .flatMap((spec) => ownersIn(view, spec)
      .filter((owner) => answersFor(view, session, owner))
      .flatMap((owner) => rowsUnder(view, spec, reservationsByOwner, {
        under: [owner], from: after, reverse: true, limit,
      })))
    .map(({ doc }) => doc)
    .sort((a, b) => (a.operation_id < b.operation_id ? 1 : -1))
    .slice(0, limit)
}

/** Most charges that are settled by hand in one record. */
export const settledAtOnceMax = 1_000

/**
 * Unknown charges of an owner and of owners who are gone that have this reason, newest operation
 * first: at most `settledAtOnceMax`, and whether there are more.
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
