/** Finding connections, and how what they allow stands at one moment. */
import { fail } from '../../base/errors.js'
import type { View } from '../../state/types.js'
import type { Gov, Session } from '../context.js'
import { policyHead } from '../policy/head.js'
import { liveRoot } from '../session/live.js'
import { orUndefined } from '../judge/fact.js'
import { pendingStops } from '../stops/pending.js'
import type { LyingStop } from '../../state/stop-board.js'
import { covers, offRoutes } from '../stops/stop.js'
import { grantState, type GrantState } from './grant.js'
import { connectionCollection, type Connection } from './connection-rows.js'

/**
 * A connection of the operator. A foreign one is as absent as a missing one. Throws
 * `not_found`/`connection_not_found`.
 */
export const requireOwnConnection = (
  view: View, { principal }: Session, connectionId: string,
): Connection => {
  const found = view.get(connectionCollection, connectionId)
  if (found?.owner === principal.principal_id) return found
  throw fail.notFound('connection_not_found', 'There is no such connection.', {
    next: 'Run `sallyport codehost connections`.',
  })
}

/** The operator's connections, oldest first. */
export const listConnections = (view: View, { principal }: Session): readonly Connection[] =>
  view.all(connectionCollection).map(({ doc }) => doc)
    .filter(({ owner }) => owner === principal.principal_id)

/**
 * Throws `conflict`/`stale_connection_revision` unless the connection is still at the revision that
 * somebody decided on (C-046, C-107).
 */
export const requireRevision = ({ revision }: Connection, expected: number): void => {
  if (revision === expected) return
  throw fail.conflict('stale_connection_revision', 'The connection has another revision by now.', {
    next: 'Run `sallyport codehost connections` and decide again.', details: { revision },
  })
}

/** Throws `conflict`/`capacity_reserved` while a job occupies the connection (C-014). */
export const requireFree = ({ active_job_id: job }: Connection): void => {
  if (job === null) return
  throw fail.conflict('capacity_reserved', 'A job occupies this connection.', {
    next: `Settle that first: \`sallyport codehost jobs ${job}\`. `
      + 'A consent can be revoked at any time.',
    details: { job_id: job },
  })
}

/**
 * How the consent of a connection stands in a view of now; null without one. `lying` is what lay
 * in the folder of stops before the view was taken.
 */
export const grantStateAt = (
  gov: Gov, view: View, connection: Connection, lying: readonly LyingStop[],
): GrantState | null => {
  const { connection_id: id, owner, consent } = connection
  const party = {
    principal: owner, root: consent?.root ?? null, task: null, connection: id, ...offRoutes,
  }
  return grantState(connection, {
    nowMs: gov.clock.wallMs(),
    policyFence: policyHead(view).fence,
    isLive: (rootId) => orUndefined(() => liveRoot(view, gov, rootId)) !== undefined,
    isStopped: pendingStops(lying, view).some((stop) => covers(stop, party)),
  })
}

/** A connection with the state of its consent. */
export interface StandingConnection {
  readonly connection: Connection
  readonly state: GrantState | null
}

/** The operator's connections as they stand now. The stops are looked at before the rows. */
export const standingConnections = (gov: Gov, session: Session): readonly StandingConnection[] => {
  const lying = gov.store.stops.lying()
  const view = gov.store.read()
  return listConnections(view, session).map((connection) =>
    ({ connection, state: grantStateAt(gov, view, connection, lying) }))
}

/** One of them. Throws as `requireOwnConnection` does. */
export const standingConnection = (
  gov: Gov, session: Session, connectionId: string,
): StandingConnection => {
  const lying = gov.store.stops.lying()
  const view = gov.store.read()
  const connection = requireOwnConnection(view, session, connectionId)
  return { connection, state: grantStateAt(gov, view, connection, lying) }
}
