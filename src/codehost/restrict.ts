/**
 * Taking back what may be written through a connection: by a stop, which is in force at once and
 * without the lock of the state. Reads go on, so that what was sent can be found out.
 */
import { discardStored } from '../governance/artifacts.js'
import { nowIso, type Gov, type Session } from '../governance/context.js'
import { disconnectConnection } from '../governance/connections/save.js'
import {
  requireFree, requireOwnConnection, standingConnection, type StandingConnection,
} from '../governance/connections/find-connection.js'
import { requireRootRow } from '../governance/session/live.js'
import { askedThrough, stopNow, type Recorded } from '../governance/stops/act.js'
import { connectionStops, type ConnectionStop } from '../governance/stops/stop.js'
import type { SavedMode } from './connect.js'

/** A connection of which something was taken back. */
interface Restricted extends StandingConnection {
  /** Null where there was nothing to take back. */
  readonly recorded: Recorded | null
}

const stopConnection = async (
  gov: Gov, session: Session, connectionId: string,
  { kind, verb, isDone }: {
    readonly kind: ConnectionStop
    readonly verb: string
    readonly isDone: (of: StandingConnection['connection']) => boolean
  },
): Promise<Restricted> => {
  const done = await stopNow(gov, () => {
    const view = gov.store.read()
    requireRootRow(view, nowIso(gov), session.root.root_id)
    return {
      aim: { kind, target: connectionId }, by: askedThrough(verb, session),
      isDone: isDone(requireOwnConnection(view, session, connectionId)),
    }
  })
  return { ...standingConnection(gov, session, connectionId), recorded: done?.recorded ?? null }
}

/**
 * Revokes the consent of a connection. Nothing to do where none was given or it was revoked. Throws
 * `not_found` and what `stopNow` throws.
 */
export const revokeConsent = (
  gov: Gov, session: Session, connectionId: string,
): Promise<Restricted> =>
  stopConnection(gov, session, connectionId, {
    kind: 'connection', verb: 'codehost revoke',
    isDone: ({ consent }) => consent === null || consent.ended !== null,
  })

/**
 * Ends the consent by a stop, then takes the token out of the vault; the row stays. Throws
 * `not_found`, `conflict` `capacity_reserved` with nothing done, and what `stopNow` throws.
 */
export const disconnect = async (
  gov: Gov, session: Session, connectionId: string,
): Promise<Restricted> => {
  requireFree(requireOwnConnection(gov.store.read(), session, connectionId))
  const verb = 'codehost disconnect'
  const restricted = await stopConnection(gov, session, connectionId, {
    kind: 'connection_disabled', verb, isDone: ({ mode }) => mode === 'disabled',
  })
  const { replaced } = await gov.store.transact(verb, (tx) => {
    requireRootRow(tx, nowIso(gov), session.root.root_id)
    return disconnectConnection(tx, nowIso(gov), session, connectionId)
  })
  discardStored(gov.store, replaced)
  return { ...standingConnection(gov, session, connectionId), recorded: restricted.recorded }
}

/** Which stop leaves a connection in a mode. */
const stopOf: Readonly<Record<SavedMode, ConnectionStop>> = {
  disabled: 'connection_disabled', reconcile_only: 'connection_reconcile_only',
}

/**
 * Sets a mode that allows less than `active`; back to `active` leads a new consent alone. Throws
 * `not_found` and what `stopNow` throws.
 */
export const setMode = (
  gov: Gov, session: Session, { connectionId, mode }: {
    readonly connectionId: string
    readonly mode: SavedMode
  },
): Promise<Restricted> => {
  const kind = stopOf[mode]
  return stopConnection(gov, session, connectionId, {
    kind, verb: 'codehost mode', isDone: (row) => row.mode === connectionStops[kind],
  })
}
