/**
 * Saving a connection: a credential that identifies an account on the code host, for one exact
 * repository. It allows nothing: what may be written says a consent, and only `consent` issues one
 * (C-001, C-002, C-005).
 */
import { SallyportError } from '../base/errors.js'
import { newId } from '../base/ids.js'
import { discardStored, discardUnnamed } from '../governance/artifacts.js'
import {
  addConnection, changeConnection, credentialRefOf, type SavedConnection,
} from '../governance/connections/save.js'
import {
  listConnections, requireFree, requireOwnConnection, requireRevision, standingConnection,
  type StandingConnection,
} from '../governance/connections/find-connection.js'
import type { Connection, ConnectionMode } from '../governance/connections/connection-rows.js'
import { nowIso, type Gov, type Session } from '../governance/context.js'
import { liveRoot } from '../governance/session/live.js'
import { askedThrough, type Recorded } from '../governance/stops/act.js'
import { closeBySave } from '../governance/stops/restrictive-save.js'
import { sealCredential, vaultIdentity } from '../governance/vault.js'
import type { Tx } from '../state/types.js'
import { codehostBase } from './context.js'
import { repositoryOf } from './repository.js'

/** Modes that a save may leave a connection in: `active` is what a consent makes of it. */
export type SavedMode = Exclude<ConnectionMode, 'active'>

const verb = 'codehost connect'

const inRecord = async (
  gov: Gov, session: Session, stored: string | null,
  fn: (tx: Tx, now: string) => SavedConnection, first = false,
): Promise<StandingConnection> => {
  const { connection, replaced } = await discardUnnamed(gov.store, [stored], (tried) =>
    gov.store.transact(verb, tried((named, tx) => {
      liveRoot(tx, gov, session.root.root_id)
      const saved = fn(tx, nowIso(gov))
      named()
      return saved
    }), { first }))
  discardStored(gov.store, replaced)
  return standingConnection(gov, session, connection.connection_id)
}

/** A new connection as somebody asks for it. */
interface ConnectRequest {
  readonly repository: string
  readonly mode: SavedMode
  /** The host's token; wiped by whoever read it. */
  readonly token: Uint8Array
}

/** One that was disconnected and that no job occupies: a saved token is never replaced here. */
const disconnectedOf = (gov: Gov, session: Session, repository: string): Connection | undefined => {
  const view = gov.store.read()
  return listConnections(view, session).find((one) => one.repository === repository
    && one.active_job_id === null && vaultIdentity(view, one.credential_ref) === null)
}

/** Free connections of a repository that have a token: offered, never changed unasked. */
export const freeConnections = (
  gov: Gov, session: Session, repository: string,
): readonly Connection[] => {
  const view = gov.store.read()
  return listConnections(view, session).filter((one) => one.repository === repository
    && one.active_job_id === null && vaultIdentity(view, one.credential_ref) !== null)
}

/**
 * Saves a new connection, in the row of one of the repository that was disconnected where there is
 * one. Nobody is contacted. Throws `rejected`, `blocked`, `unauthorized`.
 */
export const connect = async (
  gov: Gov, session: Session, { repository, mode, token }: ConnectRequest,
): Promise<StandingConnection> => {
  repositoryOf(repository)
  codehostBase(gov)
  return takenUp(gov, session, { repository, mode, token })
}

/** In a row that was disconnected; in a new one where there is none, or somebody was quicker. */
const takenUp = async (
  gov: Gov, session: Session, { repository, mode, token }: ConnectRequest,
): Promise<StandingConnection> => {
  const former = disconnectedOf(gov, session, repository)
  try {
    if (former !== undefined) {
      const { connection_id: id, revision: expectedRevision } = former
      return await reconnect(gov, session, { connectionId: id, expectedRevision, mode, token })
    }
  } catch (error) {
    const isTaken = error instanceof SallyportError && error.code === 'stale_connection_revision'
    if (!isTaken) throw error
  }
  const connectionId = newId('cnn')
  const credential = sealCredential(gov.store, {
    ref: credentialRefOf(connectionId), secret: token,
  })
  return inRecord(gov, session, credential.artifact.stored_sha256, (tx, now) =>
    addConnection(tx, now, session, { connectionId, repository, mode, credential }))
}

/** What is saved anew of a connection; what is left out stays. */
interface ReconnectRequest {
  readonly connectionId: string
  readonly expectedRevision: number
  readonly repository?: string | undefined
  readonly mode?: SavedMode | undefined
  readonly token?: Uint8Array | undefined
}

/** What was saved anew, and what had left before of what went through it. */
interface Reconnected extends StandingConnection { readonly recorded: Pick<Recorded, 'sent'> }

/**
 * Saves another token, repository or mode; a consent there was has ended with it, and what leaves
 * through the connection is stopped first. Throws `rejected`, `not_found`, `conflict`
 * (`stale_connection_revision`, `capacity_reserved`), and as `closeBySave` where it is saved.
 */
export const reconnect = async (
  gov: Gov, session: Session, request: ReconnectRequest,
): Promise<Reconnected> => {
  const { connectionId, expectedRevision, repository, mode, token } = request
  if (repository !== undefined) repositoryOf(repository)
  // Refused before anything is sealed; the record compares once more.
  const connection = requireOwnConnection(gov.store.read(), session, connectionId)
  requireRevision(connection, expectedRevision)
  if (repository !== undefined && repository !== connection.repository) requireFree(connection)
  const closes = {
    aims: [{ kind: 'saved_connection' as const, target: connectionId }],
    by: askedThrough(verb, session),
  }
  const { saved, sent } = await closeBySave(gov, closes, (spend) => {
    const credential = token === undefined ? undefined : sealCredential(gov.store, {
      ref: connection.credential_ref, secret: token,
    })
    return inRecord(gov, session, credential?.artifact.stored_sha256 ?? null, (tx, now) => {
      spend(tx)
      return changeConnection(tx, now, session, {
        connectionId, expectedRevision, repository, mode, credential,
      })
    }, true)
  })
  return { ...saved, recorded: { sent } }
}
