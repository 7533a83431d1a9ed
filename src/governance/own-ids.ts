/** The ids of governance that may be given in short; each capability has its own list. */
import { rowsUnder } from '../state/indexes.js'
import type { View } from '../state/types.js'
import { findTask } from './board/place.js'
import {
  connectionCollection, connectionsByOwner, connectionsByTail,
} from './connections/connection-rows.js'
import { answersFor } from './ledger/own.js'
import { findReservation } from './ledger/find-reservation.js'
import {
  collections, auditByTail, goalsByOwner, goalsByTail, jobsByTaskTail, ledgerByTail,
  reservationsByOwner, rootsByOwner, rootsByTail, tasksByOwner,
} from './rows.js'
import type { Session } from './context.js'
import { idsOfOwner, ownedIds, sharedIds, type IdKind } from './short-ids.js'

/** Tasks, of whatever kind. */
export const taskIds: IdKind = {
  prefix: 'task',
  endingWith: (view, session, tail) =>
    rowsUnder(view, collections.jobs, jobsByTaskTail, { under: [tail] })
      .map(({ doc }) => doc.task_id)
      .filter((id) => session?.principal.principal_id === findTask(view, id)?.owner),
  beginningWith: (view, session, begins, limit) =>
    [collections.openTasks, collections.closedTasks].flatMap((spec) =>
      idsOfOwner(view, spec, tasksByOwner, session, begins, limit)),
}

/** Whether the list of reservations shows an operation to a session. */
const isAnsweredFor = (view: View, session: Session | null, operationId: string): boolean => {
  const owner = findReservation(view, operationId)?.principal
  return session !== null && owner !== undefined && answersFor(view, session, owner)
}

/** Operations, by their reservations: one's own and those of disabled owners. */
export const operationIds: IdKind = {
  prefix: 'op',
  endingWith: (view, session, tail) =>
    rowsUnder(view, collections.ledgerRows, ledgerByTail, { under: [tail] })
      .map(({ doc }) => doc.operation_id)
      .filter((id) => isAnsweredFor(view, session, id)),
  beginningWith: (view, session, begins, limit) =>
    [collections.openReservations, collections.closedReservations].flatMap((spec) =>
      idsOfOwner(view, spec, reservationsByOwner, session, begins, limit)),
}

/** Goals. */
export const goalIds = ownedIds('goal', collections.goals, {
  tail: goalsByTail, owner: goalsByOwner,
}, ({ owner }) => owner)

/** Sessions of one's own; those of others are ended by their whole ids. */
export const sessionIds = ownedIds('root', collections.roots, {
  tail: rootsByTail, owner: rootsByOwner,
}, ({ principal_id: owner }) => owner)

/** Saved connections. */
export const connectionIds = ownedIds('cnn', connectionCollection, {
  tail: connectionsByTail, owner: connectionsByOwner,
}, ({ owner }) => owner)

/** Rows of the audit, which is everybody's. */
export const auditIds = sharedIds('aud', collections.audit, auditByTail)
