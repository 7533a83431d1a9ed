/**
 * What every contact through a connection rests on, as one ordered list of named facts. A read
 * rests on the session, the connection and its credential as they were when it was asked for; no
 * stop of what writes ends it, but one of its session or owner does.
 */
import { connectionCollection, type Connection } from '../governance/connections/connection-rows.js'
import { always, denied, judge, orUndefined, within, type Fact } from '../governance/judge/fact.js'
import type { Moment } from '../governance/judge/moment.js'
import { vaultDigest } from '../governance/vault.js'

/** The rows that a contact began with; any of them changed is another contact. */
export interface Bound {
  readonly connectionId: string
  readonly owner: string
  readonly root: string
  readonly repository: string
  readonly revision: number
  readonly vaultDigest: string
  readonly baseUrl: string
}

interface ReadCase {
  readonly moment: Moment
  readonly bound: Bound
  /** Where the sealed profile has the host. */
  readonly baseUrl: string
}

interface SavedCase extends ReadCase { readonly connection: Connection }

const connectionOf = ({ moment, bound }: ReadCase): Connection | undefined =>
  moment.view.get(connectionCollection, bound.connectionId)

const saved = (one: ReadCase): SavedCase | null => {
  const connection = connectionOf(one)
  return connection === undefined ? null : { ...one, connection }
}

const savedFacts = [
  {
    name: 'connection_foreign', kind: 'not_found', phases: always,
    holds: ({ connection, bound }) => connection.owner === bound.owner,
  },
  {
    name: 'stale_connection_revision', kind: 'conflict', phases: always,
    holds: ({ connection, bound }) => connection.revision === bound.revision,
  },
  {
    name: 'repository_changed', kind: 'conflict', phases: always,
    holds: ({ connection, bound }) => connection.repository === bound.repository,
  },
  {
    name: 'credential_changed', kind: 'conflict', phases: always,
    holds: ({ connection, bound, moment }) =>
      vaultDigest(moment.view, connection.credential_ref) === bound.vaultDigest,
  },
] as const satisfies readonly Fact<SavedCase>[]

/** The one list for reads. */
const readFacts = [
  {
    name: 'session_not_live', kind: 'unauthorized', phases: always,
    holds: ({ moment, bound }) =>
      orUndefined(() => moment.liveRoot(bound.root))?.principal_id === bound.owner,
  },
  {
    name: 'connection_missing', kind: 'not_found', phases: always,
    holds: (one) => connectionOf(one) !== undefined,
  },
  ...within(saved, savedFacts),
  {
    name: 'fixed_route_mismatch', kind: 'blocked', phases: always,
    holds: ({ bound, baseUrl }) => bound.baseUrl === baseUrl,
  },
] as const satisfies readonly Fact<ReadCase>[]

/** Refuses a read that does not rest on what it began with any more. */
export const requireRead = (one: ReadCase): void => {
  const denials = judge(readFacts, one, 'contact')
  if (denials.length === 0) return
  throw denied(denials, {
    code: 'codehost_read_denied', message: 'What this read rests on does not stand any more.',
    next: 'See `sallyport codehost connections`.',
  })
}
